import ButtonModel

@testable import Flic

/// A host's session and a simulated button, connected directly.
struct TwoEnds {
    static let rootSeed = [UInt8](repeating: 0x42, count: 32)
    static let address = BluetoothAddress(rawValue: 0x80E4_DA00_0007)

    var session: ButtonSession
    var button: FlicPeripheral
    private(set) var now = Instant(sinceBoot: .seconds(100))
    private(set) var hostEffects: [ButtonSession.Effect] = []
    private(set) var buttonEffects: [FlicPeripheral.Effect] = []
    /// True if events are reported as synced to disk immediately.
    var syncs = true
    /// The last reported position of each dial, which the next session begins with.
    private(set) var dials: [Dial: Int] = [:]
    /// While this is true, packets of the host are kept and not delivered.
    var holdsBack = false {
        didSet { deliver() }
    }
    /// Answers the host's quick verify with a forged message that its pairing is not known.
    var forgesNegativeAnswer = false
    /// Alters the button's proof of whether it knows a pairing. The proof is one GATT value at MTU 140.
    var spoilsProof = false
    private var hostTimer: Instant?
    private var buttonTimer: Instant?
    private var entropyCount: UInt8 = 0
    /// Inputs on their way. They are delivered one at a time, in the order they were sent.
    private var air: [Delivery] = []
    private var isDelivering = false

    private enum Delivery {
        case toHost(ButtonSession.Input)
        case toButton(FlicPeripheral.Input)

        var isFromHost: Bool { if case .toButton(.received) = self { true } else { false } }
    }

    static func makeButton(
        pairings: [Pairing] = [], pingPeriod: Duration? = nil, firmwareVersion: UInt32 = 11,
        maximumLogicalConnections: Int = 8, model: FlicModel = .flic2
    ) -> FlicPeripheral {
        FlicPeripheral(
            .init(
                address: address, serial: "BA00-A00007", uuid: [UInt8](repeating: 0xAB, count: 16), nickname: "Küche",
                firmwareVersion: firmwareVersion, batteryMillivolts: 3000,
                privateKey: [UInt8](repeating: 0x17, count: 32),
                rootSeed: rootSeed, bootID: 4711, pairings: pairings, pingPeriod: pingPeriod,
                maximumLogicalConnections: maximumLogicalConnections, model: model),
            at: Instant(sinceBoot: .seconds(10)))
    }

    static func makeSession(
        _ purpose: ButtonSession.Purpose, isTwist: Bool = false, dials: [Dial: Int] = [:]
    ) -> ButtonSession {
        ButtonSession(
            .init(
                address: address, purpose: purpose, trustRoots: [FlicPeripheral.rootPublicKey(seed: rootSeed)],
                isTwist: isTwist, dials: dials))
    }

    init(_ purpose: ButtonSession.Purpose = .pair, button: FlicPeripheral = makeButton()) {
        session = Self.makeSession(purpose, isTwist: button.dialSnapshot != nil)
        self.button = button
    }

    mutating func connect(attMTU: Int) {
        tellButton(.linkUp(attMTU: attMTU))
        tellHost(.linkReady(attMTU: attMTU, nextEntropy()))
    }

    /// Loses the link, and reconnects with what the host has stored.
    mutating func reconnect(_ purpose: ButtonSession.Purpose, attMTU: Int, after duration: Duration) {
        tellButton(.linkDown)
        tellHost(.linkLost)
        wait(duration)
        session = Self.makeSession(purpose, isTwist: button.dialSnapshot != nil, dials: dials)
        hostEffects = []
        connect(attMTU: attMTU)
    }

    mutating func tellHost(_ input: ButtonSession.Input) {
        air.append(.toHost(input))
        deliver()
    }

    mutating func tellButton(_ input: FlicPeripheral.Input) {
        air.append(.toButton(input))
        deliver()
    }

    private mutating func deliver() {
        guard !isDelivering else { return }
        isDelivering = true
        defer { isDelivering = false }
        while let next = air.indices.first(where: { !holdsBack || !air[$0].isFromHost }) {
            switch air.remove(at: next) {
            case .toHost(let input): carryOut(session.handle(input, at: now))
            case .toButton(let input): carryOut(button.handle(input, at: now))
            }
        }
    }

