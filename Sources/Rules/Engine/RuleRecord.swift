/// Statistics of a rule since the start.
package struct RuleStatistics: Hashable, Sendable {
    /// The maximum number of durations.
    package static let maximumDurations = 100

    /// Counts by outcome; `started` counts all runs. The number of matches is the sum without `completed`, `failed`,
    /// `cancelled` and `interrupted`.
    package var counts: [Outcome: Int]
    package var conditionErrors: Int
    /// The durations of the last runs, at most 100, oldest first.
    package var durations: [Duration]

    package init() {
        counts = [:]
        conditionErrors = 0
        durations = []
    }

    mutating func add(duration: Duration) {
        if durations.count >= RuleStatistics.maximumDurations { durations.removeFirst() }
        durations.append(duration)
    }
}

/// The statistics and the latest outcome of a rule.
struct RuleRecord: Sendable {
    var statistics = RuleStatistics()
    var latest = Outcome.notMatched

    mutating func note(_ outcome: Outcome) {
        latest = outcome
        statistics.counts[outcome, default: 0] += 1
    }
}
