import ButtonModel
import Feed
import Hub
import JSON
import MQTTTopics
import Simulator
import Testing

@Suite("A site of an engine")
struct SiteScenarioTests {
    private static let topic = "tryck/berlin7"
    private static let hallRule: HouseRules = """
        version: 1
        buttons: {hall: {address: "80:E4:DA:00:00:02"}}
        rules:
          - {id: lamp, triggers: {button: hall, event: click}, actions: {publish: {topic: lamp, payload: "on"}}}
        """

    private static func house(
        _ rules: HouseRules = .none, buttons: [String] = [], journal: Int = 10_000, hasMetrics: Bool = false
    ) -> Household {
        var house = Household(
            rules: rules, hasMetrics: hasMetrics,
            uplink: UplinkConfiguration(
                broker: "mqtt://central", topic: topic, buttons: buttons, journalLength: journal))
        house.pairAll()
        return house
    }

    /// The feed's messages about a button, in their order.
    private static func messages(_ house: Household, of button: ButtonID = Household.kitchenID) throws -> [FeedMessage]
    {
        try house.uplinkMessages.filter { $0.topicName == "\(topic)/feed/\(button)" }.map {
            try FeedMessage(parsing: $0.payload, of: button)
        }
    }

    private static func hello(_ house: Household) throws -> FeedHello {
        let message = try #require(house.uplinkMessages.last { $0.topicName == "\(topic)/feed/hello" })
        return try FeedHello(parsing: message.payload)
    }

    private static func claim(_ number: Int, _ house: inout Household, term: Int = 1) throws {
        let cursor = FeedCursor(
            number: number, term: term, engine: "a1", installation: try hello(house).installation,
            session: try hello(house).session)
        house.tell(
            .uplink(
                .received(topicName: "\(topic)/feed/\(Household.kitchenID)/cursor", payload: cursor.encoded())))
    }

    @Test("the presses of a button that no rule names are journaled, sent once, and forgotten when they are claimed")
    func once() throws {
        var house = Self.house(Self.hallRule)
        #expect(Set(try Self.hello(house).buttons.keys) == [Household.kitchenID])
        house.press("kitchen", .click)
        house.press("hall", .click)
        house.wait(.seconds(2))
        let messages = try Self.messages(house)
        #expect(messages.map(\.number) == Array(1...messages.count) && messages.count >= 2)
        #expect(try Self.messages(house, of: Household.hallID) == [])
        #expect(house.published.contains { $0.topicName == "lamp" })
        #expect(house.onDisk.feed.uplink.entries[Household.kitchenID]?.count == messages.count)
        try Self.claim(messages.count, &house)
        #expect(house.onDisk.feed.uplink.entries[Household.kitchenID]?.isEmpty == true)
        #expect(house.onDisk.feed.uplink.positions[Household.kitchenID]?.claimed == messages.count)
    }

    @Test("the site says how full the battery of a button is")
    func battery() throws {
        var house = Self.house()
        let before = try #require(try Self.hello(house).buttons[Household.kitchenID]?.battery)
        house.drain("kitchen", millivolts: 2400)
        house.unplugAdapter()
        house.wait(.seconds(20))
        let after = try #require(try Self.hello(house).buttons[Household.kitchenID]?.battery)
        #expect(after < before)
    }

    @Test(
        "a press that was sent and not claimed before a kill is sent again, with its number, and a claimed one is not")
    func killed() throws {
        var house = Self.house()
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        let before = try Self.messages(house)
        try Self.claim(1, &house)
        house.uplinkMessages = []
        house.crash()
        house.wait(.seconds(2))
        let after = try Self.messages(house)
        #expect(after.map(\.number) == before.map(\.number).filter { $0 > 1 } && !after.isEmpty)
        #expect(try Self.hello(house).session == 2)
        try Self.claim(before.count, &house)
        house.uplinkMessages = []
        house.crash()
        house.wait(.seconds(2))
        #expect(try Self.messages(house) == [])
        #expect(try Self.hello(house).buttons[Household.kitchenID]?.last == before.count)
    }

