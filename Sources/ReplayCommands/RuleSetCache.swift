import ButtonModel
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

/// Why a part of a history cannot be replayed.
///
/// - Parameters:
///   - error: of loading the rules of that time, or of the house.
///   - time: when the part begins.
/// - Returns: a sentence without its full stop.
func gap(_ error: any Error, at time: UTCTime?) -> String {
    let part = "the history from \(time.map { "\($0)" } ?? "its beginning") on is left out"
    return switch error {
    case let rules as ReplayRun.UnreadableRules:
        "\(part), because this version cannot read the rules of that time: \(rules.reason)"
    case ReplayedHouse.Failure.badTime: "\(part), because its times are not in order"
    case ReplayedHouse.Failure.endless: "\(part), because its rules go on without end"
    default: "\(part): \(error)"
    }
}
