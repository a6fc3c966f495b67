/// A part of a Duo or Twist that reports its own events. The raw value is its name in topics, rules and records.
public enum ButtonPart: String, CaseIterable, Hashable, Sendable {
    /// The two buttons of a Duo.
    case big, small
    /// A Twist's dial: turned while released (`dial`), and turned while pressed (`push`).
    case dial, push
}

public enum SwipeDirection: String, CaseIterable, Hashable, Sendable {
    case left = "swipe_left"
    case right = "swipe_right"
    case up = "swipe_up"
    case down = "swipe_down"
}

public enum RotationDirection: String, CaseIterable, Hashable, Sendable {
    case clockwise = "rotate_clockwise"
    case counterClockwise = "rotate_counter_clockwise"
}

/// A turn of a dial. A swipe is not a movement, but a property of the event that ends its press (`ButtonEvent.swipe`).
public struct ButtonMovement: Hashable, Sendable {
    public var button: ButtonID
    public var part: ButtonPart
    /// The angle in hundredths of a whole turn, clockwise positive. A movement of less than a hundredth has 0 steps and
    /// is added to the next movement.
    public var steps: Int
    /// The dial's position in percent, 0…100; 0 where the dial has no position.
    public var position: Int
    /// A Twist's slot, 1…12: the slot whose position was turned or, while the dial is pressed, the slot that its
    /// release will select. 0 on other models.
    public var slot: Int
    /// The dial that was turned. `units` is its position afterwards, 0…`Dial.unitsPerTurn`.
    public var dial: Dial?
    public var units: Int
    public var wasQueued: Bool
    public var wasQueuedLast: Bool
    public var age: Duration

    public init(
        button: ButtonID, part: ButtonPart, steps: Int, position: Int = 0, slot: Int = 0, dial: Dial? = nil,
        units: Int = 0, wasQueued: Bool = false, wasQueuedLast: Bool = false, age: Duration = .zero
    ) {
        self.button = button
        self.part = part
        self.steps = steps
        self.position = position
        self.slot = slot
        self.dial = dial
        self.units = units
        self.wasQueued = wasQueued
        self.wasQueuedLast = wasQueuedLast
        self.age = age
    }
}
