import ButtonModel

/// A deadline per key, with a cached minimum. Removing or postponing the minimum takes O(n), and so does `due` if a
/// deadline has passed; everything else takes O(1).
struct DeadlineTable<Key: Hashable & Comparable & Sendable>: Sendable {
    private var table: [Key: Instant] = [:]
    private(set) var earliest: Instant?

    /// Sets or replaces the deadline of a key; `nil` removes it.
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

    /// The keys whose deadlines have passed, ordered by deadline and then by key.
    func due(at now: Instant) -> [Key] {
        guard let earliest, earliest <= now else { return [] }
        return table.filter { $0.value <= now }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
    }
}
