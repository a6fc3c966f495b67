import BluetoothHost
import ButtonModel
import Flic
import Simulator

/// Finds a simulated button, connects to it, pairs with it and waits for a click. It uses Tryck's libraries only: a
/// `LEHost`, a `ButtonSession`, and a `SimulatedWorld` that holds the controller and the button.
@main
struct PairAButton {
    static let address = BluetoothAddress(rawValue: 0x80E4_DA00_0001)
    /// `0042000N-8f59-4420-870d-84f3b617e493`, in the octet order of the wire.
    static func flicUUID(_ number: UInt8) -> BluetoothUUID {
        .long([0x93, 0xE4, 0x17, 0xB6, 0xF3, 0x84, 0x0D, 0x87, 0x20, 0x44, 0x59, 0x8F, number, 0x00, 0x42, 0x00])
    }

    var now = Instant(sinceBoot: .seconds(1))
    var host = LEHost()
    var world: SimulatedWorld
    var session = ButtonSession(
        .init(address: address, purpose: .pair, trustRoots: [SimulatorRoot.publicKey]))
    /// Deadlines of the host (0), the session (1) and the world (2).
    var timers: [Int: Instant] = [:]
    var toHost: [LEHost.Input] = [.transportOpened, .perform(.setAcceptList([address]))]
    var toWorld: [SimulatedWorld.Input] = []
    var link: ConnectionHandle?
    var attMTU = 23
    var toButton: AttributeHandle?
    var steps: [PressStep] = []

    init() {
        let kitchen = SimulatedButtonDescription(name: "kitchen", address: Self.address, isPublic: true)
        world = SimulatedWorld([kitchen], seed: 1, at: now)
    }

    static func main() {
        var program = PairAButton()
        let end = program.now + .seconds(60)
        // A click is two steps: down and up.
        while program.now < end, program.steps.count < 2 { program.advance() }
        precondition(program.steps.count == 2, "no press came within a minute")
        print("its click arrived")
    }

    /// Passes all waiting inputs on, and then moves the time to the earliest deadline.
    mutating func advance() {
        while !toHost.isEmpty || !toWorld.isEmpty {
            if !toHost.isEmpty { for effect in host.handle(toHost.removeFirst(), at: now) { took(effect) } }
            if !toWorld.isEmpty { for effect in world.handle(toWorld.removeFirst(), at: now) { took(effect) } }
        }
        guard let (timer, deadline) = timers.min(by: { $0.value < $1.value }) else { return }
        timers[timer] = nil
        now = max(now, deadline)
        switch timer {
        case 0: toHost.append(.timerFired)
        case 1: tell(.timerFired)
        default: toWorld.append(.timerFired)
        }
    }

    mutating func took(_ effect: LEHost.Effect) {
        switch effect {
        case .send(let packet): toWorld.append(.received(packet))
        case .setTimer(let deadline): timers[0] = deadline
        case .cancelTimer: timers[0] = nil
        case .event(.connected(let connection)):
            link = connection.handle
            toHost.append(.perform(.exchangeMTU(connection.handle)))
        case .event(.mtuExchanged(let link, let attMTU)):
            self.attMTU = Int(attMTU)
            toHost.append(.perform(.discoverService(link, Self.flicUUID(0))))
        case .event(.serviceDiscovered(let link, let service)):
            toButton = service.characteristics.first { $0.uuid == Self.flicUUID(1) }?.valueHandle
            let fromButton = service.characteristics.first { $0.uuid == Self.flicUUID(2) }
            guard let configuration = fromButton?.configurationHandle else { break }
            toHost.append(.perform(.setNotifications(link, configuration: configuration, enabled: true)))
        case .event(.notificationsSet):
            let entropy = SessionEntropy(
                temporaryID: 1, random: [1, 2, 3, 4, 5, 6, 7, 8], privateKey: [UInt8](repeating: 7, count: 32))
            tell(.linkReady(attMTU: attMTU, entropy))
        case .event(.notified(_, _, let value)): tell(.received(value))
        case .event(.disconnected): tell(.linkLost)
        case .event: break
        }
    }

    mutating func tell(_ input: ButtonSession.Input) {
        for effect in session.handle(input, at: now) {
            switch effect {
            case .send(let value):
                guard let link, let toButton else { break }
                toHost.append(.perform(.write(link, toButton, value)))
            case .setTimer(let deadline): timers[1] = deadline
            case .cancelTimer: timers[1] = nil
            case .paired(let identity, _, _): print("paired with \(identity.serial)")
            case .ready: toWorld.append(.press(button: "kitchen", .click))
            case .events(let events, _, _): steps += events.map(\.step)
            default: break
            }
        }
    }

    mutating func took(_ effect: SimulatedWorld.Effect) {
        switch effect {
        case .send(let packet, _): toHost.append(.received(packet))
        case .setTimer(let deadline): timers[2] = deadline
        case .cancelTimer: timers[2] = nil
        case .pressFinished, .note, .unknownButton: break
        }
    }
}
