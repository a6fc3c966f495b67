/// What is known of a press, a turn or a swipe besides what it was: one value that travels from the gesture recogniser
/// to rules and messages.
public struct PressFacts: Hashable, Sendable {
    /// `nil` for a button with a single part.
    public var part: ButtonPart?
    /// Whether the button had stored any part of it while it had no connection.
    public var wasQueued: Bool
    /// Whether it includes the last event that the button had stored.
    public var wasQueuedLast: Bool
    /// The age when it was received; zero for live events.
    public var age: Duration
    /// How long a press lasted, at its `up`, `hold` or `hold_release`.
    public var heldFor: Duration
    /// Whether the end of a hold is reported without its `up`, because the link was lost.
    public var isLinkLost: Bool
    /// The dial's position after a movement, 0…100.
    public var position: Int
    /// A Twist's slot, 1…12; 0 on other models.
    public var slot: Int

    public init(
        part: ButtonPart? = nil, wasQueued: Bool = false, wasQueuedLast: Bool = false, age: Duration = .zero,
        heldFor: Duration = .zero, isLinkLost: Bool = false, position: Int = 0, slot: Int = 0
    ) {
        self.part = part
        self.wasQueued = wasQueued
        self.wasQueuedLast = wasQueuedLast
        self.age = age
        self.heldFor = heldFor
        self.isLinkLost = isLinkLost
        self.position = position
        self.slot = slot
    }
}

extension ButtonMovement {
    public var facts: PressFacts {
        PressFacts(
            part: part, wasQueued: wasQueued, wasQueuedLast: wasQueuedLast, age: age, position: position, slot: slot)
    }
}
