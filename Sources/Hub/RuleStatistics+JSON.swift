import ButtonModel
import JSON
import Rules

extension RuleStatistics {
    /// The number of runs by outcome, and percentiles of the durations of the last hundred runs.
    var json: JSONValue {
        var members = Outcome.allCases.map { outcome in
            JSONValue.Member(outcome.rawValue, .integer(Int64(counts[outcome] ?? 0)))
        }
        let matched = counts.reduce(0) { sum, entry in
            switch entry.key {
            case .notMatched, .completed, .failed, .cancelled, .interrupted: sum
            case .started, .droppedQueued, .droppedConditions, .droppedCooldown, .droppedRate, .droppedBusy, .disabled:
                sum + entry.value
            }
        }
        members.removeAll { $0.name == Outcome.notMatched.rawValue }
        members.insert(.init("matched", .integer(Int64(matched))), at: 0)
        members.append(.init("condition_error", .integer(Int64(conditionErrors))))
        let sorted = durations.sorted()
        if let longest = sorted.last {
            members.append(.init("p50_ms", .integer(sorted[sorted.count / 2].milliseconds)))
            members.append(
                .init("p95_ms", .integer(sorted[min(sorted.count - 1, sorted.count * 95 / 100)].milliseconds)))
            members.append(.init("max_ms", .integer(longest.milliseconds)))
        }
        return .object(members)
    }
}
