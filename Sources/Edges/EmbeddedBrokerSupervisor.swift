import ButtonModel

/// When `EmbeddedBroker` starts mosquitto, looks for its socket, gives it up, and starts it again.
///
/// | state    | on                   | becomes  | and we |
/// |----------|----------------------|----------|--------|
/// | stopped  | start                | waiting  | set the timer |
/// | waiting  | timer                | starting | launch the program |
/// | starting | timer                | starting | probe the socket, or kill after 10 s |
/// | starting | the socket answers   | running  | ready |
/// | starting | ended                | waiting  | failed, set the timer |
/// | running  | ended                | waiting  | failed, set the timer |
/// | any      | stop                 | stopped  | end the program |
///
/// The owner carries `launch` and `probe` out last, and answers each with an input.
struct EmbeddedBrokerSupervisor: Sendable {
    enum Input: Hashable, Sendable {
        case start
        case stop
        case launched
        /// There is no process; the text is for people.
        case launchFailed(String)
        case probed(isListening: Bool)
        /// The process ended; the text says how.
        case ended(String)
        case timerFired
    }

    enum Effect: Hashable, Sendable {
        case launch
        case probe
        /// End the process now; its end is reported as `ended`.
        case kill
        /// End the process if there is one; nothing is reported.
        case end
        case ready
        case failed(String)
        case setTimer(Instant)
        case cancelTimer
    }

    static let startTimeout: Duration = .seconds(10)
    static let probeInterval: Duration = .milliseconds(20)
    /// After a run that lasted longer the back-off starts again at its minimum.
    static let goodRun: Duration = .seconds(10)

    private enum State: Hashable {
        case stopped
        case waiting
        case starting(since: Instant)
        case running(since: Instant)
    }

    private var state = State.stopped
    private var backOff: MQTTBackOff

    /// - Parameter seed: for the jitter of the retries.
    init(seed: UInt64) { backOff = MQTTBackOff(seed: seed) }

    mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        switch (input, state) {
        case (.start, .stopped):
            state = .waiting
            return [.setTimer(now)]
        case (.stop, _):
            state = .stopped
            return [.cancelTimer, .end]
        case (.timerFired, .waiting):
            return [.launch]
        case (.launched, .waiting):
            state = .starting(since: now)
            return [.setTimer(now + Self.probeInterval)]
        case (.launchFailed(let reason), .waiting):
            return fail(reason, at: now)
        case (.timerFired, .starting(let start)):
            return now - start > Self.startTimeout ? [.kill] : [.probe]
        case (.probed(isListening: false), .starting):
            return [.setTimer(now + Self.probeInterval)]
        case (.probed(isListening: true), .starting(let start)):
            state = .running(since: start)
            return [.ready]
        case (.ended(let how), .starting(let start)), (.ended(let how), .running(let start)):
            if now - start > Self.goodRun { backOff.reset() }
            return fail("mosquitto ended (\(how)); it is started again", at: now)
        case (.start, _), (.timerFired, _), (.launched, _), (.launchFailed, _), (.probed, _), (.ended, _):
            return []
        }
    }

    private mutating func fail(_ reason: String, at now: Instant) -> [Effect] {
        state = .waiting
        return [.setTimer(now + backOff.next()), .failed(reason)]
    }
}
