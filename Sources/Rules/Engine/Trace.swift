package import ButtonModel

/// The trace of a run: what each step did, for display.
package struct RunTrace: Hashable, Sendable {
    package struct Line: Hashable, Sendable {
        /// The time since the start of the run.
        package var after: Duration
        /// The step's alias, or else its path, such as `actions[2].publish`.
        package var step: String
        /// The result, such as `completed in 12ms`, `branch 1 false (states.lux = 31)` or `R821 did not finish within
        /// 30s`.
        package var text: String
        package var location: SourceLocation

        package init(after: Duration, step: String, text: String, location: SourceLocation = SourceLocation()) {
            self.after = after
            self.step = step
            self.text = text
            self.location = location
        }
    }

    /// The maximum number of lines of a run; further lines are only counted.
    package static let maximumLines = 200

    package var run: RunID
    package var rule: String
    package var cause: RunCause
    package var startedAt: UTCTime
    /// `nil` while the run is in progress.
    package var result: RunResult?
    package var duration: Duration
    package var lines: [Line]
    package var omitted: Int
    /// The locations of the steps whose lines were omitted.
    package var omittedLocations: Set<String>

    package init(run: RunID, rule: String, cause: RunCause, startedAt: UTCTime) {
        self.run = run
        self.rule = rule
        self.cause = cause
        self.startedAt = startedAt
        result = nil
        duration = .zero
        lines = []
        omitted = 0
        omittedLocations = []
    }
}

/// The rules that an event triggers, with the result of each gate.
package struct Explanation: Hashable, Sendable {
    package struct RuleExplanation: Hashable, Sendable {
        package var rule: String
        /// The gate that stopped the rule; `nil` if it runs.
        package var stoppedBy: Gate?
        /// A reason for each gate that was checked, such as `conditions: states.lux < 20 is false (states.lux = 31)`.
        package var reasons: [String]
        /// A line for each step that the rule would perform, if it runs: `actions[0].choose: branch 1 true: states.lux
        /// < 20 is true (states.lux = 3)`.
        package var steps: [String] = []
        package var location: SourceLocation

        package init(rule: String, stoppedBy: Gate?, reasons: [String], location: SourceLocation = SourceLocation()) {
            self.rule = rule
            self.stoppedBy = stoppedBy
            self.reasons = reasons
            self.location = location
        }
    }

    /// In document order, fallback rules after the others.
    package var verdicts: [RuleExplanation]
    /// Fallback rules that were not checked, because another rule handled the event.
    package var notConsidered: [String]
    /// When the rules with `at` triggers are started next, for an explanation of times; the earliest comes first.
    package var nextTimes: [NextTime] = []

    /// The next time of the `at` triggers of a rule.
    package struct NextTime: Hashable, Sendable {
        package var rule: String
        /// The local time, as `trigger.at` has it.
        package var at: String
    }

    package init(verdicts: [RuleExplanation] = [], notConsidered: [String] = []) {
        self.verdicts = verdicts
        self.notConsidered = notConsidered
    }
}