    @Test("a press is sent only when its number would survive a power cut")
    func powerCut() throws {
        var house = Self.house()
        house.syncsAreSlow = true
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        #expect(try Self.messages(house) == [])
        house.cutPower()
        house.syncsAreSlow = false
        house.wait(.seconds(60))
        let messages = try Self.messages(house)
        #expect(messages.first?.number == 1 && messages.map(\.number) == Array(1...max(1, messages.count)))
    }

    @Test("without a connection the journal keeps presses up to its length, and the site says how many are lost")
    func fullJournal() throws {
        var house = Self.house(journal: 20)
        house.uplinkIsUp = false
        house.tell(.uplink(.disconnected("gone")))
        for _ in 0..<15 {
            house.press("kitchen", .click)
            house.wait(.seconds(2))
        }
        let last = try #require(house.onDisk.feed.uplink.entries[Household.kitchenID]?.keys.max())
        #expect(last > 20 && house.onDisk.feed.uplink.entries[Household.kitchenID]?.count == 20)
        house.uplinkIsUp = true
        house.uplinkMessages = []
        house.tell(.uplink(.connected(knowsExpiry: true)))
        let messages = try Self.messages(house)
        #expect(messages.first?.lostCount == last - 20)
        #expect(messages.count == FeedUplink.maximumUnclaimed)
    }

    @Test("numbers are not given twice when entries have become too old, and the site says how many are lost")
    func oldJournal() throws {
        var house = Self.house()
        house.uplinkIsUp = false
        house.tell(.uplink(.disconnected("gone")))
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        let last = try #require(house.onDisk.feed.uplink.entries[Household.kitchenID]?.keys.max())
        house.wait(.seconds(8 * 86_400))
        house.uplinkIsUp = true
        house.uplinkMessages = []
        house.tell(.uplink(.connected(knowsExpiry: true)))
        #expect(try Self.messages(house).map(\.lostCount) == [last])
        house.crash()
        house.uplinkMessages = []
        house.press("kitchen", .click)
        house.wait(.seconds(20))
        #expect(try Self.messages(house).first { $0.lostCount == nil }?.number == last + 1)
    }

