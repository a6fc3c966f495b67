import ButtonModel
import Expressions

/// The known values of a state whose topic has wildcards, by topic.
struct TopicMatches: Sendable {
    struct Match: Sendable {
        var value: Value
        /// The place in the order of arrival.
        var number: UInt64
        /// When the value becomes unknown.
        var expiry: Instant?
    }

    private(set) var known: [String: Match] = [:]
    private var nextNumber: UInt64 = 0
    /// True if a topic was ignored because there are too many. It is reported once for each set.
    private(set) var isFull = false

    /// Sets the value of a topic; `nil` for an unknown value, which takes no place.
    ///
    /// - Returns: true if the value is ignored, for the first time, because too many topics have a value.
    mutating func set(_ value: Value?, of topicName: String, until expiry: Instant?) -> Bool {
        guard let value else {
            known[topicName] = nil
            return false
        }
        guard known[topicName] != nil || known.count < DeclaredState.maximumMatches else {
            defer { isFull = true }
            return !isFull
        }
        known[topicName] = Match(value: value, number: nextNumber, expiry: expiry)
        nextNumber += 1
        return false
    }

    mutating func removeAll() { known = [:] }

    mutating func expire(at now: Instant) {
        known = known.filter { entry in entry.value.expiry.map { $0 > now } ?? true }
    }

    /// Counts the ages with another limit.
    mutating func changeMaximumAge(from before: Duration?, to age: Duration?, at now: Instant) {
        for (topicName, match) in known {
            // The arrival of a value without a limit is not known, so its age is counted from now.
            let arrival = match.expiry.flatMap { expiry in before.map { expiry - $0 } } ?? now
            known[topicName]?.expiry = age.map { arrival + $0 }
        }
    }

    var earliestExpiry: Instant? { known.values.compactMap(\.expiry).min() }

    /// The value of the state; `nil` if no topic has a known value.
    func value(_ combination: DeclaredState.Combination) -> Value? {
        guard let latest = known.values.max(by: { $0.number < $1.number }) else { return nil }
        switch combination {
        case .last: return latest.value
        case .count: return .integer(Int64(known.values.count { $0.value == .boolean(true) }))
        }
    }
}
