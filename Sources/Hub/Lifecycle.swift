import ButtonModel

/// The phases of the daemon's life.
enum Lifecycle: Hashable, Sendable {
    case notStarted
    case running(since: Instant)
    /// The links to the buttons are being ended. `isRestart`: the daemon restarts afterwards.
    case stopping(since: Instant?, isRestart: Bool)
    /// All effects were emitted. Later inputs have no effect.
    case finished(since: Instant?, isRestart: Bool)

    /// When the daemon started; `nil` if it has not.
    var startedAt: Instant? {
        switch self {
        case .notStarted: nil
        case .running(let since): since
        case .stopping(let since, _), .finished(let since, _): since
        }
    }

    /// True from the start until the daemon begins to stop.
    var isRunning: Bool {
        switch self {
        case .running: true
        case .notStarted, .stopping, .finished: false
        }
    }

    var isFinished: Bool {
        switch self {
        case .notStarted, .running, .stopping: false
        case .finished: true
        }
    }

    /// Begins to stop, or to restart.
    ///
    /// - Returns: whether this is the first request. A second request does not wait for the buttons.
    mutating func stop(isRestart: Bool) -> Bool {
        switch self {
        case .notStarted, .running:
            self = .stopping(since: startedAt, isRestart: isRestart)
            return true
        case .stopping(let since, let wasRestart):
            self = .stopping(since: since, isRestart: wasRestart || isRestart)
            return false
        case .finished: return false
        }
    }

    /// - Returns: whether the daemon begins again; `nil` if it has finished before.
    mutating func finish() -> Bool? {
        switch self {
        case .notStarted, .running:
            self = .finished(since: startedAt, isRestart: false)
            return false
        case .stopping(let since, let isRestart):
            self = .finished(since: since, isRestart: isRestart)
            return isRestart
        case .finished: return nil
        }
    }
}
