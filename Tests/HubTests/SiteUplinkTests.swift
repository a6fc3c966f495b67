import ButtonModel
import Feed
import JSON
import Rules
import Testing

@testable import Hub

@Suite("The journals of a site")
struct SiteUplinkTests {
    private static let now = Instant(sinceBoot: .seconds(100))

    /// A site with this number of buttons, which no rule names.
    private static func hub(buttons count: Int, naming patterns: [String] = [], journal: Int = 10_000) -> Hub {
        let buttons = (1...count).map { number in
            StoredButton(
                identity: ButtonIdentity(
                    address: BluetoothAddress(rawValue: 0x80E4_DA00_0000 + UInt64(number)), uuid: "",
                    serial: "s\(number)",
                    nickname: "", firmwareVersion: 11),
                pairing: nil, source: "flicd://attic", pairedAt: UTCTime(milliseconds: 0))
        }
        var hub = Hub(
            HubConfiguration(
                version: "0", radios: [],
                uplink: UplinkConfiguration(
                    broker: "mqtt://central", topic: "tryck/berlin7", buttons: patterns, journalLength: journal)),
            stored: StoredState(installationID: "00ff", nextRun: 1, buttons: buttons), rules: RuleSet())
        _ = hub.handleCompletely(.wallClock(UTCTime(milliseconds: 1_795_000_000_000)), at: now)
        _ = hub.handleCompletely(.start, at: now)
        return hub
    }

    private static func faults(_ hub: inout Hub) -> String {
        let line = Array(#"{"request":"status"}"#.utf8)
        for case .respond(_, let answer) in hub.handleCompletely(.controlLine(.init(rawValue: 1), line), at: now) {
            return answer["data"]?["faults"]?.description ?? ""
        }
        return ""
    }

    @Test("a site sends the presses of 256 buttons, journals none of the others, and says so")
    func surplus() {
        var hub = Self.hub(buttons: 300)
        #expect(hub.uplink?.buttons.count == 256)
        #expect(Self.faults(&hub).contains("the presses of 44 buttons are not sent to the engine"))
        #expect(hub.problems(at: Self.now).isEmpty)
        var small = Self.hub(buttons: 256)
        #expect(small.uplink?.buttons.count == 256 && !Self.faults(&small).contains("not sent"))
    }

    @Test("engines of two shares that both have the site are a fault, because each acts on its presses")
    func overlappingShares() throws {
        var hub = Self.hub(buttons: 1)
        _ = hub.handleCompletely(.uplink(.connected(knowsExpiry: true)), at: Self.now)
        func hear(_ share: String, isOnline: Bool) throws {
            let share = try #require(EngineShare(share))
            let state = EngineState(isOnline: isOnline, engine: "e", share: share)
            _ = hub.handleCompletely(
                .uplink(.received(topicName: "\(share.topic)/state", payload: state.encoded())), at: Self.now)
        }
        let first = try #require(["1 of 2", "2 of 2"].first { EngineShare($0)?.has(site: "tryck/berlin7") == true })
        try hear(first, isOnline: true)
        #expect(!Self.faults(&hub).contains("shares"))
        let second = try #require(
            (3...9).map { "\($0) of \($0)" }.first { EngineShare($0)?.has(site: "tryck/berlin7") == true })
        try hear(second, isOnline: true)
        #expect(Self.faults(&hub).contains("engines with the shares"))
        try hear(second, isOnline: false)
        #expect(!Self.faults(&hub).contains("shares"))
    }

