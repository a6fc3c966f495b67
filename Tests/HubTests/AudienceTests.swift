import ButtonModel
import Feed
import Flic
import FlicdProtocol
import JSON
import MQTTTopics
import Radios
import Rules
import Testing

@testable import Buttons
@testable import Hub

/// A hub with one button whose reports a test invents, a broker that acknowledges everything, and a client that watches.
struct ReportingHouse {
    static let address = BluetoothAddress(rawValue: 0x80E4_DA12_3456)
    static let button = ButtonID(address)

    private(set) var hub: Hub
    private var now = Instant(sinceBoot: .seconds(5))
    /// Messages that are retained now, by topic.
    private(set) var retained: [String: JSONValue] = [:]
    /// Lines for the client that watches, since the last report.
    private(set) var lines: [JSONValue] = []
    /// The messages about the bridge since the last report.
    private(set) var bridgeMessages: [JSONValue] = []
    private(set) var changes: [StoreChange] = []
    /// The number of records since the last report, and whether the store was synced.
    private(set) var recordCount = 0
    private(set) var isSynced = false
    /// The topics of messages since the last report.
    private(set) var topics: [String] = []
    /// What the log says of errors.
    private(set) var errors: [String] = []
    /// What the last hello to an engine says of the buttons.
    private(set) var hello: [ButtonID: FeedHello.Button] = [:]
    /// The last answer to a request of the client.
    private(set) var answer: JSONValue?
    /// The rules that a reload finds.
    var rulesOnDisk = RuleSet()

    init(
        triggerMode: TriggerMode? = nil, rules: RuleSet = RuleSet(), isSite: Bool = false, isWatched: Bool = true
    ) {
        let configuration = HubConfiguration(
            version: "0", discoveryPrefix: "homeassistant", hasBroker: true, control: .all,
            builtAt: UTCTime(milliseconds: 1_790_000_000_000),
            uplink: isSite ? UplinkConfiguration(broker: "mqtt://central", topic: "tryck/attic") : nil)
        let known = Self.known()
        let button = StoredButton(
            identity: known.identity, pairing: known.pairing, pairedAt: UTCTime(milliseconds: 0),
            triggerMode: triggerMode)
        let stored = StoredState(installationID: "00ff", buttons: [button])
        hub = Hub(
            replaying: RecordingHeader(
                startedAt: UTCTime(milliseconds: 1_795_000_000_000), configuration: configuration, stored: stored),
            rules: rules)
        take(.wallClock(UTCTime(milliseconds: 1_795_000_000_000)))
        take(.start)
        take(.brokerConnected)
        if isSite { take(.uplink(.connected(knowsExpiry: true))) }
        if isWatched { ask("watch") }
    }

    /// The record of the buttons' side.
    static func known(
        _ address: BluetoothAddress = address, serial: String = "BA00-H00002", nickname: String = "",
        settings: ButtonSettings = ButtonSettings()
    ) -> KnownButton {
        KnownButton(
            identity: ButtonIdentity(
                address: address, uuid: String(repeating: "0f", count: 16), serial: serial, nickname: nickname,
                firmwareVersion: 11),
            pairing: Pairing(identifier: 1, key: PairingKey([UInt8](repeating: 1, count: 16))!), cursor: EventCursor(),
            deliveredBeforeStart: nil, advertisingConfigured: false, settings: settings, dials: [:])
    }

    mutating func take(_ input: Hub.Input) { carryOut(hub.handleChecked(input, at: now)) }

    mutating func ask(_ request: String, _ data: JSONValue = .object([])) {
        let line: JSONValue = ["request": .string(request), "data": data]
        take(.controlLine(Hub.ClientID(rawValue: 1), line.encoded()))
    }

    /// The buttons' side reports this, and what is published after a delay is published.
    mutating func report(_ reports: ButtonReport...) {
        forget()
        carryOut(hub.replay(RecordedInput(at: now, input: .received([]), reports: reports)))
        settle()
    }