    private static func uplinkStatus(_ house: inout Household) -> JSONValue {
        house.ask(#"{"request":"status"}"#)
        return house.responses.last?["data"]?["uplink"] ?? .null
    }

    @Test("with a full disk and no connection, the journals leave room for the presses of local rules")
    func fullDisk() throws {
        var house = Self.house(Self.hallRule)
        house.uplinkIsUp = false
        house.tell(.uplink(.disconnected("gone")))
        house.diskIsFull = true
        for _ in 0..<150 {
            house.press("kitchen", .click)
            house.wait(.seconds(2))
        }
        let waiting = try #require(Self.uplinkStatus(&house)["unclaimed"]?.integerValue)
        // The reserve has 32 KiB, and an entry about 200 octets.
        #expect((20...100).contains(waiting))
        house.press("hall", .click)
        house.wait(.seconds(2))
        #expect(house.published.contains { $0.topicName == "lamp" })
        house.uplinkIsUp = true
        house.uplinkMessages = []
        house.tell(.uplink(.connected(knowsExpiry: true)))
        let messages = try Self.messages(house)
        let lost = try #require(messages.first?.lostCount)
        #expect(Int64(lost) == Self.uplinkStatus(&house)["dropped"]?.integerValue)
        var claimed = 0
        while let sent = try Self.messages(house).map(\.number).max(), sent > claimed {
            try Self.claim(sent, &house)
            claimed = sent
        }
        #expect(Self.uplinkStatus(&house)["unclaimed"] == 0)
        // There is room again.
        for _ in 0..<10 {
            house.press("kitchen", .click)
            house.wait(.seconds(2))
        }
        #expect(Int64(lost) == Self.uplinkStatus(&house)["dropped"]?.integerValue)
    }

    @Test("while nothing can be recorded, the button keeps its presses, and they are sent afterwards")
    func noReserve() throws {
        var house = Self.house()
        house.diskIsFull = true
        house.refuge = .nowhere
        house.press("kitchen", .click)
        house.wait(.seconds(20))
        #expect(try Self.messages(house) == [])
        house.ask(#"{"request":"status"}"#)
        #expect(house.responses.last?["data"]?["faults"]?.description.contains("presses are not handled") == true)
        house.press("kitchen", .click)
        house.wait(.seconds(20))
        house.diskIsFull = false
        house.wait(.seconds(120))
        let messages = try Self.messages(house)
        #expect(messages.map(\.number) == Array(1...max(1, messages.count)) && messages.count >= 2)
    }

    @Test("the entries of a button that was reset count as dropped")
    func resetButton() throws {
        var house = Self.house()
        house.uplinkIsUp = false
        house.tell(.uplink(.disconnected("gone")))
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        let waiting = try #require(Self.uplinkStatus(&house)["unclaimed"]?.integerValue)
        house.resetButtons(seed: 9)
        house.wait(.seconds(60))
        #expect(house.onDisk.buttons.allSatisfy { $0.id != Household.kitchenID })
        #expect(waiting > 0 && Self.uplinkStatus(&house)["unclaimed"] == 0)
        #expect(Self.uplinkStatus(&house)["dropped"]?.integerValue == waiting)
    }

    @Test("the metrics show the connection, and the events that wait")
    func metrics() throws {
        var house = Self.house(hasMetrics: true)
        house.press("kitchen", .click)
        house.wait(.seconds(30))
        let count = try Self.messages(house).count
        let lines = try #require(house.metrics.last?.1).split(separator: "\n")
        #expect(lines.contains("tryck_uplink_up 1") && lines.contains("tryck_uplink_events_waiting \(count)"))
        try Self.claim(count, &house)
        house.tell(.uplink(.disconnected("gone")))
        house.wait(.seconds(30))
        let later = try #require(house.metrics.last?.1).split(separator: "\n")
        #expect(later.contains("tryck_uplink_up 0") && later.contains("tryck_uplink_events_waiting 0"))
    }

    @Test("only the configured buttons are sent, and those that a rule names later are not sent any more")
    func chosen() throws {
        var house = Self.house(buttons: ["kit*n", "garage"])
        house.press("hall", .click)
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        #expect(try Self.messages(house, of: Household.hallID) == [])
        let count = try Self.messages(house).count
        #expect(count > 0)
        house.rulesOnDisk = """
            version: 1
            rules:
              - {id: lamp, triggers: {button: any, event: click}, actions: {publish: {topic: lamp, payload: "on"}}}
            """
        house.tell(.reloadRules)
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        #expect(try Self.messages(house).count == count)
        #expect(house.published.contains { $0.topicName == "lamp" })
    }

    private static func warnings(_ house: inout Household) -> [JSONValue] {
        uplinkStatus(&house)["warnings"]?.arrayValue ?? []
    }

    @Test("a site whose rules hear all of its buttons says that it sends nothing, and which rule that is")
    func nothingSent() {
        var house = Self.house(.lamp)
        #expect(
            Self.warnings(&house) == [
                """
                no press of this site is sent to an engine, because its own rules hear every button that would be sent (the rule \
                "lamp" hears hall): name in them only buttons whose presses stay here; button: any hears all
                """
            ])
        house = Self.house(Self.hallRule)
        #expect(Self.warnings(&house) == [])
        house = Self.house()
        #expect(Self.warnings(&house) == [])
        // Before a button is paired, nothing can be sent.
        house = Household(rules: .lamp, uplink: UplinkConfiguration(broker: "mqtt://central", topic: Self.topic))
        house.wait(.seconds(1))
        #expect(Self.warnings(&house) == [])
    }

    @Test("a button in uplink: {buttons: …} that a rule of the site hears, too, is a warning with the rule's name")
    func namedTwice() {
        var house = Self.house(Self.hallRule, buttons: ["hall", "kitchen"])
        #expect(
            Self.warnings(&house) == [
                """
                the presses of hall are not sent to an engine, because the rule "lamp" of this site hears it, although uplink: \
                {buttons: …} of tryck.yaml names it: take it out of one of them
                """
            ])
        // A pattern stands for those of its buttons that no rule hears.
        house = Self.house(Self.hallRule, buttons: ["*"])
        #expect(Self.warnings(&house) == [])
        // No button that could be sent is left.
        house = Self.house(Self.hallRule, buttons: ["ha*"])
        #expect(Self.warnings(&house).count == 1)
    }

