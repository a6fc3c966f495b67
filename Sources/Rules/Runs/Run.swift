import ButtonModel
import Expressions

/// A run of a rule, from its first step to its last.
///
/// A run executes steps until it must wait, and continues when the event that it waits for arrives. It contains neither
/// steps nor expressions, but finds them in `World.set` by its rule and its frames. A reload that does not change the
/// rule therefore does not change the run.
///
/// | waits for              | input                           | effect                                                |
/// |------------------------|---------------------------------|-------------------------------------------------------|
/// | a result               | the result, as expected         | save it, continue                                     |
/// | a result               | any other result                | wait for the next attempt, or fail the step           |
/// | a message's result     | handed over                     | start the time limit                                  |
/// | a result               | timer, at the deadline          | cancel the action; next attempt, or fail with R821    |
/// | the next attempt       | timer                           | perform the same action again                         |
/// | the end of a delay     | timer                           | continue                                              |
/// | a condition (`until`)  | world changed, and it is true   | continue                                              |
/// | a condition (`until`)  | timer                           | evaluate it once more, then run `else`, or fail, R821 |
/// | an event (`wait_for`)  | the event                       | save it, run `then`, continue                         |
/// | an event (`wait_for`)  | timer                           | run `else`, continue                                  |
/// | the tick of a repeat   | timer                           | begin an iteration, or at the limit end the repeat    |
/// | the tick of a repeat   | released, if `while: held`      | end the repeat                                        |
/// | any                    | cancel                          | cancel the action, and end as cancelled               |
///
/// All other inputs are ignored, also after the end. A message with QoS 0 is complete when it is handed over, so the
/// run does not wait for it while the broker is connected.
///
/// If a step fails, the run continues after the innermost step with `continue_on_error`, which may be the failed step
/// itself. Without such a step, `on_error` is executed, once, and the run ends as failed.
///
/// In a dry run, actions are not performed and succeed immediately, and variables, cycles and `enabled` are not
/// changed. Delays, waits and repeats take their time.
///
/// - Source: rules/README.md, "Steps", "When a step fails", "Restart and reload".
struct Run: Sendable {
    /// The maximum depth of nested lists of steps at the call of a script. The lists of one file are nested less deep.
    static let maximumDepth = 64
    /// The maximum number of steps without waiting. Scripts that call each other twice can execute very many steps.
    static let maximumStepsAtOnce = 10_000
    /// The maximum number of messages that a run hands over without waiting. The run waits until the next message is
    /// sent, because all rules share the queue of outgoing messages.
    static let maximumHandedOverAtOnce = 100

    let id: RunID
    /// An index in `RuleSet.rules`, updated by a reload.
    var rule: Int
    let cause: RunCause
    /// True if the run evaluates and traces all steps, but performs nothing and keeps all variables.
    let isDryRun: Bool
    var trace: RunTrace
    /// `nil` while the run is in progress.
    var result: RunResult?

    var startedAt: Instant
    /// When the run was added, perhaps to a queue.
    var addedAt: Instant
    /// When a press or a turn of each button has continued the run last.
    var continued: [ButtonID: Instant] = [:]
    /// From the outermost to the innermost; empty after the end.
    var frames = [Frame(part: .actions)]
    /// The locals of the rule, followed by those of each script call in progress.
    var locals: [Locals]
    var waiting: Waiting?
    /// How much later the present wait ends than in a replay. The wait began when a timer fired late, and in a replay each timer
    /// fires exactly at its deadline.
    var lateness = Duration.zero
    /// The index of the next action in its `ActionID`.
    var nextStep = 0
    /// The sum of all delays of the run until now.
    var delayed = Duration.zero
    /// The number of messages that were handed over since the run last waited.
    var handedOverCount = 0
    /// The failure that `on_error` handles; `nil` before a failure.
    var error: ErrorFacts?

    enum Waiting: Hashable, Sendable {
        /// The deadline of a message is `nil` until the message is handed over.
        case result(Attempt, deadline: Instant?)
        case retry(Attempt, at: Instant)
        case delay(until: Instant)
        /// - Parameter nextEvaluation: when to evaluate the condition again, if it depends on the time.
        case condition(since: Instant, until: Instant, nextEvaluation: Instant?)
        case event(EventWait)
        case tick(at: Instant)
    }

    /// An attempt at an action.
    struct Attempt: Hashable, Sendable {
        var step: ActionID
        /// The same for all attempts of a step.
        var action: Action
        /// The number of attempts before this one.
        var failures: Int
        var startedAt: Instant
    }

