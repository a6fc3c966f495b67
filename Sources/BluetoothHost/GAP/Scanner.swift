import ButtonModel

/// Switches the controller's legacy scanning on and off, in turns with pending connections where necessary.
///
/// | state           | on                                      | becomes         | and we                     |
/// |-----------------|-----------------------------------------|-----------------|----------------------------|
/// | off             | wanted                                  | starting        | set parameters, enable     |
/// | off             | wanted, and the radio is exclusive      | waitingForRadio | ask for the radio          |
/// | starting        | both answered                           | on              |                            |
/// | starting        | disallowed, the radio not yet asked for | waitingForRadio | ask for the radio          |
/// | starting        | another error                           | off             | refused; no retry          |
/// | waitingForRadio | the radio is free                       | starting        | set parameters, enable     |
/// | on              | another mode or nothing wanted          | stopping        | disable                    |
/// | on              | end of the turn, and peers wanted       | stopping        | disable                    |
/// | stopping        | answered                                | off or yielding | stopped                    |
/// | yielding        | end of the pending connection's turn    | waitingForRadio | ask for the radio          |
///
/// The radio is exclusive if the controller cannot scan while a connection is pending. The controller reports this in
/// its LE Supported States, or by refusing a command. `Scanner` and `Initiator` then take turns.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.10, 7.8.11 and 7.8.27.
struct Scanner: Hashable, Sendable {
    enum Mode: Hashable, Sendable {
        case passive
        case active
        /// Passive with a duty cycle of 10 %, which hardly disturbs connections.
        case background
    }

    enum Effect: Hashable, Sendable {
        case command(HCICommand)
        /// The controller cannot scan while it initiates: the initiator has to pause.
        case radioNeeded
        /// Scanning has ended, for good or until the next turn.
        case stopped
        case refused(HCIStatus)
    }

    /// 60 ms in units of 0.625 ms; the window is equal, except in `background`.
    static let interval: UInt16 = 0x0060
    /// 600 ms in units of 0.625 ms, with a window of `interval`.
    static let backgroundInterval: UInt16 = 0x03C0
    /// With an exclusive radio: the duration of a scanner's turn, and of a pending connection's turn.
    static let turn: Duration = .seconds(3)
    static let connectionTurn: Duration = .seconds(2)

    private enum State: Hashable, Sendable {
        case off
        /// `status`: the first error of the answers so far.
        case starting(Mode, answersMissing: Int, status: HCIStatus)
        case waitingForRadio
        case on(Mode)
        case stopping(isYielding: Bool)
        case yielding
    }

    private var state = State.off
    private var wanted: Mode?
    private var isControllerReady = false
    /// True if the controller cannot scan and initiate at the same time.
    private var isRadioExclusive = false
    /// True if the initiator has paused for us.
    private var hasRadio = false
    private(set) var deadline: Instant?

    /// True if the controller scans or is about to.
    var isOn: Bool {
        switch state {
        case .starting, .on, .stopping: true
        case .off, .waitingForRadio, .yielding: false
        }
    }

    mutating func setWanted(_ mode: Mode?, at now: Instant) -> [Effect] {
        wanted = mode
        return settle(at: now)
    }

    mutating func controllerReady(isRadioExclusive: Bool, at now: Instant) -> [Effect] {
        isControllerReady = true
        self.isRadioExclusive = isRadioExclusive
        return settle(at: now)
    }

    /// Resets everything except the wanted mode.
    mutating func controllerLost() {
        let mode = wanted
        self = Scanner()
        wanted = mode
    }

    mutating func radioFree(at now: Instant) -> [Effect] {
        guard state == .waitingForRadio else { return [] }
        state = .off
        hasRadio = true
        return wanted == nil ? end() : settle(at: now)
    }

    /// Handles the initiator's report that the controller refuses to initiate while it scans.
    mutating func radioIsExclusive(at now: Instant) {
        isRadioExclusive = true
        if case .on = state { deadline = now + Self.turn }
    }

    /// - Parameter isRadioWanted: whether there are peers to connect to.
    mutating func timerFired(at now: Instant, isRadioWanted: Bool) -> [Effect] {
        guard let deadline, now >= deadline else { return [] }
        self.deadline = nil
        switch state {
        case .on where isRadioWanted:
            state = .stopping(isYielding: true)
            return [.command(.leSetScanEnable(false, filterDuplicates: false))]
        case .on:
            self.deadline = now + Self.turn
            return []
        case .yielding:
            state = .off
            return settle(at: now)
        case .off, .starting, .waitingForRadio, .stopping:
            return []
        }
    }

    mutating func answered(_ command: HCICommand, _ status: HCIStatus?, at now: Instant) -> [Effect] {
        switch (state, command) {
        case (.starting(let mode, let missing, let first), .leSetScanParameters),
            (.starting(let mode, let missing, let first), .leSetScanEnable(true, _)):
            let status = first == .success ? status ?? .success : first
            guard missing <= 1 else {
                state = .starting(mode, answersMissing: missing - 1, status: status)
                return []
            }
            return started(mode, status, at: now)
        case (.stopping(let isYielding), .leSetScanEnable(false, _)):
            hasRadio = false
            guard isYielding, wanted != nil else {
                state = .off
                return wanted == nil ? end() : settle(at: now)
            }
            state = .yielding
            deadline = now + Self.connectionTurn
            return [.stopped]
        case (.off, _), (.starting, _), (.waitingForRadio, _), (.on, _), (.stopping, _), (.yielding, _):
            return []
        }
    }

    private mutating func started(_ mode: Mode, _ status: HCIStatus, at now: Instant) -> [Effect] {
        switch status {
        case .success:
            state = .on(mode)
            deadline = isRadioExclusive ? now + Self.turn : nil
            return settle(at: now)
        case .commandDisallowed where !hasRadio:
            isRadioExclusive = true
            state = .waitingForRadio
            return [.radioNeeded]
        default:
            wanted = nil
            return [.refused(status)] + end()
        }
    }

    /// Ends scanning, because it is not wanted any more or was refused.
    private mutating func end() -> [Effect] {
        state = .off
        hasRadio = false
        deadline = nil
        return [.stopped]
    }

    private mutating func settle(at now: Instant) -> [Effect] {
        switch state {
        case .starting, .stopping:
            return []
        case .waitingForRadio, .yielding:
            return wanted == nil ? end() : []
        case .on(let mode):
            guard wanted != mode else { return [] }
            deadline = nil
            state = .stopping(isYielding: false)
            return [.command(.leSetScanEnable(false, filterDuplicates: false))]
        case .off:
            guard isControllerReady, let wanted else { return [] }
            guard hasRadio || !isRadioExclusive else {
                state = .waitingForRadio
                return [.radioNeeded]
            }
            state = .starting(wanted, answersMissing: 2, status: .success)
            let parameters = LEScanParameters(
                isActive: wanted == .active,
                interval: wanted == .background ? Self.backgroundInterval : Self.interval, window: Self.interval)
            return [
                .command(.leSetScanParameters(parameters)),
                .command(.leSetScanEnable(true, filterDuplicates: false)),
            ]
        }
    }
}
