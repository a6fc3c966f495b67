import ButtonModel
import Buttons
import ESPHome
import Radios
import Simulator
import TestSupport
import Testing

/// A button manager whose two radios are proxies, which connect the button of the hall at nearly the same time: one of the two links
/// is a phantom (`RadioFleet`).
private struct Collision {
    private(set) var manager = ButtonManager(radios: [.esphome(key: nil), .esphome(key: nil)])
    private var proxies = [ESPHomeConnection(role: .proxy(name: "a", mac: "0635695e0001"), key: nil)]
    private var now = Instant(sinceBoot: .seconds(1000))
    private var timer: Instant?
    /// What the manager said but octets and timers, in order.
    private(set) var said: [ButtonManager.Effect] = []

    private static let address = PairingTests.hall.wantedAddress.rawValue
    /// The service that a button in public mode advertises, `00420000-8f59-4420-870d-84f3b617e493`.
    private static let advertisement: [UInt8] = [
        2, 1, 6, 17, 7, 0x93, 0xE4, 0x17, 0xB6, 0xF3, 0x84, 0x0D, 0x87, 0x20, 0x44, 0x59, 0x8F, 0, 0, 0x42, 0,
    ]

    /// - Parameter known: the button, if it is paired.
    init(known: [KnownButton]) {
        proxies.append(ESPHomeConnection(role: .proxy(name: "b", mac: "0635695e0002"), key: nil))
        tell(.entropy(Array(repeating: 5, count: 2048)))
        tell(.restored(known))
        for (place, mac) in ["06:35:69:5E:00:01", "06:35:69:5E:00:02"].enumerated() {
            _ = proxies[place].handle(.opened(entropy: []))
            tell(.transportOpened(RadioID(rawValue: UInt8(place))))
            say(place, .helloResponse(HelloResponse(major: 1, minor: 10, serverInfo: "", name: "")))
            say(
                place,
                .deviceInfo(
                    DeviceInfo(
                        name: "", version: "2026.6.5", features: [.needed, .scannerState], bluetoothMACAddress: mac)))
            say(place, .connectionsFree(free: 3, limit: 3, allocated: []))
            say(place, .scannerState(.running, mode: .passive, configuredMode: .passive))
        }
        tell(.permitJoin(.seconds(30)))
        hear(0)
        wait(.milliseconds(1000))
        // The time for a scan response is over, and the first proxy is asked to connect. It takes too long, so the second one is.
        hear(0)
        wait(.milliseconds(1400))
        hear(1)
        wait(.milliseconds(200))
        for place in 0..<2 { connect(place, true) }
    }

    var progress: [PairingProgress] {
        said.compactMap { if case .pairing(let progress) = $0 { progress } else { nil } }
    }

    private mutating func hear(_ place: Int) {
        say(place, .rawAdvertisements([RawAdvertisement(address: Self.address, rssi: -60, data: Self.advertisement)]))
    }

    mutating func connect(_ place: Int, _ isConnected: Bool) {
        say(
            place,
            .deviceConnection(
                address: Self.address, isConnected: isConnected, mtu: isConnected ? 131 : 0, error: isConnected ? 0 : 8)
        )
    }

    mutating func findService(_ place: Int) {
        func uuid(_ number: UInt64) -> GATTUUID {
            GATTUUID(high: 0x0042_0000_8F59_4420 | number << 32, low: 0x870D_84F3_B617_E493)
        }
        let notify = GATTCharacteristic(
            uuid: uuid(2), handle: 14, properties: 16, descriptors: [GATTDescriptor(uuid: .short(0x2902), handle: 15)])
        let write = GATTCharacteristic(uuid: uuid(1), handle: 12, properties: 4)
        say(
            place,
            .services(
                address: Self.address, [GATTService(uuid: uuid(0), handle: 10, characteristics: [write, notify])]))
        say(place, .servicesDone(address: Self.address))
        say(place, .writeResponse(address: Self.address, handle: 15))
    }

    mutating func lose(_ place: Int) { tell(.transportClosed(RadioID(rawValue: UInt8(place)))) }

    private mutating func say(_ place: Int, _ message: ESPHomeMessage) {
        for case .send(let octets) in proxies[place].handle(.send([message])) {
            tell(.received(octets, RadioID(rawValue: UInt8(place))))
        }
    }

    private mutating func wait(_ duration: Duration) {
        let end = now + duration
        while let deadline = timer, deadline <= end {
            now = max(now, deadline)
            timer = nil
            tell(.timerFired)
        }
        now = end
    }

    private mutating func tell(_ input: ButtonManager.Input) {
        for effect in manager.checked(input, at: now) {
            switch effect {
            case .setTimer(let deadline): timer = deadline
            case .cancelTimer: timer = nil
            case .send(let octets, let radio): _ = proxies[Int(radio.rawValue)].handle(.received(octets))
            default: said.append(effect)
            }
        }
    }
}

@Suite("Two links to one button")
struct TwoLinksTests {
    @Test("pairing goes on with the real link, however the phantom ends", arguments: 0..<3)
    func pairing(end: Int) {
        let hall = PairingTests.hall.wantedAddress
        var collision = Collision(known: [])
        switch end {
        case 0: collision.connect(0, false)
        case 1: collision.lose(0)
        default: break
        }
        collision.findService(1)
        #expect(
            collision.progress == [
                .searching, .foundPublic(hall), .connecting(hall), .connected(hall), .connected(hall),
                .verifying(hall),
            ])
    }

    @Test("a known button goes on with the real link if the radio of the phantom is lost")
    func lostRadio() {
        var collision = Collision(known: KnownButtonTests.paired().manager.knownButtons)
        #expect(collision.manager.state(of: KnownButtonTests.id) == .connected)
        collision.lose(0)
        #expect(collision.manager.state(of: KnownButtonTests.id) == .connected)
        let ends = collision.said.compactMap { if case .disconnected(_, let reason) = $0 { reason } else { nil } }
        #expect(ends == [.superseded])
        collision.findService(1)
        #expect(
            collision.said.last { if case .assigned = $0 { true } else { false } }
                == .assigned(KnownButtonTests.id, RadioID(rawValue: 1)))
    }
}