    mutating func request(_ request: String, _ data: JSONValue, answeredBy reports: ButtonReport...) {
        forget()
        let line: JSONValue = ["request": .string(request), "data": data]
        let input = Hub.Input.controlLine(Hub.ClientID(rawValue: 1), line.encoded())
        carryOut(hub.replay(RecordedInput(at: now, input: input, reports: reports)))
        settle()
    }

    mutating func reload() {
        forget()
        take(.reloadRules)
        settle()
    }

    mutating func forget() {
        lines = []
        bridgeMessages = []
        changes = []
        recordCount = 0
        isSynced = false
        topics = []
    }

    mutating func settle() {
        for _ in 0..<3 {
            now = now + .seconds(1)
            take(.timerFired)
        }
    }

    private mutating func carryOut(_ effects: [Hub.Effect]) {
        for effect in effects {
            switch effect {
            case .publish(let id, let message, _):
                topics.append(message.topicName)
                let payload = try? JSONValue(parsing: message.payload)
                if message.retain { retained[message.topicName] = payload }
                if message.topicName == "tryck/bridge/event", let payload { bridgeMessages.append(payload) }
                take(.published(id))
            case .broadcast(_, let line): lines.append(line)
            case .respond(_, let line): answer = line
            case .record(_, let recorded):
                changes += recorded
                recordCount += 1
            case .sync: isSynced = true
            case .log(.error, let text): errors.append(text)
            case .uplink(.publish(let message, _)) where message.topicName == "tryck/attic/feed/hello":
                if let hello = try? FeedHello(parsing: message.payload) { self.hello = hello.buttons }
            case .loadRules(let id, _): take(.rulesLoaded(id, RuleLoadReport(set: rulesOnDisk)))
            default: break
            }
        }
    }

    /// The button as the request `buttons` lists it.
    var shown: JSONValue? {
        var house = self
        house.ask("buttons")
        return house.answer?["data"]?.arrayValue?.first
    }

    /// The button reports a voltage. True if it gets a place among the weeks.
    mutating func recordsFact(ofBattery millivolts: Int) -> Bool {
        report(.effect(.battery(Self.button, millivolts: millivolts)))
        return changes.contains { if case .fact = $0 { true } else { false } }
    }

    var listed: JSONValue? { retained["tryck/bridge/devices"]?.arrayValue?.first }
    var status: JSONValue? { retained["tryck/\(Self.button)"] }
    /// The only radio as `bridge/radios` shows it.
    var radio: JSONValue? { retained["tryck/bridge/radios"]?.arrayValue?.first }
    /// The button's settings in the last line that watchers received.
    var changed: JSONValue? { lines.last { $0["kind"] == "changed" }?["data"] }
}

@Suite("All audiences are informed of a change of a button")
struct AudienceTests {
    private static let button = ReportingHouse.button

    @Test("a nickname that the button reports appears in its topic, in the list of devices, and in the live stream")
    func nickname() {
        var house = ReportingHouse()
        house.report(.effect(.nickname(Self.button, "Stove")))
        #expect(house.changes == [.fact(Self.button, .nickname("Stove"))])
        #expect(house.status?["nickname"] == "Stove" && house.status?["name"] == "Stove")
        #expect(house.listed?["nickname"] == "Stove" && house.listed?["name"] == "Stove")
        #expect(house.changed?["nickname"] == "Stove")
    }

    @Test("a nickname that the button has already changes nothing")
    func sameNickname() {
        var house = ReportingHouse()
        house.report(.effect(.nickname(Self.button, "")))
        #expect(house.changes.isEmpty && house.lines.isEmpty)
    }

    @Test("new firmware reaches the list of devices, the button's own topic, and those who watch")
    func firmware() {
        var house = ReportingHouse()
        house.report(.effect(.firmware(Self.button, version: 12)))
        #expect(house.listed?["firmware"] == 12)
        #expect(house.status?["firmware"]?["installed_version"] == "12", "\(house.status ?? .null)")
        #expect(house.changed?["firmware"] == 12)
    }

