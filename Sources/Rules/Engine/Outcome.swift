/// What became of a rule at its latest chance. The raw value is the word used everywhere.
package enum Outcome: String, CaseIterable, Hashable, Sendable {
    case notMatched = "not_matched"
    /// And still going.
    case started
    case completed, failed, cancelled, interrupted
    case droppedQueued = "dropped_queued"
    case droppedConditions = "dropped_conditions"
    case droppedCooldown = "dropped_cooldown"
    case droppedRate = "dropped_rate"
    case droppedBusy = "dropped_busy"
    case disabled
}

/// Why a matching rule did not run, in the order in which it is asked.
package enum Gate: String, CaseIterable, Hashable, Sendable {
    case enabled = "disabled"
    case queued = "dropped_queued"
    case conditions = "dropped_conditions"
    case cooldown = "dropped_cooldown"
    case rateLimit = "dropped_rate"
    case mode = "dropped_busy"
}

/// How a run ended.
package enum RunResult: String, CaseIterable, Hashable, Sendable {
    case completed, failed, cancelled, interrupted
}