    /// Moves the time, and fires both ends' timers when they are due.
    mutating func wait(_ duration: Duration) {
        let end = now + duration
        while let next = [hostTimer, buttonTimer].compactMap(\.self).min(), next <= end {
            now = max(now, next)
            if buttonTimer == next {
                buttonTimer = nil
                tellButton(.timerFired)
            } else {
                hostTimer = nil
                tellHost(.timerFired)
            }
        }
        now = end
    }

    mutating func press(for duration: Duration) {
        tellButton(.pressed)
        wait(duration)
        tellButton(.released)
    }

    mutating func press(_ part: ButtonPart, for duration: Duration, swipe: SwipeDirection? = nil) {
        tellButton(.partPressed(part))
        wait(duration)
        tellButton(.partReleased(part, swipe: swipe))
    }

    private mutating func nextEntropy() -> SessionEntropy {
        entropyCount &+= 1
        return SessionEntropy(
            temporaryID: UInt32(entropyCount), random: [UInt8](repeating: entropyCount, count: 8),
            privateKey: [UInt8](repeating: entropyCount, count: 32))
    }

    private mutating func carryOut(_ effects: [ButtonSession.Effect]) {
        hostEffects.append(contentsOf: effects)
        for effect in effects {
            switch effect {
            case .send(let value) where forgesNegativeAnswer && value.dropFirst().first == 5:
                tellHost(.received([0, 6] + value.dropFirst(10).prefix(4)))
            case .send(let value):
                tellButton(.received(value, random: [UInt8](repeating: entropyCount &+ 100, count: 8)))
            case .setTimer(let deadline): hostTimer = deadline
            case .cancelTimer: hostTimer = nil
            case .events(_, let cursor, true): if syncs { tellHost(.synced(cursor)) }
            case .needsEntropy: tellHost(.restart(nextEntropy()))
            case .moved(let movements):
                for movement in movements { if let dial = movement.dial { dials[dial] = movement.units } }
            case .paired, .ready, .events, .advertisingConfigured, .battery, .firmware, .model,
                .nickname, .unpaired,
                .firmwareUpdate, .factoryReset, .unanswered, .failed, .disconnect, .ignored:
                break
            }
        }
    }

    private mutating func carryOut(_ effects: [FlicPeripheral.Effect]) {
        buttonEffects.append(contentsOf: effects)
        for effect in effects {
            switch effect {
            case .send(var value):
                if spoilsProof, value.dropFirst().first == 4, let last = value.popLast() { value.append(last ^ 1) }
                tellHost(.received(value))
            case .setTimer(let deadline): buttonTimer = deadline
            case .cancelTimer: buttonTimer = nil
            case .requestParameters, .paired, .sessionReady, .disconnect, .light, .factoryReset, .updated: break
            }
        }
    }
}

extension TwoEnds {
    var events: [ButtonEvent] {
        hostEffects.flatMap { effect -> [ButtonEvent] in
            if case .events(let events, _, _) = effect { events } else { [] }
        }
    }

    /// The last cursor the session reported, which the host would have stored.
    var cursor: EventCursor? {
        hostEffects.reduce(nil) { last, effect in
            switch effect {
            case .events(_, let cursor, _), .ready(let cursor, _, _, _): cursor
            default: last
            }
        }
    }

    var pairing: Pairing? { button.pairings.last }

    /// The identity of the button that the host has paired.
    var identity: ButtonIdentity? {
        hostEffects.lazy.compactMap { if case .paired(let identity, _, _) = $0 { identity } else { nil } }.first
    }

    /// Turns of at least one step.
    var movements: [ButtonMovement] { turns.filter { $0.steps != 0 } }

    var turns: [ButtonMovement] {
        hostEffects.flatMap { effect -> [ButtonMovement] in
            if case .moved(let movements) = effect { movements } else { [] }
        }
    }

    var failures: [SessionFailure] {
        hostEffects.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }
    }
}
