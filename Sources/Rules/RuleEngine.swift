package import ButtonModel

/// One event of one button, as rules see it.
package struct Occurrence: Hashable, Sendable {
    package var button: ButtonID
    package var event: TriggerEvent
    package var wasQueued: Bool
    /// The last of the events the button had stored.
    package var wasQueuedLast: Bool
    package var age: Duration
    /// The wall clock at the press itself; texts for the environment of programs come from here.
    package var at: UTCTime

    package init(
        button: ButtonID, event: TriggerEvent, wasQueued: Bool = false, wasQueuedLast: Bool = false,
        age: Duration = .zero, at: UTCTime = UTCTime(milliseconds: 0)
    ) {
        self.button = button
        self.event = event
        self.wasQueued = wasQueued
        self.wasQueuedLast = wasQueuedLast
        self.age = age
        self.at = at
    }
}

/// A run of a rule; counts up from 1 and is never used again, restarts included.
package struct RunID: RawRepresentable, Hashable, Comparable, Sendable {
    package var rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (left: RunID, right: RunID) -> Bool { left.rawValue < right.rawValue }
}

/// One step of one run.
package struct StepID: Hashable, Sendable {
    package var run: RunID
    /// From 0, in the order of the file.
    package var index: Int
    package init(run: RunID, index: Int) {
        self.run = run
        self.index = index
    }
}

/// Why a matching rule did not run.
package enum Gate: String, Hashable, Sendable {
    case queued = "dropped_queued"
    case rateLimit = "dropped_rate"
    case mode = "dropped_busy"
}

/// How a step ended.
package enum StepOutcome: Hashable, Sendable {
    case completed
    /// `R821`, `R822`, `R824` and a sentence.
    case failed(code: String, message: String)
}

