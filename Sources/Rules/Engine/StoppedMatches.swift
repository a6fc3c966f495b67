package import ButtonModel

/// A match of a rule that a gate stopped, for display.
package struct StoppedMatch: Hashable, Sendable {
    package var gate: Gate
    /// The reason, with the values that the gate saw.
    package var reason: String
    /// `nil` if the run was requested.
    package var button: ButtonID?
    package var event: String
    package var at: UTCTime
}

/// The newest matches that gates stopped, limited for each rule and in total.
struct StoppedMatches: Sendable {
    static let maximumPerRule = 50
    static let maximumCount = 10_000

    private var matches: [String: [StoppedMatch]] = [:]
    private(set) var count = 0

    /// The matches of a rule, the oldest first.
    subscript(rule: String) -> [StoppedMatch] { matches[rule] ?? [] }

    mutating func note(_ match: StoppedMatch, of rule: String) {
        matches[rule, default: []].append(match)
        count += 1
        if matches[rule, default: []].count > StoppedMatches.maximumPerRule {
            matches[rule]?.removeFirst()
            count -= 1
        }
        if count > StoppedMatches.maximumCount { makeRoom() }
    }

    mutating func forget(_ rule: String) { count -= matches.removeValue(forKey: rule)?.count ?? 0 }

    /// Keeps the newer half of the matches of each rule.
    private mutating func makeRoom() {
        matches = matches.compactMapValues { $0.count > 1 ? $0.suffix($0.count / 2) : nil }
        count = matches.values.reduce(0) { $0 + $1.count }
    }
}
