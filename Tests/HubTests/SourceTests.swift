import ButtonModel
import Expressions
import FlicdProtocol
import Gestures
import JSON
import MQTTTopics
import Rules
import TestSupport
import Testing

@testable import Buttons
@testable import Hub

/// A hub with one flicd, and what comes from there.
struct FlicdHouse {
    static let name = "flicd://attic:5551"
    static let kitchen = BluetoothAddress(rawValue: 0x80E4_DA12_3456)
    static let button = ButtonID(kitchen)

    var hub: Hub
    var now = Instant(sinceBoot: .zero)

    /// All inputs and their effects, from the beginning.
    private(set) var lines: [JSONValue] = []
    private(set) var effects: [[Hub.Effect]] = []

    init(stored: [StoredButton] = [], rules: RuleSet = RuleSet(), sources: [String] = [name]) {
        let configuration = HubConfiguration(
            version: "0", radios: [], sources: sources, hasBroker: true)
        let state = StoredState(installationID: "00ff", buttons: stored)
        hub = Hub(configuration, stored: state, rules: rules)
        let header = RecordingHeader(
            startedAt: UTCTime(milliseconds: 1_795_000_000_000), configuration: configuration, stored: state)
        lines.append(hub.beginRecording(header, at: now))
        take(.wallClock(UTCTime(milliseconds: 1_795_000_000_000)))
        take(.start)
        take(.brokerConnected)
    }

    @discardableResult
    mutating func take(_ input: Hub.Input) -> [Hub.Effect] {
        effects.append(hub.handleChecked(input, at: now))
        if let line = try? hub.recordedLine(input, at: now)?.json { lines.append(line) }
        return effects[effects.count - 1]
    }

    mutating func wait(_ duration: Duration) -> [Hub.Effect] {
        now = now + duration
        return take(.timerFired)
    }

    @discardableResult
    mutating func hear(_ events: FlicdEvent...) -> [Hub.Effect] {
        take(.source(0, .received(events.flatMap { $0.encoded() })))
    }

    @discardableResult
    mutating func hear(_ words: [Word], queued age: UInt32? = nil, channel: UInt32 = 1) -> [Hub.Effect] {
        let events = words.flatMap(\.said).map { family, type in
            FlicdEvent.button(id: channel, family, type, wasQueued: age != nil, timeDifference: age ?? 0)
        }
        return take(.source(0, .received(events.flatMap { $0.encoded() })))
    }

    /// The events of flicd for the steps of a press.
    enum Word {
        case down, up, single, double, hold, release

        var said: [(FlicdFamily, FlicdClickType)] {
            switch self {
            case .down: [(.upOrDown, .buttonDown)]
            case .up: [(.upOrDown, .buttonUp), (.clickOrHold, .buttonClick)]
            case .single:
                [(.singleOrDoubleClick, .buttonSingleClick), (.singleOrDoubleClickOrHold, .buttonSingleClick)]
            case .double:
                [
                    (.upOrDown, .buttonUp), (.clickOrHold, .buttonClick), (.singleOrDoubleClick, .buttonDoubleClick),
                    (.singleOrDoubleClickOrHold, .buttonDoubleClick),
                ]
            case .hold: [(.clickOrHold, .buttonHold), (.singleOrDoubleClickOrHold, .buttonHold)]
            case .release: [(.upOrDown, .buttonUp), (.singleOrDoubleClick, .buttonSingleClick)]
            }
        }
    }

    /// The gestures as they are published over MQTT.
    static func gestures(_ effects: [Hub.Effect]) -> [String] {
        effects.compactMap {
            guard case .publish(_, let message, _) = $0, message.topicName.hasSuffix("/event") else { return nil }
            return (try? JSONValue(parsing: message.payload))?["event_type"]?.stringValue
        }
    }

    @discardableResult
    mutating func connect(_ buttons: [BluetoothAddress] = [kitchen], version: UInt8 = 1) -> [Hub.Effect] {
        var effects = take(.source(0, .connected(bootID: 7)))
        effects += hear(.getInfoResponse(Self.info(buttons)))
        for (place, address) in buttons.enumerated() {
            effects += hear(
                .getButtonInfoResponse(
                    FlicdButtonInfo(
                        address: address, uuid: String(repeating: "0f", count: 16), serial: "AA12-C3456\(place)",
                        flicVersion: version)),
                .createConnectionChannelResponse(id: UInt32(2 * place + 1), error: .noError, .ready))
        }
        return effects
    }