    /// When `timerFired` must be called.
    var deadline: Instant? {
        switch waiting {
        case nil: nil
        case .result(_, let deadline): deadline
        case .retry(_, let instant), .delay(let instant), .tick(let instant): instant
        case .condition(_, let until, let nextEvaluation): min(until, nextEvaluation ?? until)
        case .event(let wait): wait.deadline
        }
    }

    /// When the present wait ends if nothing else continues the run.
    var waitEnd: Instant? {
        switch waiting {
        case .condition(_, let until, _): until
        case .event(let wait): wait.until
        case .result, .retry, .delay, .tick, nil: deadline
        }
    }

    /// True if the run waits for the next time of a repetition with `every`.
    var isBetweenTicks: Bool { if case .tick = waiting { true } else { false } }

    /// The deadline as a replay has it.
    var exactDeadline: Instant? { deadline == waitEnd ? deadline.map { $0 + (.zero - lateness) } : deadline }

    /// True if the run is in a `wait` or `wait_for`, so that a change or an event may continue it.
    var isWaitingForWorld: Bool {
        switch waiting {
        case .condition, .event: true
        case .result, .retry, .delay, .tick, nil: false
        }
    }

    /// True if the run is in a `repeat: while: held`, and its button has not been released.
    var isRepeatingWhileHeld: Bool {
        frames.contains {
            if case .iteration(let repetition) = $0.part {
                repetition.isWhileHeld && !repetition.isReleased
            } else {
                false
            }
        }
    }

    init(_ id: RunID, rule: Int, _ cause: RunCause, isDryRun: Bool, in world: World, at now: Instant) {
        self.id = id
        self.rule = rule
        self.cause = cause
        self.isDryRun = isDryRun
        startedAt = now
        addedAt = now
        let declared = world.set.rules[rule]
        locals = [Locals(resultCount: declared.resultCount)]
        trace = RunTrace(run: id, rule: declared.id, cause: cause, startedAt: world.wallClock(at: now))
    }
}

// Inputs. After each, the run executes steps until it waits or ends. It adds the effects `.perform`, `.cancel` and
// `.stepFailed`; the engine adds `.started`, `.finished` and `.store`.
extension Run {
    typealias Effect = RuleEngine.Effect

    mutating func begin(in world: inout World, at now: Instant, _ effects: inout [Effect]) {
        proceed(in: &world, at: now, &effects)
    }

    /// Starts the time limit of a message that was handed over to the broker.
    mutating func handedOver(_ step: ActionID, in world: inout World, at now: Instant, _ effects: inout [Effect]) {
        guard case .result(let attempt, nil) = waiting, attempt.step == step else { return }
        guard let current = currentStep(in: world) else { return }
        waiting = .result(attempt, deadline: now + timeout(of: current))
    }

    mutating func actionFinished(
        _ step: ActionID, _ outcome: ActionResult, in world: inout World, at now: Instant, _ effects: inout [Effect]
    ) {
        guard case .result(let attempt, _) = waiting, attempt.step == step else { return }
        waiting = nil
        attemptFinished(attempt, outcome, in: world, at: now, &effects)
        proceed(in: &world, at: now, &effects)
    }

    mutating func timerFired(in world: inout World, at now: Instant, _ effects: inout [Effect]) {
        guard let deadline, deadline <= now, let waiting else { return }
        switch waiting {
        case .result(let attempt, _):
            self.waiting = nil
            effects.append(.cancel(attempt.step))
            timedOut(attempt, in: world, at: now, &effects)
        case .retry(let attempt, _):
            perform(attempt.action, failures: attempt.failures, in: world, at: now, &effects)
        case .delay:
            self.waiting = nil
            completed(in: world, at: now)
        case .condition: evaluateWait(in: &world, at: now, &effects)
        case .event: eventDidNotHappen(in: world, at: now)
        case .tick: tick(in: world, at: now)
        }
        proceed(in: &world, at: now, &effects)
    }

    mutating func worldChanged(in world: inout World, at now: Instant, _ effects: inout [Effect]) {
        guard case .condition = waiting else { return }
        evaluateWait(in: &world, at: now, &effects)
        proceed(in: &world, at: now, &effects)
    }

    /// Ends `repeat: while: held` after its current iteration, because the button was released or its link was lost.
    mutating func released(in world: inout World, at now: Instant, _ effects: inout [Effect]) {
        release()
        if endReleasedRepeat(in: world, at: now) { proceed(in: &world, at: now, &effects) }
    }

    /// Cancels the run without executing `on_error`.
    mutating func cancel(
        because reason: CancelReason, in world: inout World, at now: Instant, _ effects: inout [Effect]
    ) {
        guard result == nil else { return }
        if case .result(let attempt, _) = waiting { effects.append(.cancel(attempt.step)) }
        if let step = currentStep(in: world) { note(step, reason.text, at: now) }
        end(.cancelled, at: now)
    }
}
