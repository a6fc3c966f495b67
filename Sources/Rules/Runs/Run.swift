import ButtonModel
import Expressions

/// One run of a rule, from its first step to its last.
///
/// A run goes on by itself until it has to wait; what it then waits for is the only thing that moves it. It holds no step
/// and no expression: it finds them in the world's set by its rule and its frames, so that a reload that leaves its rule
/// as it was leaves the run as it was.
///
/// | waits for              | on                              | and we                                                |
/// |------------------------|---------------------------------|-------------------------------------------------------|
/// | an answer              | it, and it is what was expected | save its result, go on                                |
/// | an answer              | any other                       | wait to try again, or the step fails                  |
/// | an answer to a message | handed over                     | begin to count its timeout                            |
/// | an answer              | timer, at the deadline          | cancel it; wait to try again, or fail with R821       |
/// | its next attempt       | timer                           | perform the same action again                         |
/// | the end of a delay     | timer                           | go on                                                 |
/// | `until`                | world changed, and it holds     | go on                                                 |
/// | `until`                | timer                           | look once more, then fail with R821                   |
/// | the tick of a repeat   | timer                           | begin an iteration; at its limit, go on behind it     |
/// | the tick of a repeat   | released, if it is while held   | go on behind it                                       |
/// | anything               | cancel                          | cancel what was performed; it ends as cancelled       |
///
/// A message with QoS 0 is done as soon as it is handed over: while the broker is connected the run goes straight on.
///
/// Every other pair is ignored. A step that fails ends the innermost step around it that continues on errors, itself
/// included; without one `on_error` follows, once, and the run ends as failed. After its end nothing happens any more.
///
/// In a dry run actions succeed at once and are not performed, variables keep their values, cycles do not move, and
/// rules stay as enabled as they are; delays, waits and repeats take their time.
///
/// - Source: rule language, 4.8, 6.2, 6.4, 6.6 to 6.8.
struct Run: Sendable {
    /// A script is called with at most so many lists of steps around it. The lists of one file are nested less deep.
    static let maximumDepth = 64
    /// Steps without waiting in between: scripts that call one another twice each get far with few lines.
    static let maximumStepsAtOnce = 10_000
    /// Messages that a run hands over without waiting in between. For the next one it waits until the network has taken it:
    /// the places for messages on their way are for all rules together.
    static let maximumHandedOverAtOnce = 100

    let id: RunID
    /// A place in `RuleSet.rules`; a reload moves it.
    var rule: Int
    let cause: RunCause
    /// Evaluates and traces everything and performs nothing; variables keep their values.
    let isDryRun: Bool
    var trace: RunTrace
    /// `nil` while it goes on.
    var result: RunResult?

    var startedAt: Instant
    /// From the outside in; empty once it has ended.
    var frames = [Frame(part: .actions)]
    /// Of the rule, then of every call of a script that goes on.
    var locals: [Locals]
    var waiting: Waiting?
    /// The number of the next action.
    var nextStep = 0
    /// How long it was told to wait so far.
    var delayed = Duration.zero
    /// Messages that were handed over since the run last waited.
    var handedOverCount = 0
    /// What `on_error` answers.
    var error: ErrorFacts?

    enum Waiting: Hashable, Sendable {
        /// Of a message the deadline is known when it was handed over.
        case answer(Attempt, deadline: Instant?)
        case retry(Attempt, at: Instant)
        case delay(until: Instant)
        /// - Parameter looksAt: for what changes with the time alone.
        case condition(since: Instant, until: Instant, looksAt: Instant?)
        case tick(at: Instant)
    }

    /// One go at an action.
    struct Attempt: Hashable, Sendable {
        var step: StepID
        /// Further attempts are the same action.
        var action: Action
        /// Attempts before this one.
        var failures: Int
        var startedAt: Instant
    }

    /// When `timerFired` is wanted.
    var deadline: Instant? {
        switch waiting {
        case nil: nil
        case .answer(_, let deadline): deadline
        case .retry(_, let instant), .delay(let instant), .tick(let instant): instant
        case .condition(_, let until, let looksAt): min(until, looksAt ?? until)
        }
    }

    /// It stands in a `wait`: `worldChanged` is wanted.
    var isWaitingForWorld: Bool {
        if case .condition = waiting { true } else { false }
    }

    /// It stands in a `repeat: while: held`, and has not heard yet that the button was let go.
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
        let declared = world.set.rules[rule]
        locals = [Locals(resultCount: declared.resultCount)]
        trace = RunTrace(run: id, rule: declared.id, cause: cause, startedAt: world.wallClock(at: now))
    }
}

// Each goes on until the run waits for something, or ends. `.perform`, `.cancel` and `.stepFailed` come out here;
// `.started`, `.finished` and what is kept are the engine's.
extension Run {
    typealias Effect = RuleEngine.Effect

    mutating func begin(in world: inout World, at now: Instant, _ effects: inout [Effect]) {
        proceed(in: &world, at: now, &effects)
    }

    /// The broker has the message: from here its timeout counts.
    mutating func handedOver(_ step: StepID, in world: inout World, at now: Instant, _ effects: inout [Effect]) {
        guard case .answer(let attempt, nil) = waiting, attempt.step == step else { return }
        guard let current = currentStep(in: world) else { return }
        waiting = .answer(attempt, deadline: now + timeout(of: current))
    }

    mutating func stepFinished(
        _ step: StepID, _ outcome: StepOutcome, in world: inout World, at now: Instant, _ effects: inout [Effect]
    ) {
        guard case .answer(let attempt, _) = waiting, attempt.step == step else { return }
        waiting = nil
        answered(attempt, outcome, in: world, at: now, &effects)
        proceed(in: &world, at: now, &effects)
    }

    mutating func timerFired(in world: inout World, at now: Instant, _ effects: inout [Effect]) {
        guard let deadline, deadline <= now, let waiting else { return }
        switch waiting {
        case .answer(let attempt, _):
            self.waiting = nil
            effects.append(.cancel(attempt.step))
            timedOut(attempt, in: world, at: now, &effects)
        case .retry(let attempt, _):
            perform(attempt.action, failures: attempt.failures, in: world, at: now, &effects)
        case .delay:
            self.waiting = nil
            completed(in: world, at: now)
        case .condition: look(in: &world, at: now, &effects)
        case .tick: tick(in: world, at: now)
        }
        proceed(in: &world, at: now, &effects)
    }

    mutating func worldChanged(in world: inout World, at now: Instant, _ effects: inout [Effect]) {
        guard isWaitingForWorld else { return }
        look(in: &world, at: now, &effects)
        proceed(in: &world, at: now, &effects)
    }

    /// The button was let go, or its link was lost: `repeat: while: held` ends after what it is doing.
    mutating func released(in world: inout World, at now: Instant, _ effects: inout [Effect]) {
        release()
        if endReleasedRepeat(in: world, at: now) { proceed(in: &world, at: now, &effects) }
    }

    /// `on_error` does not run.
    mutating func cancel(in world: inout World, at now: Instant, _ effects: inout [Effect]) {
        guard result == nil else { return }
        if case .answer(let attempt, _) = waiting { effects.append(.cancel(attempt.step)) }
        if let step = currentStep(in: world) { note(step, "cancelled", at: now) }
        end(.cancelled, at: now)
    }
}