    static func info(_ buttons: [BluetoothAddress]) -> FlicdInfo {
        FlicdInfo(
            controllerState: .attached, address: BluetoothAddress(rawValue: 1), maxPendingConnections: 128,
            maxConcurrentlyConnectedButtons: nil, currentPendingConnections: 1, hasNoSpace: false,
            verifiedButtons: buttons)
    }

    mutating func ask(_ request: String, _ data: JSONValue = .object([])) -> (answer: JSONValue, effects: [Hub.Effect])
    {
        let line: JSONValue = ["request": .string(request), "data": data]
        let effects = take(.controlLine(Hub.ClientID(rawValue: 1), line.encoded()))
        let answers = effects.compactMap { if case .respond(_, let line) = $0 { line } else { nil } }
        return (answers.first ?? .null, effects)
    }

    func messages(_ effects: [Hub.Effect]) -> [String: JSONValue] {
        var messages: [String: JSONValue] = [:]
        for case .publish(_, let message, _) in effects {
            messages[message.topicName] = (try? JSONValue(parsing: message.payload)) ?? .null
        }
        return messages
    }

    static func sent(_ effects: [Hub.Effect]) -> [FlicdCommand] {
        effects.compactMap {
            guard case .source(0, .send(let octets)) = $0 else { return nil }
            return try? FlicdCommand(decoding: Array(octets.dropFirst(2)))
        }
    }
}

@Suite("Buttons of a flicd")
struct SourceTests {
    private static func stored(source: String) -> StoredButton {
        StoredButton(
            identity: ButtonIdentity(
                address: FlicdHouse.kitchen, uuid: "", serial: "AA12-C34560", nickname: "", firmwareVersion: 0),
            name: "Kitchen", pairing: nil, source: source, pairedAt: UTCTime(milliseconds: 0),
            settings: ButtonSettings(latencyMode: .low))
    }

    @Test("a flicd that has other buttons at every connection fills the store up to its bound")
    func endlessButtons() {
        var house = FlicdHouse()
        for round in 0..<3 {
            house.connect((0..<200).map { BluetoothAddress(rawValue: UInt64(0x1000 * (round + 1) + $0)) })
            _ = house.hub.handleChecked(.source(0, .closed("reset")), at: house.now)
            house.now = house.now + .seconds(60)
            _ = house.hub.handleChecked(.timerFired, at: house.now)
        }
        #expect(house.hub.buttons.count == FlicdSource.maximumButtons)
    }

    @Test("a button of a flicd is stored without a pairing, announced, and ready")
    func arrives() throws {
        var house = FlicdHouse()
        let effects = house.connect()
        let stored = effects.compactMap { effect -> StoredButton? in
            guard case .record(_, let changes) = effect, case .putButton(let button) = changes.first else { return nil }
            return button
        }
        #expect(stored.count == 1)
        #expect(stored.first?.pairing == nil)
        #expect(stored.first?.source == FlicdHouse.name)
        #expect(stored.first?.identity.model == .flic1)
        let shown = house.ask("button", ["id": "AA12-C34560"]).answer["data"]
        #expect(shown?["state"] == "ready")
        #expect(shown?["source"] == .string(FlicdHouse.name))
        let exported = ExportedState(StoredState(installationID: "00ff", buttons: stored))
        #expect(exported.buttons == [])
    }