    @Test("if a rule hears one of two buttons with one name, the other one is sent, and no warning says otherwise")
    func sameName() {
        func warnings(naming patterns: [String]) -> [JSONValue] {
            let buttons = (1...2).map { number in
                StoredButton(
                    identity: ButtonIdentity(
                        address: BluetoothAddress(rawValue: 0x80E4_DA00_0000 + UInt64(number)), uuid: "",
                        serial: "s\(number)", nickname: "hall", firmwareVersion: 11),
                    pairing: nil, source: "flicd://attic", pairedAt: UTCTime(milliseconds: 0))
            }
            var hub = Hub(
                HubConfiguration(
                    version: "0", radios: [],
                    uplink: UplinkConfiguration(broker: "mqtt://central", topic: Self.topic, buttons: patterns)),
                stored: StoredState(installationID: "00ff", buttons: buttons), rules: Self.hallRule.set)
            let now = Instant(sinceBoot: .seconds(100))
            _ = hub.handleCompletely(.start, at: now)
            let line = Array(#"{"request":"status"}"#.utf8)
            for case .respond(_, let answer) in hub.handleCompletely(.controlLine(.init(rawValue: 1), line), at: now) {
                return answer["data"]?["uplink"]?["warnings"]?.arrayValue ?? []
            }
            return ["no answer"]
        }
        #expect(warnings(naming: []) == [])
        #expect(warnings(naming: ["h*"]) == [])
        #expect(
            warnings(naming: ["hall"]) == [
                """
                the presses of hall (80e4da000002) are not sent to an engine, because the rule "lamp" of this site hears it, \
                although uplink: {buttons: …} of tryck.yaml names it: take it out of one of them
                """
            ])
    }

    @Test(
        "a press of a site switches the lamp of an engine once, also if the site is killed before it knows of the claim"
    )
    func together() throws {
        var site = Self.house()
        var engine = EngineHouse(
            """
            version: 1
            rules:
              - {id: lamp, triggers: {button: any, event: click}, actions: {publish: {topic: lamp, payload: "on"}}}
            """)
        engine.take(.brokerConnected)
        var lamp = 0
        /// Carries the site's messages to the engine, and returns what the engine publishes for the site.
        func carry() -> [MQTTMessage] {
            var answers: [MQTTMessage] = []
            let messages = site.uplinkMessages
            site.uplinkMessages = []
            for message in messages {
                for case .publish(_, let message, _) in engine.hear(message.topicName, message.payload) {
                    if message.topicName == "lamp" { lamp += 1 }
                    if message.topicName.hasPrefix(Self.topic + "/feed/") { answers.append(message) }
                }
            }
            return answers
        }
        _ = carry()
        engine.lead()
        site.press("kitchen", .click)
        site.wait(.seconds(2))
        var claims = carry()
        #expect(lamp == 1 && claims.contains { $0.topicName.hasSuffix("/cursor") })
        site.crash()
        site.wait(.seconds(2))
        claims += carry()
        #expect(lamp == 1)
        for claim in claims { site.tell(.uplink(.received(topicName: claim.topicName, payload: claim.payload))) }
        #expect(site.onDisk.feed.uplink.entries[Household.kitchenID]?.isEmpty == true)
    }

