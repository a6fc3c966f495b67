import ButtonModel
import Bytes
import JSON
import MQTTTopics
import RuleLoader
import Rules
import YAMLFiles

@testable import Hub

extension FuzzTarget {
    /// Arbitrary contents of a state file or an import: the hub starts with them, its button is pressed, and everything
    /// is listed and exported. The first octets are numbers, the rest is the state of rules as JSON.
    static let state = FuzzTarget(name: "state") { octets throws(BrokenPromise) in
        var reader = ByteReader(octets)
        func number() -> Int64 { (try? reader.uint64()).map { Int64(bitPattern: $0) } ?? 0 }
        func count() -> UInt32 { (try? reader.uint32()) ?? 0 }
        guard var button = exampleButton else { return }
        button.pressCount = Tally(clamping: number())
        button.sequence = Tally(clamping: number())
        button.publishWatermark = number()
        button.cursor = EventCursor(bootID: count(), eventCount: count(), smallEventCount: count())
        button.batteryMillivolts = Int(number())
        button.batteryMeasuredAt = UTCTime(milliseconds: number())
        button.pairedAt = UTCTime(milliseconds: number())
        let run = StoredRun(
            id: UInt64(Tally(clamping: number()).value), rule: "any", button: button.id, event: button.cursor,
            startedAt: UTCTime(milliseconds: number()))
        button.recogniser = String(decoding: (try? reader.bytes(Int(count() % 64))) ?? [], as: UTF8.self)
        let rules = (try? JSONValue(parsing: reader.remainder())).map { RuleState(stored: $0) } ?? RuleState()
        let state = StoredState(
            installationID: "5a1f", nextRun: UInt64(max(1, Tally(clamping: number()).value)), buttons: [button],
            runs: [run], rules: rules)

        var hub = Hub(
            HubConfiguration(
                version: "fuzz", discoveryPrefix: "homeassistant", radios: [ConfiguredRadio("simulated:fuzz")],
                broker: "mqtt://fuzz",
                hasMetrics: true),
            stored: state, rules: stateRules)
        var now = Instant(sinceBoot: .seconds(100))
        var counts: [Tally] = []
        func take(_ effects: [Hub.Effect]) {
            for case .record(_, let changes) in effects {
                for case .progress(_, _, _, let pressCount, _, _, _) in changes { counts.append(pressCount) }
            }
        }
        for input in [.wallClock(UTCTime(milliseconds: 1_795_000_000_000)), .start, .brokerConnected] as [Hub.Input] {
            take(hub.handleCompletely(input, at: now))
        }
        for step in [.down, .up(.open)] as [PressStep] {
            now = now + .milliseconds(100)
            let event = ButtonEvent(
                button: button.id, bootID: button.cursor.bootID, counter: button.cursor.eventCount &+ 1, step: step,
                ticks: 3277)
            hub.pressed(button.id, [event], button.cursor, needsAcknowledgement: true, at: now)
            take(hub.handleCompletely(.timerFired, at: now))
        }
        now = now + .seconds(10)
        take(hub.handleCompletely(.timerFired, at: now))
        let client = Hub.ClientID(rawValue: 7)
        for request in ["status", "buttons", "rules", "variables"] {
            let effects = hub.handleCompletely(.controlLine(client, Array(#"{"request":"\#(request)"}"#.utf8)), at: now)
            try promise("\(request) is answered", effects.contains { if case .respond = $0 { true } else { false } })
        }
        try promise("presses are counted", (counts.last ?? 0) == button.pressCount.next)
        // The plaintext is compared and not a recording, which leaves out what it does not understand.
        let exported = ExportedState(state)
        let again = try? ExportFile.state(fromPlaintext: ExportFile.plaintext(of: exported))
        try promise("an export reads as it was written", again == exported)
    }

    private static let exampleButton = PairingKey([UInt8](repeating: 0x5A, count: 16)).map {
        StoredButton(
            identity: ButtonIdentity(
                address: BluetoothAddress(rawValue: 0x80E4_DA00_0001), uuid: String(repeating: "a", count: 32),
                serial: "BA00-A00001", nickname: "", firmwareVersion: 11),
            pairing: Pairing(identifier: 0xCAFE, key: $0), pairedAt: UTCTime(milliseconds: 0))
    }

    private static let stateRules =
        FileLoader.rules(
            SourceFile(
                name: "rules.yaml",
                text: Array(
                    """
                    version: 1
                    variables: {count: 0}
                    rules:
                      - id: any
                        triggers: {button: any, event: click}
                        cooldown: 1s
                        actions:
                          - cycle: [{publish: {topic: a}}, {publish: {topic: b}}]
                          - set: {count: "{{ variables.count + 1 }}"}
                    """.utf8)), in: LoadInputs()
        ).value ?? RuleSet()
}
