package import ButtonModel

/// What happened in one run, step by step, for people.
package struct RunTrace: Hashable, Sendable {
    package struct Line: Hashable, Sendable {
        /// Since the run's start.
        package var after: Duration
        /// The step's alias, else its path: `actions[2].publish`.
        package var step: String
        /// `completed in 12ms`, `branch 1 false (states.lux = 31)`, `R821 did not finish within 30s`.
        package var text: String
        package var place: Place

        package init(after: Duration, step: String, text: String, place: Place = Place()) {
            self.after = after
            self.step = step
            self.text = text
            self.place = place
        }
    }

    /// Of one run; what comes after is counted only.
    package static let maximumLines = 200

    package var run: RunID
    package var rule: String
    package var occurrence: Occurrence
    package var startedAt: UTCTime
    /// `nil` while it goes on.
    package var result: RunResult?
    package var duration: Duration
    package var lines: [Line]
    package var omitted: Int
    /// Where the steps stand of which no line is here.
    package var omittedPlaces: Set<String>

    package init(run: RunID, rule: String, occurrence: Occurrence, startedAt: UTCTime) {
        self.run = run
        self.rule = rule
        self.occurrence = occurrence
        self.startedAt = startedAt
        result = nil
        duration = .zero
        lines = []
        omitted = 0
        omittedPlaces = []
    }
}

/// Which rules an event would start or did start, gate by gate.
package struct Explanation: Hashable, Sendable {
    package struct RuleVerdict: Hashable, Sendable {
        package var rule: String
        /// `nil`: it runs.
        package var stoppedBy: Gate?
        /// One for each gate that was asked: `conditions: states.lux < 20 is false (states.lux = 31)`.
        package var reasons: [String]
        package var place: Place

        package init(rule: String, stoppedBy: Gate?, reasons: [String], place: Place = Place()) {
            self.rule = rule
            self.stoppedBy = stoppedBy
            self.reasons = reasons
            self.place = place
        }
    }

    /// In document order; fallback rules after the others.
    package var verdicts: [RuleVerdict]
    /// Fallback rules that were not asked, since another took the event.
    package var notConsidered: [String]

    package init(verdicts: [RuleVerdict] = [], notConsidered: [String] = []) {
        self.verdicts = verdicts
        self.notConsidered = notConsidered
    }
}
