import BluetoothHost
import ButtonModel
import ESPHome
import Radios
import TestSupport
import Testing

/// A conversation of a radio with a proxy. A test says what the proxy says, and then names everything that the radio says to the
/// proxy and reports, in order. What the test does not name is recorded as an issue at the next input.
struct ProxyTalk {
    static let hall = BluetoothAddress(rawValue: 0x80E4_DA7B_0001)
    static let address = hall.rawValue
    static let own = BluetoothAddress(rawValue: 0x0000_5E00_5301)

    /// What the radio says and reports.
    enum Act: Hashable {
        case says(ESPHomeMessage)
        case reports(RadioEvent)
    }

    private(set) var radio: ESPHomeRadio
    private var proxy: ESPHomeConnection
    private(set) var now = Instant(sinceBoot: .seconds(1000))
    private(set) var acts: [Act] = []
    private var timer: Instant?

    init(key: ESPHomeKey? = nil, proxyKey: ESPHomeKey? = nil, maximumLinks: Int? = nil) {
        radio = ESPHomeRadio(key: key, maximumLinks: maximumLinks)
        proxy = ESPHomeConnection(role: .proxy(name: "hall", mac: "0635695e0001"), key: proxyKey)
    }

    /// A radio that is ready, and expects the button of the hall.
    static func ready(
        maximumLinks: Int? = nil, slots: UInt32 = 3, features: BluetoothProxyFeatures = [],
        without missing: BluetoothProxyFeatures = []
    ) -> ProxyTalk {
        var talk = ProxyTalk(maximumLinks: maximumLinks)
        talk.open()
        talk.introduce(slots: slots, features: features, without: missing)
        talk.when(.perform(.expect([ExpectedButton(hall, .flic2)], unwanted: [])))
        return talk
    }

    /// - Parameters:
    ///   - features: besides those that every proxy has.
    ///   - missing: those of `device` that this proxy has not.
    mutating func introduce(
        slots: UInt32 = 3, features: BluetoothProxyFeatures = [], without missing: BluetoothProxyFeatures = []
    ) {
        passOver()
        say(.helloResponse(HelloResponse(major: 1, minor: 14, serverInfo: "2026.6.5", name: "hall")))
        passOver()
        var device = Self.device
        device.features.formUnion(features)
        device.features.subtract(missing)
        say(.deviceInfo(device))
        passOver()
        say(.connectionsFree(free: slots, limit: slots, allocated: []))
        passOver()
        say(.scannerState(.running, mode: .passive, configuredMode: .passive))
        passOver()
    }

    static let device = DeviceInfo(
        name: "hall", version: "2026.6.5", features: [.needed, .scannerState], bluetoothMACAddress: own.description)

    static let services = [
        GATTService(
            uuid: uuid(0), handle: 10,
            characteristics: [
                GATTCharacteristic(uuid: uuid(1), handle: 12, properties: 4),
                GATTCharacteristic(
                    uuid: uuid(2), handle: 14, properties: 16,
                    descriptors: [GATTDescriptor(uuid: .short(0x2902), handle: 15)]),
            ])
    ]

    private static func uuid(_ number: UInt64) -> GATTUUID {
        GATTUUID(high: 0x0042_0000_8F59_4420 | number << 32, low: 0x870D_84F3_B617_E493)
    }

    mutating func open(sourceLocation: SourceLocation = #_sourceLocation) {
        ends(sourceLocation: sourceLocation)
        let old = proxy.handle(.opened(entropy: Array(repeating: 7, count: 32)))
        #expect(old.allSatisfy { $0 == .established }, sourceLocation: sourceLocation)
        feed(.transportOpened(entropy: Array(repeating: 9, count: 32)), sourceLocation)
    }

    /// The transport opens, and the proxy, which is of an old version, says no more than what it is.
    mutating func openUntilDeviceIsKnown() {
        open()
        passOver()
        say(.helloResponse(HelloResponse(major: 1, minor: 10, serverInfo: "", name: "")))
        passOver()
        say(.deviceInfo(Self.device))
        passOver()
    }

    mutating func when(_ input: RadioInput, sourceLocation: SourceLocation = #_sourceLocation) {
        ends(sourceLocation: sourceLocation)
        feed(input, sourceLocation)
    }

    /// The proxy says something.
    mutating func say(_ messages: ESPHomeMessage..., sourceLocation: SourceLocation = #_sourceLocation) {
        ends(sourceLocation: sourceLocation)
        for effect in proxy.handle(.send(messages)) {
            if case .send(let octets) = effect { feed(.received(octets), sourceLocation) }
        }
    }

    mutating func says(_ message: ESPHomeMessage, sourceLocation: SourceLocation = #_sourceLocation) {
        expect(.says(message), sourceLocation)
    }

    mutating func reports(_ event: RadioEvent, sourceLocation: SourceLocation = #_sourceLocation) {
        expect(.reports(event), sourceLocation)
    }

    private mutating func expect(_ act: Act, _ sourceLocation: SourceLocation) {
        #expect(acts.first == act, sourceLocation: sourceLocation)
        acts = Array(acts.dropFirst())
    }

    /// Passes over what the test does not name.
    mutating func passOver() { acts = [] }

    /// The next act is none that the test expects, or there is none.
    func missed(sourceLocation: SourceLocation = #_sourceLocation) {
        Issue.record("the radio does something else: \(acts)", sourceLocation: sourceLocation)
    }

    /// The test has named everything.
    mutating func ends(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(acts.isEmpty, sourceLocation: sourceLocation)
        acts = []
    }

    /// Advances the clock, and fires the timer at each deadline until then.
    mutating func wait(_ duration: Duration, sourceLocation: SourceLocation = #_sourceLocation) {
        ends(sourceLocation: sourceLocation)
        let end = now + duration
        while let deadline = timer, deadline <= end {
            now = max(now, deadline)
            timer = nil
            feed(.timerFired, sourceLocation)
        }
        now = end
    }

    private mutating func feed(_ input: RadioInput, _ sourceLocation: SourceLocation) {
        for effect in radio.handle(input, at: now) {
            switch effect {
            case .setTimer(let deadline): timer = deadline
            case .cancelTimer: timer = nil
            case .event(let event): acts.append(.reports(event))
            case .bus: Issue.record("a proxy has no system bus", sourceLocation: sourceLocation)
            case .send(let octets):
                for effect in proxy.handle(.received(octets)) {
                    switch effect {
                    case .message(let message): acts.append(.says(message))
                    case .send(let octets): feed(.received(octets), sourceLocation)
                    case .established, .failed: break
                    }
                }
            }
        }
        #expect(radio.problems().isEmpty, sourceLocation: sourceLocation)
    }
}
