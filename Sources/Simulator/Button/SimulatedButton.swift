import BluetoothHost
public import ButtonModel
import Bytes
import Flic

/// A simulated button behind any controller: a `LEHost`, a `FlicPeripheral` on top of it, and a `Finger` that presses it.
///
/// | on                          | we                                                                   |
/// |-----------------------------|----------------------------------------------------------------------|
/// | transport opened            | set the controller up, choose an address, add the service, advertise |
/// | a link                      | stop advertising; the peripheral's packets are notified              |
/// | a link lost, or ended       | advertise as `AdvertisingPlan` says                                  |
/// | down                        | pass it to the peripheral; advertise if there is no link             |
/// | a turn                      | pass it to the peripheral in units; note it if there is no dial      |
/// | held for 7 s without a link | enter public mode for 30 s                                           |
/// | paired                      | leave public mode                                                    |
/// | a second link               | disconnect it, because the button supports only one link             |
/// | a fault                     | simulate it                                                          |
///
/// Pairings, event counter and stored events survive a closed transport, as they would in a real button. Presses wait
/// until the controller is set up, because the certificate contains the address.
public struct SimulatedButton: Sendable {
    public enum Input: Hashable, Sendable {
        case transportOpened
        case received([UInt8])
        case transportClosed
        /// At most `SimulatedButton.maximumQueuedPresses` presses wait; a further press is dropped with a note. The
        /// small button exists only on a Duo.
        case press(SimulatedPress, part: ButtonPart = .big)
        /// A press with a swipe, which only a Duo recognises.
        case swipe(SwipeDirection, part: ButtonPart = .big)
        /// Turns the dial of a Twist, or a Duo while one of its buttons is down, by hundredths of a turn, clockwise
        /// positive.
        case turn(hundredths: Int)
        /// Presses the button, turns it (a Duo `quietTime` later), and releases it `pushTurnTime` after the press.
        case pushTurn(hundredths: Int, part: ButtonPart = .big)
        case batteryChanged(millivolts: Int)
        /// Ignored until the controller is set up.
        case fault(SimulatedFault)
        case timerFired
    }

    public enum Effect: Hashable, Sendable, TimerEffect {
        case send([UInt8])
        case setTimer(Instant)
        case cancelTimer
        case pressFinished(SimulatedPress)
        case note(String)
        /// The controller is unusable.
        case failed(String)
    }

    public static let maximumQueuedPresses = Finger.maximumQueuedPresses
    static let publicModeHold = Duration.seconds(7)
    /// The duration of the press in a `pushTurn`; shorter than a hold.
    static let pushTurnTime = Duration.milliseconds(600)
    /// The time between the `down` and the turn in a `pushTurn` of a Duo. It is longer than the time after a `down` during
    /// which a host ignores rotation.
    static let quietTime = Duration.milliseconds(300)

    /// The address with which it advertises; `nil` until its controller is known.
    public internal(set) var address: BluetoothAddress?
    public let description: SimulatedButtonDescription

    var host = LEHost(.init(attMTU: FlicGATT.attMTU))
    var hostDeadline: Instant?
    var peripheral: FlicPeripheral?
    var peripheralDeadline: Instant?
    var finger = Finger()
    /// The finger on the small button of a Duo.
    var smallFinger = Finger()
    var turnConverter = TurnConverter()
    /// The pending turn of a `pushTurn`.
    var nextTurn: (at: Instant, hundredths: Int)?
    /// The pending release of a `pushTurn`.
    var pendingRelease: (at: Instant, part: ButtonPart)?
    /// Presses that were requested before the controller was set up.
    var waitingPresses: [(Finger.Script, ButtonPart)] = []
    /// When the button enters public mode if it stays pressed.
    var publicModeAt: Instant?
    var plan: AdvertisingPlan
    /// The advertising mode that was last requested from the host.
    var mode = AdvertisingPlan.Mode.silent
    var isUp = false
    var link: LEConnection?
    var advertisesAgain = false
    /// True if the disconnection that was requested simulates a lost link.
    var losesLink = false
    private var timer = LogicalTimer()
    var randomness: SplitMix64

    /// Keys, boot id and all randomness are derived from the seed and the name.
    public init(_ description: SimulatedButtonDescription, seed: UInt64, at now: Instant) {
        self.description = description
        plan = AdvertisingPlan(
            isPublicUntilPaired: description.isPublic && description.pairings.isEmpty,
            advertisesWhileConnected: description.advertisesWhileConnected)
        randomness = SplitMix64(seed: seed ^ stableHash(description.name))
    }

