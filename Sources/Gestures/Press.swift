import ButtonModel

/// A `down` and, once it came, its `up`.
struct Press: Hashable, Sendable {
    /// Counted up for each button and part.
    var number: UInt64
    var down: Ticks
    /// `nil`: it goes on, as far as we were told.
    var up: Ticks?
    /// What it counts as; `nil` while that is open.
    var length: PressLength?
    /// Any step of it was stored by the button, or it is from before a restart.
    var wasQueued: Bool
    var wasQueuedLast: Bool
    /// That of its oldest step.
    var age: Duration
    /// How late its first `hold` was told; `nil`: none was.
    var hold: Recognised.Lateness?
    /// Its `down` on our clock: the earliest that its steps speak for, since delay only makes later.
    var at: Instant

    /// How long it has lasted, or did.
    func heldFor(at moment: Ticks) -> Ticks { max(0, (up ?? moment) - down) }

    /// Takes in what a further step says.
    ///
    /// - Parameters:
    ///   - moment: of the step.
    ///   - arrival: when it happened on our clock, as its arrival and age have it.
    mutating func note(_ event: ButtonEvent, at moment: Ticks, _ arrival: Instant) {
        // One that goes on as it happens: what was stored has all come.
        wasQueuedLast = wasQueuedLast || event.wasQueuedLast || wasQueued && !event.wasQueued
        wasQueued = wasQueued || event.wasQueued
        age = max(age, event.age)
        at = min(at, arrival.advanced(by: down - moment))
    }
}
