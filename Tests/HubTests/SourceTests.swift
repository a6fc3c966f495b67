import ButtonModel
import Expressions
import FlicdProtocol
import HomeAssistant
import JSON
import Rules
import TestSupport
import Testing

@testable import Hub

/// A hub with one flicd, and what comes from there.
private struct FlicdHouse {
    static let name = "flicd://attic:5551"
    static let kitchen = BluetoothAddress(rawValue: 0x80E4_DA12_3456)
    static let button = ButtonID(kitchen)

    var hub: Hub
    var now = Instant(sinceBoot: .seconds(5))

    init(stored: [StoredButton] = [], rules: RuleSet = RuleSet(), sources: [String] = [name]) {
        let configuration = HubConfiguration(
            version: "0", transport: "none", hasTransport: false, sources: sources, hasBroker: true)
        hub = Hub(
            configuration, stored: StoredState(installationID: "00ff", buttons: stored), rules: rules)
        _ = hub.handle(.wallClock(UTCTime(milliseconds: 1_795_000_000_000)), at: now)
        _ = hub.handle(.start, at: now)
        _ = hub.handle(.brokerConnected, at: now)
    }

    mutating func hear(_ events: FlicdEvent...) -> [Hub.Effect] {
        hub.handle(.source(0, .received(events.flatMap { $0.encoded() })), at: now)
    }

    @discardableResult
    mutating func connect(_ buttons: [BluetoothAddress] = [kitchen], version: UInt8 = 1) -> [Hub.Effect] {
        var effects = hub.handle(.source(0, .connected(bootID: 7)), at: now)
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
        let effects = hub.handle(.controlLine(Hub.ClientID(rawValue: 1), line.encoded()), at: now)
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
    @Test("a flicd that has other buttons at every connection fills the store up to its bound")
    func endlessButtons() {
        var house = FlicdHouse()
        for round in 0..<3 {
            house.connect((0..<200).map { BluetoothAddress(rawValue: UInt64(0x1000 * (round + 1) + $0)) })
            _ = house.hub.handle(.source(0, .closed("reset")), at: house.now)
            house.now = house.now + .seconds(60)
            _ = house.hub.handle(.timerFired, at: house.now)
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

    @Test("a press is told like that of any button, and a stored one with its age")
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
        let effects = house.hub.handle(
            .source(0, .received(stored.flatMap { $0.encoded() })), at: house.now)
        let clicks = house.messages(effects).values.filter { $0["event_type"] == "click" || $0["event"] == "click" }
        #expect(clicks.contains { $0["queued"] == true && $0["age_ms"] == 2000 }, "\(house.messages(effects))")
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
        _ = house.hub.handle(.source(0, .closed("it closed the connection")), at: house.now)
        let status = house.ask("status").answer["data"]
        #expect(status?["faults"] == ["flicd://attic:5551: it closed the connection"])
        #expect(status?["sources"]?.arrayValue?.first?["connected"] == false)
        #expect(house.ask("button", ["id": "AA12-C34560"]).answer["data"]?["state"] == "disconnected")
        house.now = house.now + .seconds(1)
        #expect(house.hub.handle(.timerFired, at: house.now).contains(.source(0, .connect)))
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

        let stored = StoredButton(
            identity: ButtonIdentity(
                address: FlicdHouse.kitchen, uuid: "", serial: "AA12-C34560", nickname: "", firmwareVersion: 0),
            pairing: nil, source: FlicdHouse.name, pairedAt: UTCTime(milliseconds: 0))
        var lonely = FlicdHouse(stored: [stored])
        #expect(lonely.ask("button/remove", ["id": "AA12-C34560"]).answer["status"] == "error")
        // One that it does not list any more it still answers for.
        lonely.connect([])
        _ = lonely.ask("button/remove", ["id": "AA12-C34560"])
        let dropped = lonely.hear(.buttonDeleted(FlicdHouse.kitchen, byThisClient: true))
        #expect(Self.isRemoved(dropped))

        var elsewhere = FlicdHouse(stored: [stored], sources: ["flicd://hall:5551"])
        let alone = elsewhere.ask("button/remove", ["id": "AA12-C34560"])
        #expect(alone.answer["status"] == "ok")
        #expect(Self.isRemoved(alone.effects))
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
        let next = house.hub.handle(.timerFired, at: house.now)
        #expect(FlicdHouse.sent(next) == [.createScanWizard(id: 4)])
        house.now = house.now + .seconds(29)
        let ended = house.hub.handle(.timerFired, at: house.now)
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
            guard case .tell(_, let line) = $0, line["kind"] == "pairing" else { return nil }
            return line["step"]?.stringValue
        }
    }
}