    public mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        var effects: [Effect] = []
        switch input {
        case .transportOpened:
            perform(.transportOpened, at: now, &effects)
        case .received(let packet):
            perform(.received(packet), at: now, &effects)
        case .transportClosed:
            closeTransport(at: now, &effects)
        case .press(let press, let part):
            take(.press(press), part, at: now, &effects)
        case .swipe(let direction, let part):
            take(.swipe(direction), part, at: now, &effects)
        case .turn(let hundredths):
            turn(hundredths: hundredths, at: now, &effects)
        case .pushTurn(let hundredths, let part):
            take(.press(.down), part, at: now, &effects)
            move(at: now, &effects)
            nextTurn = (description.model == .duo ? now + Self.quietTime : now, hundredths)
            pendingRelease = (now + Self.pushTurnTime, part)
            turnIfDue(at: now, &effects)
        case .batteryChanged(let millivolts):
            tell(.batteryChanged(millivolts: millivolts), at: now, &effects)
        case .fault(let fault):
            apply(fault, at: now, &effects)
        case .timerFired:
            timer.fired()
            fireTimers(at: now, &effects)
        }
        move(at: now, &effects)
        advertise(at: now, &effects)
        timer.appendChange(for: deadline(at: now), to: &effects)
        return effects
    }

    private func deadline(at now: Instant) -> Instant? {
        let machines = earliest(hostDeadline, peripheralDeadline)
        let fingers = earliest(finger.deadline, smallFinger.deadline)
        let presses = earliest(earliest(nextTurn?.at, pendingRelease?.at), earliest(fingers, publicModeAt))
        return earliest(earliest(machines, presses), plan.nextChange(after: now))
    }

    private mutating func fireTimers(at now: Instant, _ effects: inout [Effect]) {
        if let deadline = hostDeadline, deadline <= now {
            hostDeadline = nil
            perform(.timerFired, at: now, &effects)
        }
        if let deadline = peripheralDeadline, deadline <= now {
            peripheralDeadline = nil
            tell(.timerFired, at: now, &effects)
        }
        turnIfDue(at: now, &effects)
        if let (instant, part) = pendingRelease, instant <= now {
            pendingRelease = nil
            take(.press(.up), part, at: now, &effects)
        }
    }
}

// MARK: - The finger

extension SimulatedButton {
    private mutating func take(
        _ script: Finger.Script, _ part: ButtonPart, at now: Instant, _ effects: inout [Effect]
    ) {
        guard part == .big || part == .small && description.model.hasTwoButtons else {
            return effects.append(.note("it has no \(part.rawValue) button"))
        }
        let isQueued: Bool
        if peripheral == nil {
            isQueued = waitingPresses.count < Self.maximumQueuedPresses
            if isQueued { waitingPresses.append((script, part)) }
        } else {
            isQueued = enqueue(script, on: part, at: now)
        }
        if !isQueued { effects.append(.note("too many presses are waiting; \(script.name) was discarded")) }
    }

    /// - Returns: whether the finger's queue had room for the script.
    mutating func enqueue(_ script: Finger.Script, on part: ButtonPart, at now: Instant) -> Bool {
        part == .small ? smallFinger.enqueue(script, at: now) : finger.enqueue(script, at: now)
    }

    private mutating func turnIfDue(at now: Instant, _ effects: inout [Effect]) {
        guard let (instant, hundredths) = nextTurn, instant <= now else { return }
        nextTurn = nil
        turn(hundredths: hundredths, at: now, &effects)
    }

    private mutating func turn(hundredths: Int, at now: Instant, _ effects: inout [Effect]) {
        guard let dial = peripheral?.turnedDial else {
            return effects.append(.note("it has no dial to turn"))
        }
        effects.append(.note("turned \(dial.name) by \(hundredths)"))
        tell(.turned(units: turnConverter.units(hundredths: hundredths, of: dial)), at: now, &effects)
    }

    private mutating func move(at now: Instant, _ effects: inout [Effect]) {
        for step in finger.advance(to: now) {
            switch step {
            case .down: publicModeAt = now + Self.publicModeHold
            case .up, .swiped: publicModeAt = nil
            case .finished: break
            }
            take(step, of: .big, at: now, &effects)
        }
        for step in smallFinger.advance(to: now) { take(step, of: .small, at: now, &effects) }
        if let instant = publicModeAt, instant <= now {
            publicModeAt = nil
            if link == nil || description.advertisesWhileConnected { plan.enterPublicMode(at: now) }
        }
    }
}

extension SimulatedButton {
    private mutating func take(_ step: Finger.Step, of part: ButtonPart, at now: Instant, _ effects: inout [Effect]) {
        let name = part == .small ? "small " : ""
        switch step {
        case .down:
            effects.append(.note(name + "down"))
            if link == nil { plan.pressed(at: now) }
            tell(.partPressed(part), at: now, &effects)
        case .up:
            effects.append(.note(name + "up"))
            tell(.partReleased(part, swipe: nil), at: now, &effects)
        case .swiped(let direction):
            effects.append(.note(name + "up, " + direction.rawValue))
            tell(.partReleased(part, swipe: direction), at: now, &effects)
        case .finished(let press):
            effects.append(.pressFinished(press))
        }
    }
}

extension Finger.Script {
    fileprivate var name: String {
        switch self {
        case .press(let press): press.rawValue
        case .swipe(let direction): direction.rawValue
        }
    }
}

// MARK: - Faults

extension SimulatedButton {
    private mutating func apply(_ fault: SimulatedFault, at now: Instant, _ effects: inout [Effect]) {
        guard peripheral != nil else { return }
        switch fault {
        case .reboot:
            effects.append(.note("rebooted"))
            loseLink(at: now, &effects)
            plan.rebooted()
            tell(.rebooted(bootID: UInt32(truncatingIfNeeded: randomness.next())), at: now, &effects)
        case .dropLink: loseLink(at: now, &effects)
        case .wrongSignature: tell(.fault(.wrongSignature), at: now, &effects)
        case .lostAcknowledgement: tell(.fault(.lostAcknowledgement), at: now, &effects)
        case .ignoresRequests(let isOn): tell(.fault(.ignoresRequests(isOn)), at: now, &effects)
        }
    }

    private mutating func loseLink(at now: Instant, _ effects: inout [Effect]) {
        guard let link else { return }
        losesLink = true
        perform(.perform(.disconnect(link.handle, reason: .remoteUserTerminated)), at: now, &effects)
    }
}
