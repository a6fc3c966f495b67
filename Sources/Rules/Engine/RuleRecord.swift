/// What a rule has done since the start.
package struct RuleStatistics: Hashable, Sendable {
    /// How many durations are kept.
    package static let maximumDurations = 100

    /// By outcome; `started` counts all that ever did. Matches are all of them but `completed`, `failed`, `cancelled`, `interrupted`.
    package var counts: [Outcome: Int]
    package var conditionErrors: Int
    /// Durations of the last runs, at most 100, the oldest first.
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

/// What is told about one rule.
struct RuleRecord: Sendable {
    var statistics = RuleStatistics()
    var latest = Outcome.notMatched

    mutating func note(_ outcome: Outcome) {
        latest = outcome
        statistics.counts[outcome, default: 0] += 1
    }
}
