import ButtonModel

/// Deadlines of many, of which the earliest is known without looking at all of them, as long as it does not go away.
struct DeadlineTable<Key: Hashable & Comparable & Sendable>: Sendable {
    private var table: [Key: Instant] = [:]
    private(set) var earliest: Instant?

    /// `nil`: it has none.
    mutating func set(_ key: Key, _ deadline: Instant?) {
        let before = table[key]
        guard before != deadline else { return }
        table[key] = deadline
        if let deadline, earliest.map({ deadline <= $0 }) ?? true {
            earliest = deadline
        } else if before == earliest {
            earliest = table.values.min()
        }
    }

    subscript(key: Key) -> Instant? { table[key] }

    /// Those that are due, the earliest first; of equals in the order of their keys.
    func due(at now: Instant) -> [Key] {
        guard let earliest, earliest <= now else { return [] }
        return table.filter { $0.value <= now }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
    }
}