    @Test("the first voltage of each week is kept, and those who watch see all of them")
    func batteryTrend() {
        var house = ReportingHouse()
        let first = house.recordsFact(ofBattery: 3012)
        #expect(first)
        #expect(house.shown?["battery_weeks"]?["mv"] == [3012])
        let second = house.recordsFact(ofBattery: 3005)
        #expect(!second)
        #expect(house.changed?["battery_mv"] == 3005)
        #expect(house.shown?["battery_mv"] == 3005 && house.shown?["battery_weeks"]?["mv"] == [3012])
        let same = house.recordsFact(ofBattery: 3005)
        #expect(!same && house.changed == nil)

        house.take(.wallClock(UTCTime(milliseconds: 1_795_000_000_000) + .seconds(15 * 86_400)))
        let third = house.recordsFact(ofBattery: 2990)
        #expect(third)
        #expect(house.shown?["battery_weeks"]?["mv"] == [3012, .null, .null, 2990])
        #expect(house.shown?["battery_weeks"]?["since"] == "2026-11-12T00:00:00.000Z")
        #expect(house.changed?["battery_weeks"]?["mv"] == [3012, .null, .null, 2990])

        house.take(.wallClock(UTCTime(milliseconds: 1_795_000_000_000) + .seconds(22 * 86_400)))
        let fourth = house.recordsFact(ofBattery: 2990)
        #expect(fourth)
        #expect(
            house.changed?["battery_weeks"]?["mv"] == [3012, .null, .null, 2990, 2990],
            "the same voltage in another week")
    }

    @Test("a voltage that is measured while the clock is not set gets no place among the weeks")
    func batteryWithoutClock() {
        var house = ReportingHouse()
        house.take(.wallClock(UTCTime(milliseconds: 5)))
        let isKept = house.recordsFact(ofBattery: 3012)
        #expect(!isKept)
        #expect(house.shown?["battery_mv"] == 3012 && house.shown?["battery_weeks"] == .null)
    }

    @Test("another model reaches the list of devices and those who watch")
    func model() {
        var house = ReportingHouse()
        house.report(.effect(.model(Self.button, .duo)))
        #expect(house.listed?["model"] == "Flic Duo")
        #expect(house.changed?["model"] == "duo")
    }

    @Test("trigger modes after a reload reach the list of devices")
    func reload() {
        var house = ReportingHouse()
        #expect(house.listed?["modes"]?["trigger_mode"] == "auto")
        house.rulesOnDisk = RuleSet(buttons: [Self.declared(.address(Self.button))])
        house.reload()
        #expect(house.status?["trigger_mode"] == "click")
        #expect(house.listed?["modes"]?["trigger_mode"] == "click")
    }

    @Test("after a reload, clients that watch receive the buttons of which the rules say something else")
    func watchedReload() {
        var house = ReportingHouse()
        house.rulesOnDisk = RuleSet(buttons: [Self.declared(.address(Self.button))], fingerprint: "1")
        house.reload()
        #expect(house.changed?["name"] == "hall" && house.changed?["trigger_mode"] == "click")
        #expect(house.lines.count { $0["kind"] == "changed" } == 1)
        house.rulesOnDisk.fingerprint = "2"
        house.reload()
        #expect(house.changed == nil, "the new rules say the same of the button")
    }

    @Test("a trigger mode that the rules drop reaches the store, the button's own topic, and those who watch")
    func droppedMode() {
        var house = ReportingHouse(
            triggerMode: .clickAndHold, rules: RuleSet(buttons: [Self.declared(.nickname("Stove"))]))
        #expect(house.status?["trigger_mode"] == "click_and_hold")
        house.report(.effect(.nickname(Self.button, "Stove")))
        #expect(house.changes.contains(.fact(Self.button, .triggerMode(nil))))
        #expect(house.status?["trigger_mode"] == "click")
        #expect(house.lines.count { $0["kind"] == "changed" } == 3, "one line for each fact")
    }

    @Test("a button is called as in the rules over MQTT and in Home Assistant, unless it was renamed")
    func nameInTheRules() {
        var house = ReportingHouse(rules: RuleSet(buttons: [Self.declared(.address(Self.button))], fingerprint: "1"))
        func names() -> [JSONValue?] {
            let configs = house.retained.filter {
                $0.key.hasPrefix("homeassistant/") && $0.key.contains("80e4da123456")
            }
            return [house.status?["name"], house.listed?["name"]] + configs.values.map { $0["device"]?["name"] }
        }
        house.settle()
        #expect(names() == ["hall", "hall", "hall"])
        house.report(.effect(.nickname(Self.button, "Stove")))
        #expect(names() == ["hall", "hall", "hall"])
        house.ask("button/rename", ["id": "hall", "to": "Attic"])
        house.settle()
        #expect(names() == ["Attic", "Attic", "Attic"])
        house.ask("button/rename", ["id": "hall", "to": ""])
        house.settle()
        #expect(names() == ["hall", "hall", "hall"])
        house.rulesOnDisk = RuleSet(fingerprint: "2")
        house.reload()
        #expect(names() == ["Stove", "Stove", "Stove"])
        #expect(house.changed?["name"] == "Stove")
    }

    private static func declared(_ hardware: DeclaredButton.Hardware) -> DeclaredButton {
        DeclaredButton(name: "hall", hardware: hardware, triggerMode: .click)
    }

    @Test("a change of whether a connection is wanted appears in the live stream")
    func connectionWanted() {
        var house = ReportingHouse()
        let known = ReportingHouse.known(settings: ButtonSettings(isConnectionWanted: false))
        house.request("button/disconnect", ["id": "BA00-H00002"], answeredBy: .known(known))
        #expect(house.changed?["is_connection_wanted"] == false)
    }

    @Test("the options of one request are one record, and reach the button's own topic and those who watch once")
    func options() {
        var house = ReportingHouse()
        let known = ReportingHouse.known(
            nickname: "Stove", settings: ButtonSettings(latencyMode: .low, nicknameChosenAt: 1_795_000_005_000))
        // The buttons' side answers each of the two requests that concern it.
        house.request(
            "button/options",
            [
                "id": "BA00-H00002",
                "options": ["latency_mode": "low", "nickname": "Stove", "trigger_mode": "click_and_double_click"],
            ],
            answeredBy: .known(known), .known(known))
        #expect(house.recordCount == 1 && house.isSynced)
        #expect(
            house.changes == [
                .fact(Self.button, .nickname("Stove")), .settings(Self.button, known.settings),
                .fact(Self.button, .triggerMode(.clickAndDoubleClick)),
            ])
        for shown in [house.status, house.listed?["modes"]] {
            #expect(shown?["latency_mode"] == "low" && shown?["trigger_mode"] == "click_and_double_click")
        }
        #expect(house.status?["nickname"] == "Stove" && house.listed?["nickname"] == "Stove")
        #expect(house.changed?["nickname"] == "Stove" && house.changed?["latency_mode"] == "low")
        #expect(house.changed?["trigger_mode"] == "click_and_double_click")
        #expect(house.lines.count { $0["kind"] == "changed" } == 1)
    }

    @Test(
        "after a refusal of options the button's own topic is published again, because Home Assistant shows the choice")
    func refusedOptions() {
        var house = ReportingHouse()
        house.forget()
        house.ask("button/options", ["id": "BA00-H00002", "options": ["latency_mode": "none"]])
        house.settle()
        #expect(house.answer?["status"] == "error")
        #expect(house.topics.contains("tryck/\(Self.button)"))
    }

    @Test("a button that is paired again has missed no presses, whatever its counter was before")
    func pairedAgain() {
        var house = ReportingHouse()
        func press(_ counter: UInt32) {
            let event = ButtonEvent(button: Self.button, bootID: 7, counter: counter, step: .down, ticks: 0)
            let cursor = EventCursor(bootID: 7, eventCount: counter)
            house.report(.effect(.events(Self.button, [event], cursor, needsAcknowledgement: false)))
        }
        for counter in [1, 9] as [UInt32] { press(counter) }
        #expect(house.shown?["missed_presses"] == 1)
        house.report(.effect(.paired(ReportingHouse.known(), batteryMillivolts: 3000)))
        #expect(house.shown?["missed_presses"] == nil)
        press(41)
        #expect(house.shown?["missed_presses"] == nil)
    }

    /// A change of a button, and the name that the button has afterwards; `nil` if it is not known any more.
    struct Renaming: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var name: String?
        var change: @Sendable (inout ReportingHouse) -> Void

        init(_ description: String, to name: String?, by change: @escaping @Sendable (inout ReportingHouse) -> Void) {
            testDescription = description
            self.name = name
            self.change = change
        }
    }

    private static let renamings = [
        Renaming("name", to: "Attic") { $0.request("button/rename", ["id": "BA00-H00002", "to": "Attic"]) },
        Renaming("nickname", to: "Stove") { $0.report(.effect(.nickname(button, "Stove"))) },
        Renaming("option", to: "Stove") {
            $0.request(
                "button/options", ["id": "BA00-H00002", "options": ["nickname": "Stove"]],
                answeredBy: .known(ReportingHouse.known(nickname: "Stove")))
        },
        Renaming("name in the rules", to: "hall") {
            $0.rulesOnDisk = RuleSet(buttons: [declared(.address(button))], fingerprint: "1")
            $0.reload()
        },
        Renaming("name in the rules by the nickname", to: "hall") {
            $0.rulesOnDisk = RuleSet(buttons: [declared(.nickname("Stove"))], fingerprint: "1")
            $0.reload()
            $0.report(.effect(.nickname(button, "Stove")))
        },
        Renaming("removal", to: nil) { $0.report(.effect(.forgotten(button))) },
        Renaming("pairing again", to: "Oven") {
            $0.report(.effect(.forgotten(button)))
            $0.report(.effect(.paired(ReportingHouse.known(nickname: "Oven"), batteryMillivolts: 3000)))
        },
    ]

    @Test("an engine hears of each change of a button's name", arguments: renamings)
    func engines(renaming: Renaming) {
        var house = ReportingHouse(isSite: true)
        #expect(house.hello[Self.button]?.name == "BA00-H00002")
        renaming.change(&house)
        #expect(house.hello[Self.button]?.name == renaming.name)
    }

    @Test("an engine hears of each other change of a button that a hello contains")
    func engineFacts() {
        var house = ReportingHouse(isSite: true)
        #expect(house.hello[Self.button]?.battery == nil)
        house.report(.effect(.firmware(Self.button, version: 12)))
        #expect(house.hello[Self.button]?.firmware == 12)
        house.report(.effect(.model(Self.button, .duo)))
        #expect(house.hello[Self.button]?.model == .duo)
        house.report(.effect(.battery(Self.button, millivolts: 3005)))
        #expect(house.hello[Self.button]?.battery != nil)
    }

    @Test("a button that is paired reaches its own topics, and is told of once")
    func introduction() {
        var house = ReportingHouse()
        house.report(.effect(.forgotten(Self.button)))
        #expect(house.status == nil)
        house.report(.effect(.paired(ReportingHouse.known(nickname: "Oven"), batteryMillivolts: 3005)))
        #expect(house.status?["nickname"] == "Oven" && house.status?["battery"] != nil)
        #expect(house.bridgeMessages.count { $0["type"] == "button_paired" } == 1)
        #expect(house.topics.contains { $0.hasSuffix("/availability") })
        #expect(house.topics.contains { $0.hasPrefix("homeassistant/device/tryck_80e4da") && $0.hasSuffix("/config") })
    }

    @Test("another radio that looks for a button reaches those who watch")
    func radio() {
        var house = ReportingHouse()
        house.report(.effect(.assigned(Self.button, .first)))
        #expect(house.changed?["id"] == .string(Self.button.description))
    }

    @Test("that a button waits for a free connection, and that it waits no longer, reaches those who watch")
    func linkShortage() {
        var house = ReportingHouse()
        let other = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0001))
        house.report(.effect(.buttonsWithoutLink([Self.button])))
        #expect(house.changed?["waits_for_space"] == true)
        house.report(.effect(.buttonsWithoutLink([Self.button, other])))
        #expect(house.changed == nil, "the button still waits, and the other one is not known")
        house.report(.effect(.buttonsWithoutLink([])))
        #expect(house.changed?["waits_for_space"] == false)
        #expect(house.lines.count { $0["kind"] == "changed" } == 1)
    }

    @Test("that a button has taken the nickname that a user chose reaches those who watch")
    func nicknameTaken() {
        var house = ReportingHouse()
        let known = ReportingHouse.known(
            nickname: "Stove", settings: ButtonSettings(nicknameChosenAt: 1_795_000_005_000))
        house.request(
            "button/options", ["id": "BA00-H00002", "options": ["nickname": "Stove"]], answeredBy: .known(known))
        #expect(house.changed?["nickname"] == "Stove" && house.changed?["nickname_pending"] == true)
        house.report(.effect(.nickname(Self.button, "Stove")))
        #expect(house.changed?["nickname_pending"] == false)
        house.report(.effect(.nickname(Self.button, "Stove")))
        #expect(house.changed == nil, "the button reports the same nickname again")
    }

    /// No client watches, because some audiences are left out then.
    private static func houseWithRadio() -> ReportingHouse {
        var house = ReportingHouse(isWatched: false)
        house.report(.effect(.controllerReady(ReportingHouse.address, "", .first)))
        return house
    }

    @Test("the list of radios follows each change of a button's name", arguments: renamings)
    func radios(renaming: Renaming) {
        var house = Self.houseWithRadio()
        #expect(house.radio?["buttons"] == ["BA00-H00002"])
        renaming.change(&house)
        #expect(house.radio?["buttons"] == (renaming.name.map { [.string($0)] } ?? []))
    }

    @Test("the list of radios follows links and the shortage of them")
    func radioLinks() {
        var house = Self.houseWithRadio()
        #expect(house.radio?["waiting"] == [] && house.radio?["links"] == 0)
        house.report(.effect(.buttonsWithoutLink([Self.button])))
        #expect(house.radio?["waiting"] == ["BA00-H00002"])
        house.report(.effect(.buttonsWithoutLink([])))
        #expect(house.radio?["waiting"] == [])
        house.report(.effect(.state(Self.button, .ready)))
        #expect(house.radio?["links"] == 1)
    }

    @Test("a press does not publish the list of radios")
    func pressAndRadios() {
        var house = ReportingHouse()
        house.report(.effect(.controllerReady(ReportingHouse.address, "", .first)))
        let event = ButtonEvent(button: Self.button, bootID: 7, counter: 1, step: .down, ticks: 0)
        let cursor = EventCursor(bootID: 7, eventCount: 1)
        house.report(.effect(.events(Self.button, [event], cursor, needsAcknowledgement: false)))
        #expect(house.topics.contains("tryck/\(Self.button)") && !house.topics.contains("tryck/bridge/radios"))
    }

    @Test("a firmware file for the button's model reaches the button's own topic")
    func firmwareFile() {
        var house = ReportingHouse()
        house.take(.firmwareFiles([FirmwareFile(model: "flic2", version: 12)]))
        house.settle()
        #expect(house.status?["firmware"]?["latest_version"] == "12")
    }
}
