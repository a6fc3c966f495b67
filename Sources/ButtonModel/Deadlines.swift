/// A deadline per key, multiplexed onto the owner's one timer.
///
/// The earliest deadline is cached. Removing or postponing it takes O(n), and so do `takeDue` and `due` if a key is
/// due. Everything else takes O(1).
public struct Deadlines<Key: Hashable & Sendable>: Sendable {
    /// A command to the owner's timer.
    public enum Change: Hashable, Sendable {
        case set(Instant)
        case cancel
    }

    @usableFromInline var table: [Key: Instant] = [:]
    @usableFromInline var minimum: Instant?
    @usableFromInline var timer = LogicalTimer()

    @inlinable
    public init() {}

    /// The earliest deadline of all keys.
    @inlinable
    public var earliest: Instant? { minimum }

    /// Sets the deadline of a key, replacing an earlier one; `nil` cancels it.
    @inlinable
    public mutating func set(_ key: Key, at deadline: Instant?) {
        guard let deadline else { return cancel(key) }
        let before = table.updateValue(deadline, forKey: key)
        if minimum.map({ deadline <= $0 }) ?? true {
            minimum = deadline
        } else if before == minimum {
            minimum = table.values.min()
        }
    }

    @inlinable
    public mutating func cancel(_ key: Key) {
        guard let before = table.removeValue(forKey: key), before == minimum else { return }
        minimum = table.values.min()
    }

    /// The number of keys that have a deadline.
    @inlinable
    public var count: Int { table.count }

    /// The keys that have a deadline, in no order.
    public var keys: [Key] { Array(table.keys) }

    @inlinable
    public func deadline(of key: Key) -> Instant? { table[key] }

    /// Removes and returns the keys that are due, earliest deadline first; keys with equal deadlines are in no
    /// particular order. The owner calls this when its timer fires. A timer that fired early yields no keys.
    @inlinable
    public mutating func takeDue(at now: Instant) -> [Key] {
        timer.fired()
        guard let minimum, minimum <= now else { return [] }
        let due = table.filter { $0.value <= now }.sorted { $0.value < $1.value }
        for (key, _) in due { table[key] = nil }
        self.minimum = table.values.min()
        return due.map(\.key)
    }

    /// Appends the effect that makes the owner's timer match the earliest deadline; nothing if the timer is already right.
    @inlinable
    public mutating func appendChange<Effect: TimerEffect>(to effects: inout [Effect]) {
        timer.appendChange(for: minimum, to: &effects)
    }

    /// The same command, for an owner whose timer is a deadline of a larger machine; `nil` if the timer is already right.
    @inlinable
    public mutating func rearm() -> Change? {
        guard minimum != timer.armed else { return nil }
        timer.deadline = minimum
        return minimum.map(Change.set) ?? .cancel
    }

    /// The invariants that are violated, as sentences; empty unless this type has a fault.
    public func problems() -> [String] {
        minimum == table.values.min() ? [] : ["the earliest deadline is not the one that is cached"]
    }
}

extension Deadlines where Key: Comparable {
    /// The keys that are due, ordered by deadline and then by key. They keep their deadlines.
    @inlinable
    public func due(at now: Instant) -> [Key] {
        guard let minimum, minimum <= now else { return [] }
        return table.filter { $0.value <= now }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
    }
}