    @Test(
        "after a restore from an old copy of the disk, each press is acted on once, and site and engine say what happened",
        arguments: [1, 3, 6], [(0, false), (1, false), (0, true), (1, true)])
    func restored(offline: Int, since: (reconnections: Int, isRestarted: Bool)) throws {
        var site = Self.house()
        site.engineAsks = false
        var engine = EngineHouse(
            """
            version: 1
            defaults: {queued: accept}
            rules:
              - {id: lamp, triggers: {button: any, event: down}, actions: {publish: {topic: lamp, payload: "on"}}}
            """)
        engine.take(.brokerConnected)
        var (lamp, events) = (0, [] as [JSONValue])
        /// Carries messages in both directions until there are none.
        func exchange() {
            while !site.uplinkMessages.isEmpty {
                let messages = site.uplinkMessages
                site.uplinkMessages = []
                for message in messages {
                    let effects = engine.hear(message.topicName, message.payload)
                    events += EngineHouse.events(effects)
                    for case .publish(let id, let message, _) in effects {
                        engine.take(.published(id))
                        if message.topicName == "lamp" { lamp += 1 }
                        guard message.topicName.hasPrefix(Self.topic + "/feed/") else { continue }
                        site.tell(.uplink(.received(topicName: message.topicName, payload: message.payload)))
                    }
                }
            }
        }
        func press(_ count: Int) {
            for _ in 0..<count {
                site.press("kitchen", .click)
                site.wait(.seconds(2))
                engine.wait(.seconds(2))
                exchange()
            }
        }
        func reconnect() {
            site.tell(.uplink(.disconnected("gone")))
            site.tell(.uplink(.connected(knowsExpiry: true)))
            exchange()
        }
        exchange()
        engine.lead()
        site.uplinkMessages = []
        reconnect()
        press(2)
        let copy = site.copyOfDisk
        for _ in 0..<since.reconnections { reconnect() }
        press(3)
        #expect(lamp == 5)
        site.uplinkIsUp = false
        site.restore(copy)
        // The will of the site's connection.
        engine.hear("\(Self.topic)/feed/hello", [])
        site.wait(.seconds(10))
        press(offline)
        if since.isRestarted {
            site.crash()
            site.wait(.seconds(10))
        }
        // After a restart, these presses look like presses of the copy that were claimed in the later session.
        let covered = since.isRestarted && since.reconnections > 0 ? min(3, offline) : 0
        site.uplinkIsUp = true
        site.tell(.uplink(.connected(knowsExpiry: true)))
        exchange()
        press(2)
        #expect(lamp == 5 + offline - covered + 2)
        #expect(events.contains { $0["type"] == "interrupted" } == (covered > 0))
        #expect(Self.uplinkStatus(&site)["unclaimed"] == 0)
        #expect(Self.uplinkStatus(&site)["installation"] == "5a1f.2")
        let event: JSONValue = [
            "type": "restored", "data": ["site": .string(Self.topic), "installation": "5a1f.2"],
        ]
        #expect(events.contains(event))
        #expect(
            site.published.contains {
                $0.topicName == "tryck/bridge/event" && (try? JSONValue(parsing: $0.payload)) == event
            })
        site.crash()
        #expect(try Self.hello(site).installation == "5a1f.2")
    }

    @Test("a site that hears of later lives again and again says that another machine has its state directory")
    func twins() throws {
        var house = Self.house()
        for number in [2, 4] {
            #expect(!"\(Self.uplinkStatus(&house))".contains("another machine"))
            let other = FeedHello(site: "berlin7", installation: "5a1f.\(number)", session: 1)
            house.tell(.uplink(.received(topicName: "\(Self.topic)/feed/hello", payload: other.encoded())))
        }
        let other = FeedHello(site: "berlin7", installation: "5a1f.6", session: 1)
        house.tell(.uplink(.received(topicName: "\(Self.topic)/feed/hello", payload: other.encoded())))
        #expect("\(Self.uplinkStatus(&house))".contains("in use on another machine"))
    }

    @Test("a restored site warns that its presses wait until an engine has answered it, also after a restart")
    func restoredAndUnanswered() throws {
        var house = Self.house()
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        house.engineAsks = false
        func isWarned() -> Bool { "\(Self.uplinkStatus(&house)["warnings"] ?? .null)".contains("was restored") }
        #expect(!isWarned())
        let other = FeedHello(site: "berlin7", installation: "5a1f.2", session: 1)
        house.tell(.uplink(.received(topicName: "\(Self.topic)/feed/hello", payload: other.encoded())))
        #expect(isWarned())
        house.crash()
        house.wait(.seconds(2))
        #expect(isWarned())
        let hello = try Self.hello(house)
        let want = FeedWant(after: 0, session: hello.session, installation: hello.installation)
        house.tell(
            .uplink(.received(topicName: "\(Self.topic)/feed/\(Household.kitchenID)/want", payload: want.encoded())))
        #expect(!isWarned())
    }

    @Test("a site whose hello is cleared by somebody says it again")
    func clearedHello() throws {
        var house = Self.house()
        house.uplinkMessages = []
        house.tell(.uplink(.received(topicName: "\(Self.topic)/feed/hello", payload: [])))
        #expect(try Self.hello(house).buttons.count == 2)
    }
}
