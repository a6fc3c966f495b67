/// A part of a button that has several. The raw value is the word used everywhere.
public enum ButtonPart: String, CaseIterable, Hashable, Sendable {
    /// The two buttons of a Duo.
    case big, small
    /// A Twist's dial; and the dial turned while it is pressed.
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

/// A turn or a swipe: what is no press.
public struct ButtonMovement: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case swipe(SwipeDirection)
        /// Hundredths of a whole turn; positive: clockwise. What is less than a step goes with the next one: until then it
        /// moves the dial by 0 of them.
        case rotation(steps: Int)
    }

    public var button: ButtonID
    public var part: ButtonPart
    public var kind: Kind
    /// 0…100, where the dial has one.
    public var position: Int
    /// 1…12 on a Twist's selector, else 0.
    public var slot: Int
    /// What was turned, and where it is now: 0…`Dial.unitsPerTurn`.
    public var dial: Dial?
    public var units: Int
    public var wasQueued: Bool
    public var wasQueuedLast: Bool
    public var age: Duration

    public init(
        button: ButtonID, part: ButtonPart, kind: Kind, position: Int = 0, slot: Int = 0, dial: Dial? = nil,
        units: Int = 0, wasQueued: Bool = false, wasQueuedLast: Bool = false, age: Duration = .zero
    ) {
        self.button = button
        self.part = part
        self.kind = kind
        self.position = position
        self.slot = slot
        self.dial = dial
        self.units = units
        self.wasQueued = wasQueued
        self.wasQueuedLast = wasQueuedLast
        self.age = age
    }
}