    @Test("a press has the same messages as that of any button, and a stored one has its age")
    func presses() {
        var house = FlicdHouse()
        house.connect()
        let base = "tryck/\(FlicdHouse.button)"
        let down = house.messages(
            house.hear(.button(id: 1, .upOrDown, .buttonDown, wasQueued: false, timeDifference: 0)))
        #expect(down["\(base)/raw"]?["event"] == "down" || down.keys.contains { $0.hasPrefix(base) })
        let stored: [FlicdEvent] = [
            .button(id: 1, .upOrDown, .buttonDown, wasQueued: true, timeDifference: 2),
            .button(id: 1, .upOrDown, .buttonUp, wasQueued: true, timeDifference: 2),
            .button(id: 1, .clickOrHold, .buttonClick, wasQueued: true, timeDifference: 2),
            .button(id: 1, .singleOrDoubleClick, .buttonSingleClick, wasQueued: true, timeDifference: 2),
            .button(id: 1, .singleOrDoubleClickOrHold, .buttonSingleClick, wasQueued: true, timeDifference: 2),
        ]
        let effects = house.hub.handleChecked(
            .source(0, .received(stored.flatMap { $0.encoded() })), at: house.now)
        let clicks = house.messages(effects).values.filter { $0["event_type"] == "click" || $0["event"] == "click" }
        #expect(clicks.contains { $0["queued"] == true && $0["age_ms"] == 2000 }, "\(house.messages(effects))")
    }

    @Test("the list of devices names the flicd of each of its buttons")
    func listed() {
        var house = FlicdHouse()
        let effects = house.connect()
        let devices = house.messages(effects)["tryck/bridge/devices"]?.arrayValue
        #expect(devices?.first?["source"] == .string(FlicdHouse.name))
    }

    /// Vocabularies of rules, and what becomes of a click, another one, three clicks, a hold and a double click.
    static let vocabularies: [(events: [TriggerEvent], gestures: [String])] = [
        ([], ["click", "click", "double_click", "click", "hold", "hold_release", "double_click"]),
        (
            [.click, .hold(after: nil), .holdRelease],
            ["click", "click", "click", "click", "click", "hold", "hold_release", "click", "click"]
        ),
        (
            [.click, .doubleClick, .pattern([.short, .short, .short]), .hold(after: nil), .holdRelease],
            ["click", "click", "clicks_3", "hold", "hold_release", "double_click"]
        ),
    ]

    private static func rules(_ events: [TriggerEvent]) -> RuleSet {
        let rule = Rule(id: "rule", triggers: [Trigger(buttons: [.any], events: events)], steps: [])
        return RuleSet(rules: events.isEmpty ? [] : [rule])
    }

    private static func house(_ events: [TriggerEvent]) -> FlicdHouse { FlicdHouse(rules: rules(events)) }

    @Test("a network that brings all at once changes no gesture", arguments: vocabularies)
    func atOnce(events: [TriggerEvent], gestures: [String]) {
        var house = Self.house(events)
        house.connect()
        let told =
            house.hear([
                .down, .up, .single, .down, .up, .single, .down, .up, .down, .double, .down, .up, .single,
                .down, .hold, .release, .down, .up, .down, .double,
            ]) + house.wait(.seconds(3))
        #expect(FlicdHouse.gestures(told) == gestures)
    }

    @Test("the same presses, as they happen", arguments: vocabularies)
    func asTheyHappen(events: [TriggerEvent], gestures: [String]) {
        var house = Self.house(events)
        house.connect()
        var told: [Hub.Effect] = []
        let script: [(Int, [FlicdHouse.Word])] = [
            (0, [.down]), (80, [.up]), (420, [.single]), (2000, [.down]), (80, [.up]), (420, [.single]),
            (2000, [.down]), (80, [.up]), (120, [.down]), (80, [.double]), (120, [.down]), (80, [.up]),
            (420, [.single]), (2000, [.down]), (1000, [.hold]), (700, [.release]),
            (2000, [.down]), (80, [.up]), (120, [.down]), (80, [.double]),
        ]
        for (pause, words) in script {
            told += house.wait(.milliseconds(pause))
            told += house.hear(words)
        }
        #expect(FlicdHouse.gestures(told + house.wait(.seconds(3))) == gestures)
    }

    @Test("stored presses are what flicd calls them: whole seconds tell no three clicks")
    func storedPresses() {
        for (events, _) in Self.vocabularies where events.count != 3 {
            var house = Self.house(events)
            house.connect()
            let told = house.hear([.down, .up, .down, .double, .down, .up, .single, .down, .hold, .release], queued: 2)
            #expect(FlicdHouse.gestures(told) == ["double_click", "click", "hold", "hold_release"], "\(events)")
            #expect(FlicdHouse.gestures(house.wait(.seconds(5))) == [])
        }
    }

