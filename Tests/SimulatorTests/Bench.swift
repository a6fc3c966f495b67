import BluetoothHost
import ButtonModel
import Flic
import Simulator
import TestSupport

/// A central's host against a simulated world, in one process and on one clock wound by hand.
///
/// It does what a daemon does for one button: connect through the accept list, exchange the MTU, discover,
/// subscribe, run a session, and keep what the session says must be kept.
struct Bench {
    private(set) var now = Instant(sinceBoot: .seconds(1000))
    private(set) var world: SimulatedWorld
    private(set) var host: LEHost
    private var worldTimer, hostTimer, sessionTimer: Instant?
    private var random: SeededGenerator
    private let runsSessions: Bool

    private enum Letter {
        case host(LEHost.Input)
        case world(SimulatedWorld.Input)
        case session(ButtonSession.Input)
    }
    private var letters: [Letter] = []

    private var session: ButtonSession?
    private var link: LEConnection?
    private var attMTU: UInt16 = 23
    private var service: RemoteService?

    /// The events of the host, except notifications.
    private(set) var hostEvents: [LEHost.Event] = []
    private(set) var links: [LEConnection] = []
    private(set) var sessionEffects: [ButtonSession.Effect] = []
    private(set) var buttonEvents: [ButtonEvent] = []
    private(set) var notes: [String] = []
    private(set) var finished: [SimulatedPress] = []
    private(set) var pairing: Pairing?
    private(set) var identity: ButtonIdentity?
    private(set) var cursor = EventCursor()
    private(set) var isReady = false

    init(
        _ buttons: [SimulatedButtonDescription], seed: UInt64 = 1,
        controller: VirtualController.Configuration = .init(address: centralAddress),
        air: Air.Configuration = .init(), host: LEHost.Configuration = .init(), runsSessions: Bool = true
    ) {
        self.runsSessions = runsSessions
        world = SimulatedWorld(buttons, seed: seed, at: now, controller: controller, air: air)
        self.host = LEHost(host)
        random = SeededGenerator(seed: seed)
    }

    mutating func tell(_ input: LEHost.Input) { carry(.host(input)) }

    mutating func perform(_ command: ButtonSession.Command) { carry(.session(.perform(command))) }

    mutating func tell(world input: SimulatedWorld.Input) { carry(.world(input)) }

    /// Handles an input and all inputs that follow from it. A machine gets its next input only after all effects of its
    /// last input are carried out.
    private mutating func carry(_ letter: Letter) {
        letters.append(letter)
        guard letters.count == 1 else { return }
        while let letter = letters.first {
            switch letter {
            case .host(let input): for effect in host.handle(input, at: now) { take(effect) }
            case .world(let input): for effect in world.handle(input, at: now) { take(effect) }
            case .session(let input): for effect in session?.handle(input, at: now) ?? [] { take(effect) }
            }
            letters.removeFirst()
        }
    }

    private mutating func take(_ effect: LEHost.Effect) {
        switch effect {
        case .send(let packet): tell(world: .received(packet))
        case .setTimer(let instant): hostTimer = instant
        case .cancelTimer: hostTimer = nil
        case .event(let event): take(event)
        }
    }

    private mutating func take(_ effect: SimulatedWorld.Effect) {
        switch effect {
        case .send(let packet, _): tell(.received(packet))
        case .setTimer(let instant): worldTimer = instant
        case .cancelTimer: worldTimer = nil
        case .pressFinished(_, let press): finished.append(press)
        case .note(let button, let text): notes.append("\(button): \(text)")
        case .unknownButton(let name): notes.append("no button \(name)")
        }
    }

