import ButtonModel

/// The single timer of a machine. It requests a change only if the wanted deadline differs from the armed one.
struct LogicalTimer: Hashable, Sendable {
    enum Change: Hashable, Sendable {
        case set(Instant)
        case cancel
    }

    private(set) var armed: Instant?

    /// The armed timer has expired.
    mutating func fired() { armed = nil }

    /// - Returns: the request to emit; `nil` if the armed deadline is already the wanted one.
    mutating func rearm(for wanted: Instant?) -> Change? {
        guard wanted != armed else { return nil }
        armed = wanted
        return wanted.map(Change.set) ?? .cancel
    }
}

/// The earlier of two deadlines, where `nil` means no deadline.
func earliest(_ first: Instant?, _ second: Instant?) -> Instant? {
    guard let first, let second else { return first ?? second }
    return min(first, second)
}
