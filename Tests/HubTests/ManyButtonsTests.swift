import ButtonModel
import MQTTTopics
import Rules
import Testing

@testable import Hub

@Suite("A hub with very many buttons")
struct ManyButtonsTests {
    /// The payload of `bridge/devices` after connecting to the broker.
    private static func list(of count: Int) -> [UInt8]? {
        let buttons = (0..<count).map { number in
            StoredButton(
                identity: ButtonIdentity(
                    address: BluetoothAddress(rawValue: 0x80E4_DA00_0000 + UInt64(number)), uuid: "",
                    serial: "S\(number)", nickname: "", firmwareVersion: 11),
                pairing: nil, source: "mqtt:tryck/s1", pairedAt: UTCTime(milliseconds: 0))
        }
        var hub = Hub(
            HubConfiguration(version: "0", radios: [], hasBroker: true),
            stored: StoredState(installationID: "00ff", buttons: buttons), rules: RuleSet())
        let now = Instant(sinceBoot: .seconds(5))
        var effects = hub.handleCompletely(.wallClock(UTCTime(milliseconds: 1_795_000_000_000)), at: now)
        effects += hub.handleCompletely(.start, at: now) + hub.handleCompletely(.brokerConnected, at: now)
        for case .publish(_, let message, _) in effects where message.topicName.hasSuffix("bridge/devices") {
            return message.payload
        }
        return nil
    }

    @Test("bridge/devices is empty with more buttons than it may list, so that making it delays no press")
    func list() {
        #expect(Self.list(of: Hub.maximumListedButtons + 1) == [])
        #expect(Self.list(of: 10)?.first == UInt8(ascii: "["))
    }
}
