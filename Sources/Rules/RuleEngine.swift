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

    /// - Parameter nextRun: the number of the first run.
    package init(_ rules: RuleSet, nextRun: RunID = RunID(rawValue: 1)) {}

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] { [] }

    /// The name the rules have for this button.
    package func declaredName(of button: ButtonID) -> String? { nil }

    /// The gestures some rule waits for on this button, and the mode the rules fix for it.
    package func gesturesUsed(on button: ButtonID) -> Set<Gesture> { [] }
    package func fixedTriggerMode(of button: ButtonID) -> TriggerMode? { nil }
    /// The policy for events no rule looks at, such as those for MQTT: the button's, else the default.
    package func queuedPolicy(of button: ButtonID) -> QueuedPolicy { .standard }
}
