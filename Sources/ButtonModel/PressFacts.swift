/// The details of a press, turn or swipe, such as its age and duration. The gesture recogniser passes them on to rules
/// and messages.
public struct PressFacts: Hashable, Sendable {
    /// `nil` for a button with a single part.
    public var part: ButtonPart?
    /// True if any of its events is a stored or delayed one, as in `ButtonEvent.wasQueued`.
    public var wasQueued: Bool
    /// True if it includes the last of the button's stored events.
    public var wasQueuedLast: Bool
    /// The age of the event when it was received; zero for live events.
    public var age: Duration
    /// How long the press has lasted at an `up`, `hold`, `hold_release` or `hold` chord; zero for other events.
    public var heldFor: Duration
    /// True if this is a `hold_release` without an `up`, reported because the link was lost.
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