    @Test("a hold that a lost connection cuts off is let go, and a click counts", arguments: vocabularies)
    func cutOff(events: [TriggerEvent], gestures: [String]) {
        var house = Self.house(events)
        house.connect()
        house.hear([.down, .hold])
        let lost = house.take(.source(0, .closed("it closed the connection")))
        #expect(FlicdHouse.gestures(lost) == (events.isEmpty || events.count > 2 ? ["hold_release"] : []))

        _ = house.wait(.seconds(1))
        house.connect()
        var told = house.hear([.down, .up])
        told += house.take(.source(0, .closed("it closed the connection")))
        _ = house.wait(.seconds(2))
        house.connect()
        told += house.hear([.single], queued: 2)
        #expect(FlicdHouse.gestures(told + house.wait(.seconds(5))) == ["click"])
    }

    @Test("a hold that was told ends after a restart, because flicd does not repeat the release")
    func holdOverRestart() throws {
        var house = Self.house([])
        house.connect()
        var told = house.hear([.down, .hold])
        told += house.wait(.seconds(2))
        #expect(FlicdHouse.gestures(told) == ["hold"])
        var stored = try #require(house.hub.buttons[FlicdHouse.button]).stored
        stored.recogniser = house.hub.rules.savedTrain(of: FlicdHouse.button)

        var next = FlicdHouse(stored: [stored])
        next.connect()
        #expect(FlicdHouse.gestures(next.wait(.seconds(12))) == ["hold_release"])
        #expect(FlicdHouse.gestures(next.wait(.seconds(60))) == [])
    }

    @Test("a session with a flicd runs again from its recording", arguments: vocabularies)
    func replay(events: [TriggerEvent], gestures: [String]) throws {
        var house = Self.house(events)
        house.connect()
        house.hear(.batteryStatus(id: 2, percentage: 5, timestamp: 1_700_000_000))
        for words in [[FlicdHouse.Word.down], [.up], [.single], [.down], [.hold]] {
            house.hear(words)
            _ = house.wait(.milliseconds(150))
        }
        _ = house.ask("button/options", ["id": "AA12-C34560", "options": ["latency_mode": "low"]])
        house.hear([.down, .up, .down, .double], queued: 2)
        _ = house.ask("permit_join", ["time": 30])
        house.hear(.scanWizardCompleted(id: 3, .bluetoothUnavailable))
        // A ping, and the end of the search and of the connection.
        for seconds in [5, 25, 11, 1, 2] { _ = house.wait(.seconds(seconds)) }
        house.connect()
        house.hear(.buttonDeleted(FlicdHouse.kitchen, byThisClient: false))

        var again: Hub?
        var effects: [[Hub.Effect]] = []
        for line in house.lines {
            switch try RecordingLine(parsing: line.encoded()) {
            case .header(let header):
                again = Hub(replaying: header, rules: Self.rules(events))
            case .input(let recorded): effects.append(again?.replay(recorded) ?? [])
            }
        }
        #expect(effects.count == house.effects.count)
        for (place, (replayed, told)) in zip(effects, house.effects).enumerated() {
            // The radio's own, which is not in a recording.
            #expect(replayed == told.filter { $0 != .needsEntropy }, "\(place)")
        }
    }

    @Test("what a flicd says again changes nothing, and nothing is written for it")
    func saidAgain() {
        var house = FlicdHouse()
        house.connect()
        func isSilent(_ effects: [Hub.Effect]) -> Bool {
            effects.allSatisfy { effect in
                switch effect {
                case .record, .publish, .broadcast: false
                default: true
                }
            }
        }
        _ = house.ask("watch")
        _ = house.wait(.seconds(2))
        #expect(isSilent(house.hear(.connectionStatusChanged(id: 1, .ready, reason: .unspecified))))
        let low: JSONValue = ["id": "AA12-C34560", "options": ["latency_mode": "low"]]
        #expect(FlicdHouse.sent(house.ask("button/options", low).effects).count == 1)
        let again = house.ask("button/options", low).effects
        #expect(FlicdHouse.sent(again) == [])
        #expect(!again.contains { if case .record = $0 { true } else { false } })

        house.hear(.connectionStatusChanged(id: 1, .disconnected, reason: .timedOut))
        #expect(house.ask("button", ["id": "AA12-C34560"]).answer["data"]?["state"] == "connecting")
        house.take(.source(0, .closed("reset")))
        #expect(house.ask("button", ["id": "AA12-C34560"]).answer["data"]?["state"] == "disconnected")
        _ = house.wait(.seconds(1))
        #expect(!house.connect().contains { if case .record = $0 { true } else { false } })
    }

