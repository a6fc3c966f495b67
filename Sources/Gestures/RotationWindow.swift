import ButtonModel

/// Sums the rotation of a dial during `collect`, beginning with the first movement.
struct RotationWindow: Hashable, Sendable {
    var latest: ButtonMovement
    var collect: Duration
    var endsAt: Instant
    var steps: Int
    var wasQueued: Bool
    var wasQueuedLast: Bool
    /// When the latest movement happened.
    var at: Instant

    init(_ movement: ButtonMovement, collect: Duration, at now: Instant) {
        latest = movement
        self.collect = collect
        endsAt = now + max(.zero, collect)
        self.steps = max(-.max, movement.steps)
        wasQueued = movement.wasQueued
        wasQueuedLast = movement.wasQueuedLast
        at = now - movement.age
    }

    mutating func add(_ movement: ButtonMovement, at now: Instant) {
        latest = movement
        let (sum, overflow) = steps.addingReportingOverflow(movement.steps)
        steps = overflow ? (movement.steps < 0 ? -.max : .max) : sum
        wasQueued = wasQueued || movement.wasQueued
        wasQueuedLast = wasQueuedLast || movement.wasQueuedLast
        at = now - movement.age
    }

    /// The sum as an event; `nil` if the dial is back where it started.
    var recognised: RecognisedEvent? {
        guard steps != 0 else { return nil }
        var facts = latest.facts
        facts.wasQueued = wasQueued
        facts.wasQueuedLast = wasQueuedLast
        return RecognisedEvent(
            button: latest.button, kind: .rotation(steps: steps, collect: collect), facts: facts, at: at)
    }
}

extension ButtonMovement {
    /// True if two movements are of the same dial. The slots of a Twist are separate dials; the free dial passes
    /// through all slots.
    func isOfSameDial(as other: ButtonMovement) -> Bool {
        part == other.part && dial == other.dial && (slot == other.slot || dial == .free)
    }
}