    /// Winds the clock to the next timer, again and again, until the condition holds.
    ///
    /// - Returns: whether it came to hold within `limit`; if not, exactly that much time has passed.
    @discardableResult
    mutating func run(atMost limit: Duration, until condition: (Bench) -> Bool = { _ in false }) -> Bool {
        let end = now + limit
        while !condition(self) {
            let timers = [worldTimer, hostTimer, sessionTimer].compactMap { $0 }
            guard let next = timers.min(), next <= end else {
                now = end
                return condition(self)
            }
            now = max(now, next)
            if let timer = worldTimer, timer <= now {
                worldTimer = nil
                tell(world: .timerFired)
            }
            if let timer = hostTimer, timer <= now {
                hostTimer = nil
                tell(.timerFired)
            }
            if let timer = sessionTimer, timer <= now {
                sessionTimer = nil
                tell(session: .timerFired)
            }
        }
        return true
    }
}

// MARK: - What a daemon would do

extension Bench {
    private mutating func take(_ event: LEHost.Event) {
        if case .notified(let handle, _, let value) = event {
            if handle == link?.handle { tell(session: .received(value)) }
            return
        }
        hostEvents.append(event)
        switch event {
        case .connected(let connection):
            links.append(connection)
            guard runsSessions else { return }
            link = connection
            tell(.perform(.exchangeMTU(connection.handle)))
        case .mtuExchanged(let handle, let attMTU):
            self.attMTU = attMTU
            tell(.perform(.discoverService(handle, Self.flicService)))
        case .serviceDiscovered(let handle, let service):
            self.service = service
            guard let configuration = service.characteristics.compactMap(\.configurationHandle).first else { return }
            tell(.perform(.setNotifications(handle, configuration: configuration, enabled: true)))
        case .notificationsSet:
            beginSession()
        case .disconnected(let connection, _):
            links.removeAll { $0.handle == connection.handle }
            guard runsSessions else { return }
            sessionTimer = nil
            tell(session: .linkLost)
            link = nil
            isReady = false
        default:
            break
        }
    }

    private mutating func beginSession() {
        guard let link else { return }
        let purpose: ButtonSession.Purpose =
            pairing.map { .reconnect($0, cursor, advertisingConfigured: false) } ?? .pair
        session = ButtonSession(
            .init(address: link.peer, purpose: purpose, trustRoots: [SimulatorRoot.publicKey]))
        tell(session: .linkReady(attMTU: Int(attMTU), entropy()))
    }

    private mutating func entropy() -> SessionEntropy {
        SessionEntropy(
            temporaryID: UInt32(truncatingIfNeeded: random.next()), random: random.bytes(8),
            privateKey: random.bytes(32))
    }

    private mutating func tell(session input: ButtonSession.Input) { carry(.session(input)) }

    private mutating func take(_ effect: ButtonSession.Effect) {
        sessionEffects.append(effect)
        switch effect {
        case .send(let value):
            guard let link, let write = service?.characteristics.first(where: { $0.properties & 0x04 != 0 }) else {
                return
            }
            tell(.perform(.write(link.handle, write.valueHandle, value)))
        case .setTimer(let instant): sessionTimer = instant
        case .cancelTimer: sessionTimer = nil
        case .paired(let identity, let pairing, _):
            self.identity = identity
            self.pairing = pairing
        case .ready(let cursor, _, _, _):
            self.cursor = cursor
            isReady = true
        case .events(let events, let cursor, let needsAcknowledgement):
            buttonEvents += events
            self.cursor = cursor
            if needsAcknowledgement { tell(session: .synced(cursor)) }
        case .needsEntropy:
            tell(session: .restart(entropy()))
        case .disconnect:
            guard let link else { return }
            tell(.perform(.disconnect(link.handle, reason: .remoteUserTerminated)))
        case .moved, .advertisingConfigured, .battery, .firmware, .model, .nickname, .firmwareUpdate,
            .factoryReset,
            .unanswered, .unpaired, .failed, .ignored:
            break
        }
    }

    static func connected(_ event: LEHost.Event) -> BluetoothAddress? {
        if case .connected(let connection) = event { connection.peer } else { nil }
    }

    /// `00420000-8f59-4420-870d-84f3b617e493`.
    static let flicService = BluetoothUUID.long([
        0x93, 0xE4, 0x17, 0xB6, 0xF3, 0x84, 0x0D, 0x87, 0x20, 0x44, 0x59, 0x8F, 0x00, 0x00, 0x42, 0x00,
    ])
}
