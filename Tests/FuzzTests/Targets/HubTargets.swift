import ButtonModel
import Flic
import Hub
import JSON
import MQTTTopics
import Rules

extension FuzzTarget {
    /// Lines of the control socket: each is answered with one line.
    static let control = FuzzTarget(name: "control") { octets throws(BrokenPromise) in
        var hub = hub
        let client = Hub.ClientID(rawValue: 7)
        for line in octets.split(separator: UInt8(ascii: "\n")).prefix(8) {
            let effects = hub.handleCompletely(.controlLine(client, Array(line)), at: start)
            #if DEBUG
                try promise("the hub's invariants hold", hub.problems(at: start).isEmpty)
            #endif
            let answers = effects.compactMap { if case .respond(let to, let answer) = $0 { (to, answer) } else { nil } }
            try promise("a line is answered", answers.first?.0 == client)
            try promise("the answer is one line", answers.allSatisfy { !$0.1.description.contains("\n") })
        }
    }

    /// Messages from the broker, with arbitrary topic and payload.
    static let mqtt = FuzzTarget(name: "mqtt") { octets throws(BrokenPromise) in
        var hub = hub
        var input = FuzzInput(octets)
        let kind = input.octet()
        let name = input.chunk()
        let word = String(decoding: name, as: UTF8.self)
        let topicName =
            switch kind >> 4 {
            case 1: "homeassistant/device/tryck_80e4da000001/config"
            case 2: "tryck/80e4da000001/set"
            case 3: "homeassistant/device/tryck_80e4da0000ff/config"
            case 4: "homeassistant/device/tryck_bridge_5a1f/config"
            default: kind & 1 == 0 ? "tryck/bridge/request/\(word)" : word
            }
        let message = Hub.Input.messageReceived(
            topicName: topicName, payload: input.remainder(), retained: kind & 6 == 6)
        for case .publish(_, let message, _) in hub.handleCompletely(message, at: start) {
            let isName = !message.topicName.contains { "+#\0".contains($0) }
            try promise("a published topic name has no wildcards", isName)
        }
        #if DEBUG
            try promise("the hub's invariants hold", hub.problems(at: start).isEmpty)
        #endif
    }

    private static let start = Instant(sinceBoot: .seconds(100))

    private static let button = PairingKey([UInt8](repeating: 0x5A, count: 16)).map {
        StoredButton(
            identity: ButtonIdentity(
                address: BluetoothAddress(rawValue: 0x80E4_DA00_0001), uuid: String(repeating: "a", count: 32),
                serial: "BA00-A00001", nickname: "", firmwareVersion: 11),
            pairing: Pairing(identifier: 0xCAFE, key: $0), pairedAt: UTCTime(milliseconds: 0))
    }

    /// A running hub with a button that is out of reach.
    private static let hub = {
        var hub = Hub(
            HubConfiguration(
                version: "fuzz", discoveryPrefix: "homeassistant", radios: [ConfiguredRadio("simulated:fuzz")],
                broker: "mqtt://fuzz",
                simulatedButtons: ["kitchen"]),
            stored: StoredState(installationID: "5a1f", nextRun: 1, buttons: button.map { [$0] } ?? []),
            rules: RuleSet())
        for input in [.wallClock(UTCTime(milliseconds: 1_795_000_000_000)), .start, .brokerConnected] as [Hub.Input] {
            _ = hub.handleCompletely(input, at: start)
        }
        return hub
    }()
}
