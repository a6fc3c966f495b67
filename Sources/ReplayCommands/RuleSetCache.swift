import Hub
import Rules

/// Loads the rules of a recording. Every segment of a history repeats them, so the latest are kept.
struct RuleSetCache {
    private var latest: (rules: RecordedRules, set: RuleSet)?

    mutating func set(_ rules: RecordedRules?) throws(ReplayRun.UnreadableRules) -> RuleSet {
        if let latest, latest.rules == rules { return latest.set }
        let set = try ReplayRun.load(rules)
        if let rules { latest = (rules, set) }
        return set
    }
}