    private static func uplink(_ hub: inout Hub, at now: Instant = now) -> JSONValue {
        let line = Array(#"{"request":"status"}"#.utf8)
        for case .respond(_, let answer) in hub.handleCompletely(.controlLine(.init(rawValue: 1), line), at: now) {
            return answer["data"]?["uplink"] ?? .null
        }
        return .null
    }

    /// The warnings about the uplink in `status`.
    private static func warnings(_ hub: inout Hub, at now: Instant = now) -> [String] {
        (Self.uplink(&hub, at: now)["warnings"]?.arrayValue ?? []).compactMap(\.stringValue)
    }

    /// A button of the site is pressed.
    private static func press(_ hub: inout Hub, count: Int = 1, at now: Instant) {
        let button = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0001))
        let event = ButtonEvent(button: button, bootID: 7, counter: UInt32(count), step: .down, ticks: 0)
        _ = hub.addToUplink([.press(event)], of: button, as: RecordToken(rawValue: UInt64(count)), at: now)
    }

    @Test("a site says that no engine takes its presses if one has been online for 30 s, and none was claimed")
    func untaken() throws {
        var hub = Self.hub(buttons: 1)
        _ = hub.handleCompletely(.uplink(.connected(knowsExpiry: true)), at: Self.now)
        Self.press(&hub, at: Self.now)
        let late = Self.now + .seconds(31)
        #expect(Self.warnings(&hub, at: late) == [])
        let state = EngineState(isOnline: true, engine: "a1", share: .whole)
        _ = hub.handleCompletely(
            .uplink(.received(topicName: "engines/1/state", payload: state.encoded())), at: late)
        #expect(Self.warnings(&hub, at: late) == [])
        _ = hub.handleCompletely(
            .uplink(.received(topicName: "engines/1/state", payload: state.encoded())), at: late + .seconds(20))
        let warnings = Self.warnings(&hub, at: late + .seconds(31))
        #expect(
            warnings == [
                """
                an engine is online, and no engine takes the presses of this site: check that sources: of the engine names \
                tryck/berlin7, and that the access rules of the broker let the engine read tryck/berlin7/feed/# and write \
                tryck/berlin7/feed/+/want and tryck/berlin7/feed/+/cursor, and let this site write tryck/berlin7/feed/+ and \
                read tryck/berlin7/feed/+/want and tryck/berlin7/feed/+/cursor
                """
            ])
    }

    @Test("a site for which engines of two shares are online says what is wrong, why, and what to do")
    func twoShares() throws {
        var hub = Self.hub(buttons: 1)
        _ = hub.handleCompletely(.uplink(.connected(knowsExpiry: true)), at: Self.now)
        // The first share has the topic of the whole.
        let shares = (2...64).flatMap { count in (2...count).compactMap { EngineShare(index: $0, count: count) } }
        let second = try #require(shares.first { $0.has(site: "tryck/berlin7") })
        for share in [EngineShare.whole, second] {
            let state = EngineState(isOnline: true, engine: "a1", share: share)
            _ = hub.handleCompletely(
                .uplink(.received(topicName: "\(share.topic)/state", payload: state.encoded())), at: Self.now)
        }
        #expect(
            Self.uplink(&hub)["fault"]?.stringValue
                == """
                engines with the shares "1 of 1" and "\(second)" are online, and each acts on the presses of this site; give all \
                engines the same number of shares in sources: of their tryck.yaml, and restart those that change
                """)
    }

    @Test(
        "an engine that claims presses, and one that is not known to be online any more, are not suspected to take none"
    )
    func taken() {
        let button = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0001))
        let state = EngineState(isOnline: true, engine: "a1", share: .whole)
        func house() -> Hub {
            var hub = Self.hub(buttons: 1)
            _ = hub.handleCompletely(.uplink(.connected(knowsExpiry: true)), at: Self.now)
            _ = hub.handleCompletely(
                .uplink(.received(topicName: "engines/1/state", payload: state.encoded())), at: Self.now)
            for count in 1...2 { Self.press(&hub, count: count, at: Self.now) }
            return hub
        }
        var slow = house()
        _ = slow.uplink?.claimed(button, 1, at: Self.now + .seconds(20))
        #expect(Self.warnings(&slow, at: Self.now + .seconds(49)) == [])
        #expect(Self.warnings(&slow, at: Self.now + .seconds(51)).count == 1)
        var lost = house()
        _ = lost.handleCompletely(.uplink(.disconnected("The connection was lost.")), at: Self.now + .seconds(20))
        #expect(Self.warnings(&lost, at: Self.now + .seconds(31)) == [])
    }

    @Test("a message that the broker does not take for another reason than its access rules is no refusal")
    func notPublished() {
        var hub = Self.hub(buttons: 1)
        _ = hub.handleCompletely(.uplink(.connected(knowsExpiry: true)), at: Self.now)
        _ = hub.handleCompletely(
            .uplink(.refused(topicName: "tryck/berlin7/feed/hello", "Quota exceeded")), at: Self.now)
        #expect(Self.uplink(&hub)["refused"] == [] && Self.uplink(&hub)["fault"] == .null)
    }

    @Test("a pattern of uplink: {buttons: …} that matches no paired button is a warning")
    func unmatched() {
        var hub = Self.hub(buttons: 1, naming: ["hal2"])
        #expect(Self.warnings(&hub).first?.contains("hal2") == true)
        #expect(
            hub.status(at: Self.now)["warnings"]?.arrayValue?.contains { $0.stringValue?.contains("hal2") == true }
                == true)
        var other = Self.hub(buttons: 1, naming: ["*"])
        #expect(Self.warnings(&other) == [])
    }

    @Test("messages that the journal drops are in the status, and the log says once that it drops them")
    func dropped() {
        var hub = Self.hub(buttons: 1, journal: 2)
        for count in 1...9 { Self.press(&hub, count: count, at: Self.now) }
        #expect(Self.uplink(&hub)["dropped"] == 7)
        let lines = hub.status(at: Self.now)["last_errors"]?.arrayValue ?? []
        let dropping = lines.filter {
            $0["message"]?.stringValue?.contains("are dropped, because the journal is full") == true
        }
        #expect(dropping.count == 1 && dropping.first?["count"] == 1)
    }

    @Test("what the broker refuses is named although it ends the connection, until the next attempts fail, too")
    func refusedAndLost() {
        var hub = Self.hub(buttons: 1)
        _ = hub.handleCompletely(.uplink(.connected(knowsExpiry: true)), at: Self.now)
        _ = hub.handleCompletely(
            .uplink(.refused(topicName: "tryck/berlin7/feed/hello", "Not authorized")), at: Self.now)
        _ = hub.handleCompletely(.uplink(.disconnected("The connection was lost.")), at: Self.now)
        #expect(Self.uplink(&hub)["fault"]?.stringValue?.contains("write tryck/berlin7/feed/hello") == true)
        #expect(Self.uplink(&hub)["refused"] == ["write tryck/berlin7/feed/hello"])
        _ = hub.handleCompletely(.uplink(.disconnected("The connection was refused.")), at: Self.now)
        #expect(Self.uplink(&hub)["fault"] == "The connection was refused.")
    }

    @Test("a refused press topic is a fault until an engine claims a press, which grants no subscription")
    func refusedUntilClaimed() throws {
        let button = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0001))
        var uplink = try #require(Self.hub(buttons: 1).uplink)
        _ = uplink.refused("tryck/berlin7/feed/\(button)", toWrite: true, "Not authorized")
        _ = uplink.refused("tryck/berlin7/feed/hello", toWrite: false, "no")
        let refused: JSONValue = ["read tryck/berlin7/feed/hello", "write tryck/berlin7/feed/+"]
        #expect(uplink.status(fault: nil, warnings: [])["refused"] == refused)
        _ = uplink.claimed(button, 1, at: Self.now)
        #expect(uplink.status(fault: nil, warnings: [])["refused"] == ["read tryck/berlin7/feed/hello"])
    }

    @Test("a topic that the broker refuses is a fault until the broker grants it")
    func refusedTopic() {
        var hub = Self.hub(buttons: 1)
        _ = hub.handleCompletely(.uplink(.connected(knowsExpiry: true)), at: Self.now)
        _ = hub.handleCompletely(.uplink(.subscriptionRefused(topicFilter: "engines/+/state", "no")), at: Self.now)
        #expect(Self.faults(&hub).contains("refuses to let this site read engines/+/state"))
        _ = hub.handleCompletely(.uplink(.subscriptionGranted(topicFilter: "engines/+/state")), at: Self.now)
        #expect(!Self.faults(&hub).contains("refuses"))
    }

    @Test("the fault of a topic that the broker refuses says once what to do, whoever gives the reason")
    func refusalAdvice() {
        let advice = "allow it in the broker's access rules"
        func fault(_ input: UplinkInput) -> JSONValue? {
            var hub = Self.hub(buttons: 1)
            _ = hub.handleCompletely(.uplink(.connected(knowsExpiry: true)), at: Self.now)
            _ = hub.handleCompletely(.uplink(input), at: Self.now)
            return Self.uplink(&hub)["fault"]
        }
        // The connection adds the advice to the reason of a refused subscription.
        #expect(
            fault(.subscriptionRefused(topicFilter: "engines/+/state", "not authorized; \(advice)"))?.stringValue
                == "mqtt://central refuses to let this site read engines/+/state: not authorized; \(advice)")
        #expect(
            fault(.refused(topicName: "tryck/berlin7/feed/hello", "Not authorized"))?.stringValue
                == "mqtt://central refuses to let this site write tryck/berlin7/feed/hello: Not authorized; \(advice)")
    }

    @Test("entries of a version that knew no sessions and no lives may all have been sent, and later ones may not")
    func olderVersion() throws {
        let button = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0001))
        let step = #""boot":7,"count":1,"step":"down","ticks":0,"age_ms":0"#
        var stored = StoredUplink()
        func read(_ key: String, _ value: String) throws {
            let change = UplinkChange(key: "uplink/\(key)", value: try JSONValue(parsing: Array(value.utf8)))
            stored.apply(try #require(change))
        }
        try read("session", "4")
        try read("term", "2")
        try read("\(button)", #"{"n":3,"claimed":2,"done":2,"first":0}"#)
        try read("\(button)/0000000000000003", #"{"at_ms":0,"message":{"n":3,"prev":2,\#(step)}}"#)
        #expect(stored.asked == nil && stored.life == 1)
        let facts = FeedHello.Button(serial: "s1", model: .flic2, name: "Hall", firmware: 11)
        func journal() -> FeedJournal? {
            var uplink = SiteUplink(
                UplinkConfiguration(broker: "mqtt://central", topic: "tryck/berlin7"), stored: stored,
                installationID: "5a1f")
            guard case .start(let journals, term: 2) = uplink.start([button: facts], receivedAt: { _ in Self.now })
            else { return nil }
            return journals[button]
        }
        #expect(journal()?.sent == 3 && journal()?.button.claimed == 2)
        // This version has recorded an entry without a connection.
        try read("\(button)/0000000000000004", #"{"at_ms":0,"session":5,"message":{"n":4,"prev":3,\#(step)}}"#)
        #expect(journal()?.sent == 3 && journal()?.unsentSession == 5 && journal()?.button.last == 4)
    }
}
