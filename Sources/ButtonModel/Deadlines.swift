/// Several logical timers behind one: a machine keeps one of these and tells its owner only the earliest deadline.
public struct Deadlines<Key: Hashable & Sendable>: Sendable {
    /// What the owner's one timer has to do.
    public enum Change: Hashable, Sendable {
        case set(Instant)
        case cancel
    }

    @usableFromInline var table: [Key: Instant] = [:]
    @usableFromInline var armed: Instant?

    @inlinable
    public init() {}

    /// Setting a key again replaces its deadline.
    @inlinable
    public mutating func set(_ key: Key, at deadline: Instant) { table[key] = deadline }

    @inlinable
    public mutating func cancel(_ key: Key) { table[key] = nil }

    @inlinable
    public func deadline(of key: Key) -> Instant? { table[key] }

    /// Takes out the keys that are due, the earliest first. To be called when the owner's timer has fired;
    /// a timer that fired early takes out nothing.
    @inlinable
    public mutating func takeDue(at now: Instant) -> [Key] {
        armed = nil
        let due = table.filter { $0.value <= now }.sorted { $0.value < $1.value }
        for (key, _) in due { table[key] = nil }
        return due.map(\.key)
    }

    /// What to tell the owner after a transition; `nil` when its timer is right as it is.
    @inlinable
    public mutating func rearm() -> Change? {
        let earliest = table.values.min()
        guard earliest != armed else { return nil }
        armed = earliest
        return earliest.map(Change.set) ?? .cancel
    }
}