    @Test("a press that comes before its button is known is not that of a button of ours")
    func earlyPress() throws {
        let key = try #require(PairingKey([UInt8](repeating: 1, count: 16)))
        var own = Self.stored(source: FlicdHouse.name)
        (own.source, own.pairing) = (nil, Pairing(identifier: 1, key: key))
        var house = FlicdHouse(stored: [own])
        house.take(.source(0, .connected(bootID: 7)))
        house.hear(.getInfoResponse(FlicdHouse.info([FlicdHouse.kitchen])))
        let told = house.hear([.down, .up, .single])
        #expect(FlicdHouse.gestures(told) == [] && house.hub.buttons[FlicdHouse.button]?.pressCount == 0)
    }

    @Test("the battery is a percentage, and low once")
    func battery() {
        var house = FlicdHouse()
        house.connect()
        let low = house.hear(.batteryStatus(id: 2, percentage: 5, timestamp: 1_700_000_000))
        #expect(
            low.contains {
                guard case .record(_, let changes) = $0 else { return false }
                return changes == [
                    .batteryPercentage(
                        FlicdHouse.button, 5, measuredAt: UTCTime(milliseconds: 1_700_000_000_000), isLow: true)
                ]
            })
        #expect(low.contains { if case .log(.warning, let text) = $0 { text.contains("5 %") } else { false } })
        let again = house.hear(.batteryStatus(id: 2, percentage: 5, timestamp: 1_700_000_000))
        #expect(!again.contains { if case .record = $0 { true } else { false } })
        let shown = house.ask("button", ["id": "AA12-C34560"]).answer["data"]
        #expect(shown?["battery"] == 5)
        #expect(shown?["battery_mv"] == .null)
        #expect(shown?["battery_low"] == true)
    }

    @Test("while the flicd is away its buttons are, too, and that is a fault")
    func away() {
        var house = FlicdHouse()
        house.connect()
        #expect(house.ask("status").answer["data"]?["ok"] == true)
        _ = house.hub.handleChecked(.source(0, .closed("it closed the connection")), at: house.now)
        let status = house.ask("status").answer["data"]
        #expect(status?["faults"] == ["flicd://attic:5551: it closed the connection"])
        #expect(status?["sources"]?.arrayValue?.first?["connected"] == false)
        #expect(house.ask("button", ["id": "AA12-C34560"]).answer["data"]?["state"] == "disconnected")
        house.now = house.now + .seconds(1)
        #expect(house.hub.handleChecked(.timerFired, at: house.now).contains(.source(0, .connect)))
        house.connect()
        #expect(house.ask("status").answer["data"]?["ok"] == true)
    }

    @Test("options go to the flicd and are kept; what it has no command for is refused")
    func options() {
        var house = FlicdHouse()
        house.connect()
        let low = house.ask("button/options", ["id": "AA12-C34560", "options": ["latency_mode": "low"]])
        #expect(low.answer["status"] == "ok")
        #expect(
            FlicdHouse.sent(low.effects) == [.changeModeParameters(id: 1, FlicdChannelMode(latencyMode: .low))])
        let away = house.ask("button/disconnect", ["id": "AA12-C34560"])
        #expect(FlicdHouse.sent(away.effects) == [.removeConnectionChannel(id: 1)])
        #expect(house.ask("button/rename", ["id": "AA12-C34560", "to": "Stairs"]).answer["status"] == "ok")
        #expect(
            house.ask("button/options", ["id": "Stairs", "options": ["trigger_mode": "click"]]).answer["status"] == "ok"
        )
        for (request, data) in [
            ("button/led", ["id": "Stairs"]), ("button/update", ["id": "Stairs"]),
            ("button/factory_reset", ["id": "Stairs", "confirm": true]),
            ("button/options", ["id": "Stairs", "options": ["nickname": "S"]]),
        ] as [(String, JSONValue)] {
            let answer = house.ask(request, data).answer
            #expect(answer["status"] == "error")
            #expect(answer["error"]?.stringValue?.contains(FlicdHouse.name) == true)
        }
    }

    @Test("to forget a button is to have it deleted there, which needs a connection")
    func forget() {
        var house = FlicdHouse()
        house.connect()
        let asked = house.ask("button/remove", ["id": "AA12-C34560"])
        #expect(FlicdHouse.sent(asked.effects) == [.deleteButton(FlicdHouse.kitchen)])
        let gone = house.hear(
            .connectionChannelRemoved(id: 1, .deletedByThisClient),
            .buttonDeleted(FlicdHouse.kitchen, byThisClient: true))
        #expect(Self.isRemoved(gone))

        let stored = Self.stored(source: FlicdHouse.name)
        var lonely = FlicdHouse(stored: [stored])
        #expect(lonely.ask("button/remove", ["id": "AA12-C34560"]).answer["status"] == "error")
        // The flicd also answers for a button that it does not list any more.
        lonely.connect([])
        _ = lonely.ask("button/remove", ["id": "AA12-C34560"])
        let dropped = lonely.hear(.buttonDeleted(FlicdHouse.kitchen, byThisClient: true))
        #expect(Self.isRemoved(dropped))

        var elsewhere = FlicdHouse(stored: [stored], sources: ["flicd://hall:5551"])
        let alone = elsewhere.ask("button/remove", ["id": "AA12-C34560"])
        #expect(alone.answer["status"] == "ok")
        #expect(Self.isRemoved(alone.effects))
    }

    @Test("a flicd that is called otherwise now has its buttons still, with their names and settings")
    func renamed() {
        var house = FlicdHouse(stored: [Self.stored(source: "flicd://192.168.1.7:5551")])
        let effects = house.connect()
        #expect(
            effects.contains {
                if case .record(_, let changes) = $0 {
                    changes == [.fact(FlicdHouse.button, .source(FlicdHouse.name))]
                } else {
                    false
                }
            })
        #expect(
            FlicdHouse.sent(effects).contains(.changeModeParameters(id: 1, FlicdChannelMode(latencyMode: .low))))
        #expect(!FlicdHouse.sent(effects).contains(.removeConnectionChannel(id: 1)))
        #expect(house.ask("button", ["id": "Kitchen"]).answer["data"]?["state"] == "ready")
        #expect(FlicdHouse.gestures(house.hear([.down, .up, .single])) == ["click"])
    }

    @Test("buttons of a flicd that the configuration no longer names are logged at the start, and stay")
    func leftOver() {
        var house = FlicdHouse(stored: [Self.stored(source: "flicd://192.168.1.7:5551")])
        let warnings = house.effects.joined().compactMap { effect -> String? in
            if case .log(.warning, let text) = effect { text } else { nil }
        }
        #expect(
            warnings == [
                "sources does not contain flicd://192.168.1.7:5551, which has Kitchen; forget buttons that are not used"
            ])
        house.connect([])
        #expect(house.ask("button", ["id": "Kitchen"]).answer["data"]?["state"] == "disconnected")
        #expect(house.ask("button/remove", ["id": "Kitchen"]).answer["status"] == "ok")
        #expect(house.hub.buttons.isEmpty)
    }

    @Test("a button that two of them have is the first's, and the other one's when that is gone from the configuration")
    func twice() {
        let names = [FlicdHouse.name, "flicd://hall:5551"]
        var house = FlicdHouse(stored: [Self.stored(source: names[1])], sources: names)
        let effects = house.connect()
        #expect(FlicdHouse.sent(effects).contains(.removeConnectionChannel(id: 1)))
        #expect(FlicdHouse.gestures(house.hear([.down, .up, .single])) == [])
        // The other flicd cannot remove the button either.
        house.hear(.buttonDeleted(FlicdHouse.kitchen, byThisClient: false))
        #expect(house.hub.buttons[FlicdHouse.button]?.source == names[1])
        var alone = FlicdHouse(stored: [Self.stored(source: names[1])])
        alone.connect()
        #expect(FlicdHouse.gestures(alone.hear([.down, .up, .single])) == ["click"])
    }

    @Test("the end of a hold precedes the removal that caused it")
    func removedWhileHeld() throws {
        var house = FlicdHouse()
        house.connect()
        _ = house.ask("watch")
        house.hear([.down, .hold])
        let lines = house.hear(.buttonDeleted(FlicdHouse.kitchen, byThisClient: false)).compactMap {
            effect -> String? in
            if case .broadcast(_, let line) = effect { line.description } else { nil }
        }
        let release = try #require(lines.firstIndex { $0.contains(#""hold_release""#) })
        let removal = try #require(lines.firstIndex { $0.contains(#""removed""#) })
        #expect(release < removal, "\(lines)")
    }

    @Test("a button that our own adapter is paired with now is left to it")
    func pairedHere() throws {
        var house = FlicdHouse()
        house.connect()
        let key = try #require(PairingKey([UInt8](repeating: 1, count: 16)))
        let known = KnownButton(
            identity: try #require(house.hub.buttons[FlicdHouse.button]?.identity),
            pairing: Pairing(identifier: 1, key: key))
        house.hub.buttonSource.followRecording()
        let effects = house.hub.replay(
            RecordedInput(
                at: house.now, input: .received([]), reports: [.effect(.paired(known, batteryMillivolts: 3000))]))
        #expect(FlicdHouse.sent(effects) == [.removeConnectionChannel(id: 1)])
        #expect(house.hub.buttons[FlicdHouse.button]?.source == nil)
    }

    @Test("a button that comes in another way already is left there")
    func foreign() throws {
        let key = try #require(PairingKey([UInt8](repeating: 1, count: 16)))
        let own = StoredButton(
            identity: ButtonIdentity(
                address: FlicdHouse.kitchen, uuid: "", serial: "BA00-K00001", nickname: "", firmwareVersion: 11),
            pairing: Pairing(identifier: 1, key: key), pairedAt: UTCTime(milliseconds: 0))
        var house = FlicdHouse(stored: [own])
        let effects = house.connect()
        #expect(FlicdHouse.sent(effects).contains(.removeConnectionChannel(id: 1)))
        #expect(house.ask("button", ["id": "BA00-K00001"]).answer["data"]?["state"] == "disconnected")
        let pressed = house.hear(.button(id: 1, .upOrDown, .buttonDown, wasQueued: false, timeDifference: 0))
        #expect(house.messages(pressed).isEmpty)
    }

    @Test("without an adapter of our own a search is the flicd's, with our beginning and end")
    func search() {
        var house = FlicdHouse()
        #expect(house.ask("permit_join", ["time": 30]).answer["status"] == "error")
        house.connect([])
        _ = house.ask("watch")
        let begun = house.ask("permit_join", ["time": 30])
        #expect(FlicdHouse.sent(begun.effects) == [.createScanWizard(id: 1)])
        #expect(Self.steps(begun.effects) == ["searching"])
        #expect(
            Self.steps(house.hear(.scanWizardFoundPublicButton(id: 1, FlicdHouse.kitchen, name: ""))) == [
                "found_public"
            ])
        let paired = house.hear(
            .scanWizardCompleted(id: 1, .success), .newVerifiedButton(FlicdHouse.kitchen),
            .getButtonInfoResponse(FlicdButtonInfo(address: FlicdHouse.kitchen, serial: "AA12-C34560", flicVersion: 1)))
        #expect(Self.steps(paired) == ["paired"])
        house.now = house.now + .seconds(1)
        let next = house.hub.handleChecked(.timerFired, at: house.now)
        #expect(FlicdHouse.sent(next) == [.createScanWizard(id: 4)])
        house.now = house.now + .seconds(29)
        let ended = house.hub.handleChecked(.timerFired, at: house.now)
        #expect(Self.steps(ended) == ["ended"])
        #expect(FlicdHouse.sent(ended).contains(.cancelScanWizard(id: 4)))
        #expect(house.ask("status").answer["data"]?["permit_join"] == false)
    }

    private static func isRemoved(_ effects: [Hub.Effect]) -> Bool {
        effects.contains {
            if case .record(_, let changes) = $0 { changes == [.removeButton(FlicdHouse.button)] } else { false }
        }
    }

    private static func steps(_ effects: [Hub.Effect]) -> [String] {
        effects.compactMap {
            guard case .broadcast(_, let line) = $0, line["kind"] == "pairing" else { return nil }
            return line["step"]?.stringValue
        }
    }
}
