import ButtonModel

/// A press: its `down`, and its `up` once it has been received.
struct Press: Hashable, Sendable {
    /// A serial number within the button or part.
    var number: UInt64
    var down: Ticks
    /// `nil` while no `up` has been received.
    var up: Ticks?
    /// The length that the press counts as; `nil` while it is undecided.
    var length: PressLength?
    /// True if any step of the press was stored by the button, or the press is from before a restart.
    var wasQueued: Bool
    var wasQueuedLast: Bool
    /// The age of its oldest step.
    var age: Duration
    /// How late its first `hold` was reported; `nil` if none was.
    var hold: RecognisedEvent.Lateness?
    /// When the press began, on the host's clock: the earliest time that a step implies, because delays only add.
    var at: Instant

    /// The duration of the press until its `up`, or else until `moment`.
    func heldFor(at moment: Ticks) -> Ticks { max(0, (up ?? moment) - down) }

    /// Updates the press with a further step.
    ///
    /// - Parameters:
    ///   - moment: the time of the step on the button's clock.
    ///   - arrival: the same time on the host's clock, computed from the event's arrival and age.
    mutating func note(_ event: ButtonEvent, at moment: Ticks, _ arrival: Instant) {
        // A live step after stored steps shows that the button has sent all its stored events.
        wasQueuedLast = wasQueuedLast || event.wasQueuedLast || wasQueued && !event.wasQueued
        wasQueued = wasQueued || event.wasQueued
        age = max(age, event.age)
        at = min(at, arrival.advanced(by: down - moment))
    }
}
