/// A deadline per key, multiplexed onto the owner's one timer.
public struct Deadlines<Key: Hashable & Sendable>: Sendable {
    /// A command to the owner's timer.
    public enum Change: Hashable, Sendable {
        case set(Instant)
        case cancel
    }

    @usableFromInline var table: [Key: Instant] = [:]
    @usableFromInline var armed: Instant?

    @inlinable
    public init() {}

    /// Sets the deadline of a key, replacing an earlier one.
    @inlinable
    public mutating func set(_ key: Key, at deadline: Instant) { table[key] = deadline }

    @inlinable
    public mutating func cancel(_ key: Key) { table[key] = nil }

    @inlinable
    public func deadline(of key: Key) -> Instant? { table[key] }

    /// Removes and returns the keys that are due, earliest deadline first; keys with equal deadlines are in no
    /// particular order. The owner calls this when its timer fires. A timer that fired early yields no keys.
    @inlinable
    public mutating func takeDue(at now: Instant) -> [Key] {
        armed = nil
        let due = table.filter { $0.value <= now }.sorted { $0.value < $1.value }
        for (key, _) in due { table[key] = nil }
        return due.map(\.key)
    }

    /// The command that makes the owner's timer match the earliest deadline; `nil` when the timer is already right.
    @inlinable
    public mutating func rearm() -> Change? {
        let earliest = table.values.min()
        guard earliest != armed else { return nil }
        armed = earliest
        return earliest.map(Change.set) ?? .cancel
    }
}
