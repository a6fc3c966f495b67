/// An effect that can be a command to the one timer of its machine. The effects of most machines are enums with these two
/// cases, so they conform without further code.
public protocol TimerEffect {
    /// Sets the timer, replacing an earlier deadline.
    static func setTimer(_ deadline: Instant) -> Self
    static var cancelTimer: Self { get }
}

/// The one timer of a machine. It emits an effect only if its deadline changes.
public struct LogicalTimer: Hashable, Sendable {
    @usableFromInline var deadline: Instant?

    @inlinable
    public init() {}

    /// The deadline for which the timer is set.
    @inlinable
    public var armed: Instant? { deadline }

    /// The timer has expired, so it must be set again even for the same deadline.
    @inlinable
    public mutating func fired() { deadline = nil }

    /// Appends the effect that sets the timer for a deadline, or cancels it if there is none; nothing if the timer is
    /// already right.
    @inlinable
    public mutating func appendChange<Effect: TimerEffect>(for deadline: Instant?, to effects: inout [Effect]) {
        guard deadline != self.deadline else { return }
        self.deadline = deadline
        if let deadline {
            effects.append(.setTimer(deadline))
        } else {
            effects.append(.cancelTimer)
        }
    }
}
