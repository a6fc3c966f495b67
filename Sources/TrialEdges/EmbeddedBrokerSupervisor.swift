import ButtonModel
import Edges

/// Decides when `EmbeddedBroker` starts mosquitto, probes its socket, kills it after a timeout, and restarts it.
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
/// The owner performs `launch` and `probe` after all other effects, and answers each with an input.
struct EmbeddedBrokerSupervisor: Sendable {
    enum Input: Hashable, Sendable {
        case start
        case stop
        case launched
        /// No process was started, for a reason that is a sentence for the user.
        case launchFailed(String)
        case probed(isListening: Bool)
        /// The process ended, with this status or signal.
        case ended(String)
        case timerFired
    }

    enum Effect: Hashable, Sendable {
        case launch
        case probe
        /// Kill the process; its end is reported as `ended`.
        case kill
        /// End the process if there is one; its end is not reported.
        case end
        case ready
        case failed(String)
        case setTimer(Instant)
        case cancelTimer
    }

    static let startTimeout: Duration = .seconds(10)
    static let probeInterval: Duration = .milliseconds(20)
    /// After a run that lasted longer, the back-off starts again at its minimum.
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
            return fail("mosquitto ended (\(how)); it will be restarted", at: now)
        case (.start, _), (.timerFired, _), (.launched, _), (.launchFailed, _), (.probed, _), (.ended, _):
            return []
        }
    }

    private mutating func fail(_ reason: String, at now: Instant) -> [Effect] {
        state = .waiting
        return [.setTimer(now + backOff.next()), .failed(reason)]
    }
}
