import ButtonModel

/// What a machine has asked its surroundings to wake it for, so that it asks again only when that changes.
struct LogicalTimer: Hashable, Sendable {
    enum Change: Hashable, Sendable {
        case set(Instant)
        case cancel
    }

    private(set) var armed: Instant?

    /// The timer of the surroundings has run out and is no longer armed.
    mutating func fired() { armed = nil }

    /// - Returns: what to ask for, `nil` when the timer already stands as wanted.
    mutating func rearm(for wanted: Instant?) -> Change? {
        guard wanted != armed else { return nil }
        armed = wanted
        return wanted.map(Change.set) ?? .cancel
    }
}

/// The earlier of two deadlines, where none is later than any.
func earliest(_ first: Instant?, _ second: Instant?) -> Instant? {
    guard let first, let second else { return first ?? second }
    return min(first, second)
}
