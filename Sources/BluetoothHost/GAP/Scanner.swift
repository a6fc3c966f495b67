/// Legacy scanning, switched on and off.
///
/// | state      | on                                     | becomes       | and we                       |
/// |------------|----------------------------------------|---------------|------------------------------|
/// | off        | wanted                                 | starting      | set parameters, enable       |
/// | starting   | both answered                          | on            |                              |
/// | starting   | disallowed, the radio not yet asked for| waitingForRadio | ask for the radio          |
/// | starting   | another error                          | off           | refused; nothing is wanted   |
/// | waitingForRadio | the radio is free                 | starting      | set parameters, enable       |
/// | on         | another mode or nothing wanted         | stopping      | disable                      |
/// | stopping   | answered                               | off           | stopped                      |
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.10 and 7.8.11.
struct Scanner: Hashable, Sendable {
    enum Mode: Hashable, Sendable {
        case passive
        case active
    }

    enum Effect: Hashable, Sendable {
        case command(HCICommand)
        /// The controller does not scan while it initiates.
        case radioNeeded
        /// Nobody scans any more.
        case stopped
        case refused(HCIStatus)
    }

    /// 60 ms, all of it.
    static let interval: UInt16 = 0x0060

    private enum State: Hashable, Sendable {
        case off
        /// `status`: the first error of the answers so far.
        case starting(Mode, answersMissing: Int, status: HCIStatus)
        case waitingForRadio
        case on(Mode)
        case stopping
    }

    private var state = State.off
    private var wanted: Mode?
    private var isControllerReady = false
    private var hasAskedForRadio = false

    /// Whether the controller scans or is about to.
    var isOn: Bool { state != .off }

    mutating func want(_ mode: Mode?) -> [Effect] {
        wanted = mode
        return settle()
    }

    mutating func controllerReady() -> [Effect] {
        isControllerReady = true
        return settle()
    }

    /// Forgets everything but what is wanted.
    mutating func controllerLost() {
        let mode = wanted
        self = Scanner()
        wanted = mode
    }

    mutating func radioFree() -> [Effect] {
        guard state == .waitingForRadio else { return [] }
        state = .off
        return wanted == nil ? end() : settle()
    }

    mutating func answered(_ command: HCICommand, _ status: HCIStatus?) -> [Effect] {
        switch (state, command) {
        case (.starting(let mode, let missing, let first), .leSetScanParameters),
            (.starting(let mode, let missing, let first), .leSetScanEnable(true, _)):
            let status = first == .success ? status ?? .success : first
            guard missing <= 1 else {
                state = .starting(mode, answersMissing: missing - 1, status: status)
                return []
            }
            return started(mode, status)
        case (.stopping, .leSetScanEnable(false, _)):
            state = .off
            return wanted == nil ? end() : settle()
        case (.off, _), (.starting, _), (.waitingForRadio, _), (.on, _), (.stopping, _):
            return []
        }
    }

    private mutating func started(_ mode: Mode, _ status: HCIStatus) -> [Effect] {
        switch status {
        case .success:
            state = .on(mode)
            return settle()
        case .commandDisallowed where !hasAskedForRadio:
            hasAskedForRadio = true
            state = .waitingForRadio
            return [.radioNeeded]
        default:
            wanted = nil
            return [.refused(status)] + end()
        }
    }

    /// Nobody wants to scan any more.
    private mutating func end() -> [Effect] {
        state = .off
        hasAskedForRadio = false
        return [.stopped]
    }

    private mutating func settle() -> [Effect] {
        switch state {
        case .starting, .stopping:
            return []
        case .waitingForRadio:
            return wanted == nil ? end() : []
        case .on(let mode):
            guard wanted != mode else { return [] }
            state = .stopping
            return [.command(.leSetScanEnable(false, filterDuplicates: false))]
        case .off:
            guard isControllerReady, let wanted else { return [] }
            state = .starting(wanted, answersMissing: 2, status: .success)
            let parameters = LEScanParameters(
                isActive: wanted == .active, interval: Self.interval, window: Self.interval)
            return [
                .command(.leSetScanParameters(parameters)),
                .command(.leSetScanEnable(true, filterDuplicates: false)),
            ]
        }
    }
}
