import ButtonModel
import Expressions

/// The `state` triggers with `for` whose value has come and has not lasted long enough yet.
struct StateCounts: Sendable {
    struct Key: Hashable, Sendable {
        var match: RuleIndex.Match
        /// An index in `RuleSet.states`.
        var state: Int
    }

    struct Count: Hashable, Sendable {
        /// The key in `RuleState.dailyTimes`.
        var storedKey: String
        /// The value before the change; `nil` if the count began in an earlier process.
        var old: Value?
        /// The value with which the count began.
        var first: Value
    }

    private(set) var counts: [Key: Count] = [:]
    private var deadlines = Deadlines<Key>()
    /// The stored keys of counts of an earlier process, whose states are not known yet.
    var restored: Set<String> = []

    subscript(key: Key) -> Count? { counts[key] }
    var nextDeadline: Instant? { deadlines.earliest }
    var isEmpty: Bool { counts.isEmpty && restored.isEmpty }

    mutating func begin(_ key: Key, _ count: Count, until deadline: Instant) {
        counts[key] = count
        deadlines.set(key, at: deadline)
    }

    mutating func end(_ key: Key) -> Count? {
        deadlines.cancel(key)
        return counts.removeValue(forKey: key)
    }

    /// Ends and returns the counts that are complete, in the order of their deadlines, then of the file.
    mutating func takeDue(at now: Instant) -> [(key: Key, count: Count)] {
        var due: [(key: Key, at: Instant)] = []
        for key in deadlines.keys {
            guard let at = deadlines.deadline(of: key), at <= now else { continue }
            due.append((key, at))
        }
        due.sort { left, right in
            guard left.at == right.at else { return left.at < right.at }
            guard left.key.state == right.key.state else { return left.key.state < right.key.state }
            return RuleIndex.Match.comesFirst(left.key.match, right.key.match)
        }
        return due.compactMap { key, _ in end(key).map { (key, $0) } }
    }

    /// Keeps the counts of unchanged rules and states after a reload.
    ///
    /// - Parameter place: the new key of a count; `nil` if its rule or state has changed.
    /// - Returns: the stored keys of the counts that ended.
    mutating func move(_ place: (Key) -> Key?) -> [String] {
        var ended: [String] = []
        let before = self
        counts = [:]
        deadlines = Deadlines()
        for (key, count) in before.counts {
            if let new = place(key), let deadline = before.deadlines.deadline(of: key) {
                begin(new, count, until: deadline)
            } else {
                ended.append(count.storedKey)
            }
        }
        return ended.sorted()
    }
}