/// Which rules an event starts, and how their runs proceed.
///
/// An event meets the rules that wait for it, in the order of the file. Each passes its gates, `queued`, then
/// `rate_limit`, then `mode`, or is stopped at the first that says no; the others are not touched by it. A rule
/// has at most one run at a time. The steps of a run follow one another; a step that fails, or is still going
/// when its time is up, ends the run.
///
/// | on                                     | a rule that matches, or its run | and we                                  |
/// |----------------------------------------|---------------------------------|-----------------------------------------|
/// | event, stored and not to be acted on   | any                             | stopped(`dropped_queued`)               |
/// | event, stored, `keep: last`            | any                             | keep it; stop the one kept before       |
/// | the last stored event, 500 ms without one, or a live event | keeps one   | go on with it at the next gate          |
/// | event, 600 runs began in this minute   | any                             | stopped(`dropped_rate`)                 |
/// | event                                  | has a run, or 1 000 runs go on  | stopped(`dropped_busy`)                 |
/// | event                                  | has no run                      | started, perform its steps up to one that takes time |
/// | step finished, completed               | waits for this step             | perform the next steps, or finished     |
/// | step finished, failed                  | waits for this step             | stepFailed, finished(completed: false)  |
/// | timer, at the step's deadline          | waits                           | cancel, stepFailed(`R821`), finished(completed: false) |
///
/// Every other answer is ignored: a run's number is never used again. Of an event and a timer at the same
/// instant the caller hands the event in first.
package struct RuleEngine: Sendable {
    package enum Input: Hashable, Sendable {
        /// The buttons that exist now; names in rules are resolved against them.
        case buttonsChanged([ButtonIdentity])
        case occurred(Occurrence)
        case stepFinished(StepID, StepOutcome)
        case timerFired
    }

    package enum Effect: Hashable, Sendable {
        /// The rule's run has begun. It stands before the run's first `perform`.
        case started(RunID, rule: String, Occurrence)
        case stopped(rule: String, Gate, Occurrence)
        /// Carry this out and answer with `stepFinished` (a `log` needs no answer).
        case perform(StepID, Action, rule: String, Occurrence)
        /// Give the step up; its answer, if one still comes, is ignored.
        case cancel(StepID)
        case stepFailed(StepID, rule: String, code: String, message: String)
        case finished(RunID, rule: String, completed: Bool)
        case setTimer(Instant)
        case cancelTimer
    }

    /// Runs of all rules together, at most; a match beyond that is dropped as busy.
    package static let maximumRuns = 1000

    private let rules: [Rule]
    private var index: RuleIndex
    private var runs: [RunID: Run] = [:]
    /// By rule: the run it has.
    private var runOfRule: [Int: RunID] = [:]
    private var rates: [Int: RateWindow] = [:]
    private var kept = KeptEvents()
    private var nextRun: RunID
    private var timer: Instant?

    /// - Parameter nextRun: the number of the first run.
    package init(_ rules: RuleSet, nextRun: RunID = RunID(rawValue: 1)) {
        self.rules = rules.rules
        self.nextRun = nextRun
        index = RuleIndex(rules)
    }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        var effects: [Effect] = []
        switch input {
        case .buttonsChanged(let buttons):
            index.resolve(against: buttons)
        case .occurred(let occurrence):
            occurred(occurrence, at: now, &effects)
        case .stepFinished(let step, let outcome):
            finish(step, outcome, at: now, &effects)
        case .timerFired:
            timer = nil
            timerFired(at: now, &effects)
        }
        updateTimer(&effects)
        return effects
    }

    /// The name the rules have for this button: the first that fits.
    package func declaredName(of button: ButtonID) -> String? { index[button].declared?.name }

    /// The gestures some rule waits for on this button; rules for `any` button count.
    package func gesturesUsed(on button: ButtonID) -> Set<Gesture> { index[button].gestures }

    /// The mode the rules fix for this button; `nil`: derived from `gesturesUsed`.
    package func fixedTriggerMode(of button: ButtonID) -> TriggerMode? { index[button].declared?.triggerMode }

    /// The policy for events no rule looks at, such as those for MQTT: the button's, else the default.
    package func queuedPolicy(of button: ButtonID) -> QueuedPolicy { index[button].declared?.queued ?? .standard }
}

// MARK: - Gates

extension RuleEngine {
    private mutating func occurred(_ occurrence: Occurrence, at now: Instant, _ effects: inout [Effect]) {
        if occurrence.wasQueued {
            kept.extend(occurrence.button, at: now)
        } else {
            // A live event says that the stored ones have all been delivered.
            decide(kept.take(of: occurrence.button), at: now, &effects)
        }
        let entry = index[occurrence.button]
        for rule in entry.rules(for: occurrence.event) {
            let policy = rules[rule].queued ?? entry.declared?.queued ?? .standard
            guard policy.admits(queued: occurrence.wasQueued, age: occurrence.age) else {
                effects.append(.stopped(rule: rules[rule].id, .queued, occurrence))
                continue
            }
            if occurrence.wasQueued, case .limited(_, keepLast: true) = policy {
                if let earlier = kept.keep(occurrence, for: rule, at: now) {
                    effects.append(.stopped(rule: rules[rule].id, .queued, earlier))
                }
            } else {
                start(rule, occurrence, at: now, &effects)
            }
        }
        if occurrence.wasQueued, occurrence.wasQueuedLast {
            // The gesture a last `up` completes comes after that `up`: only it ends the wait of a rule for gestures.
            let isGesture = if case .gesture = occurrence.event { true } else { false }
            decide(
                kept.take(of: occurrence.button) { isGesture || !index.waitsForGestures($0) }, at: now, &effects)
        }
    }

    private mutating func decide(_ events: [KeptEvents.Kept], at now: Instant, _ effects: inout [Effect]) {
        for event in events { start(event.rule, event.occurrence, at: now, &effects) }
    }

