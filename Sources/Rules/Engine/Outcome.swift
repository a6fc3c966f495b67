/// The latest result of a rule. The raw value is the name in MQTT messages, tests and on the command line.
package enum Outcome: String, CaseIterable, Hashable, Sendable {
    case notMatched = "not_matched"
    /// The run is still in progress.
    case started
    case completed, failed, cancelled, interrupted
    case droppedQueued = "dropped_queued"
    case droppedConditions = "dropped_conditions"
    case droppedCooldown = "dropped_cooldown"
    case droppedRate = "dropped_rate"
    case droppedBusy = "dropped_busy"
    case disabled
}

/// A check that a matching rule must pass before it runs, in the order of the checks. The raw value is the `Outcome` if
/// it fails.
package enum Gate: String, CaseIterable, Hashable, Sendable {
    case enabled = "disabled"
    case queued = "dropped_queued"
    case conditions = "dropped_conditions"
    case cooldown = "dropped_cooldown"
    case rateLimit = "dropped_rate"
    case mode = "dropped_busy"
}

/// The result of a run.
package enum RunResult: String, CaseIterable, Hashable, Sendable {
    case completed, failed, cancelled, interrupted
}