    private mutating func start(_ rule: Int, _ occurrence: Occurrence, at now: Instant, _ effects: inout [Effect]) {
        guard rates[rule, default: RateWindow()].hasRoom(at: now) else {
            effects.append(.stopped(rule: rules[rule].id, .rateLimit, occurrence))
            return
        }
        guard runOfRule[rule] == nil, runs.count < RuleEngine.maximumRuns else {
            effects.append(.stopped(rule: rules[rule].id, .mode, occurrence))
            return
        }
        rates[rule, default: RateWindow()].record(now)
        let id = nextRun
        nextRun.rawValue &+= 1
        effects.append(.started(id, rule: rules[rule].id, occurrence))
        proceed(id, Run(rule: rule, occurrence: occurrence), at: now, &effects)
    }
}

// MARK: - Runs

extension RuleEngine {
    private struct Run {
        var rule: Int
        var occurrence: Occurrence
        /// The step to perform next, or the one it waits for.
        var step = 0
        var deadline = Instant(nanoseconds: .max)
    }

    /// Performs steps until one takes time or none is left.
    private mutating func proceed(_ id: RunID, _ run: Run, at now: Instant, _ effects: inout [Effect]) {
        var run = run
        let rule = rules[run.rule]
        while run.step < rule.actions.count {
            let action = rule.actions[run.step]
            effects.append(.perform(StepID(run: id, index: run.step), action, rule: rule.id, run.occurrence))
            if let limit = action.timeLimit {
                run.deadline = now + limit
                runs[id] = run
                runOfRule[run.rule] = id
                return
            }
            run.step += 1
        }
        end(id, run, completed: true, &effects)
    }

    private mutating func end(_ id: RunID, _ run: Run, completed: Bool, _ effects: inout [Effect]) {
        runs[id] = nil
        runOfRule[run.rule] = nil
        effects.append(.finished(id, rule: rules[run.rule].id, completed: completed))
    }

    private mutating func finish(
        _ step: StepID, _ outcome: StepOutcome, at now: Instant, _ effects: inout [Effect]
    ) {
        guard var run = runs[step.run], run.step == step.index else { return }
        switch outcome {
        case .completed:
            run.step += 1
            proceed(step.run, run, at: now, &effects)
        case .failed(let code, let message):
            effects.append(.stepFailed(step, rule: rules[run.rule].id, code: code, message: message))
            end(step.run, run, completed: false, &effects)
        }
    }

    private mutating func timerFired(at now: Instant, _ effects: inout [Effect]) {
        decide(kept.take(silentAt: now), at: now, &effects)
        let overdue = runs.filter { $0.value.deadline <= now }.sorted {
            ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key)
        }
        for (id, run) in overdue {
            let step = StepID(run: id, index: run.step)
            let action = rules[run.rule].actions[run.step]
            let seconds = (action.timeLimit ?? .zero).milliseconds / 1000
            effects.append(.cancel(step))
            effects.append(
                .stepFailed(
                    step, rule: rules[run.rule].id, code: "R821",
                    message: "\(action.word) did not finish within \(seconds)s"))
            end(id, run, completed: false, &effects)
        }
    }

    private mutating func updateTimer(_ effects: inout [Effect]) {
        // At most `maximumRuns` deadlines: looking at all of them costs less than keeping them in order.
        var next = kept.nextDeadline
        for run in runs.values where next.map({ run.deadline < $0 }) ?? true { next = run.deadline }
        guard next != timer else { return }
        timer = next
        effects.append(next.map(Effect.setTimer) ?? .cancelTimer)
    }
}

extension Action {
    /// How long the step may take from the moment it is performed; `nil` for one that is done at once.
    ///
    /// A message may wait for the broker until it is too old, and then five seconds for the acknowledgement.
    fileprivate var timeLimit: Duration? {
        switch self {
        case .publish(let publish): publish.maximumAge + .seconds(5)
        case .process: .seconds(30)
        case .log: nil
        }
    }
}
