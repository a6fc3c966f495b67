/// A step of a press that a button reported, with the button's event counter.
///
/// (`button`, `part`, `bootID`, `counter`) identifies an event: a second event with the same four values is a
/// retransmission.
public struct ButtonEvent: Hashable, Sendable {
    public var button: ButtonID
    /// A random number that the button draws at each of its boots.
    public var bootID: UInt32
    /// The button's event counter at this event. It starts at 0 at each boot; each part of a Duo has its own counter.
    public var counter: UInt32
    public var step: PressStep
    /// The button's clock at the event, in ticks of 1/32768 s since the button's boot.
    public var ticks: UInt64
    /// True if the button stored the event while it had no connection, or the event was delayed by a bad link.
    public var wasQueued: Bool
    /// True if the event is the last of the button's stored events.
    public var wasQueuedLast: Bool
    /// The age of the event when it was received; zero for live events.
    public var age: Duration
    /// The button of a Duo that was pressed; `nil` on models with one button.
    public var part: ButtonPart?
    /// The direction of the swipe that this `up` ends; a swipe is not a click. `nil` for a press.
    public var swipe: SwipeDirection?
    /// True if the event's time has a resolution of only a second. Then intervals between events do not show which
    /// presses belong together; only the button's own classification in `step` does.
    public var isTimeRough: Bool

    public init(
        button: ButtonID, bootID: UInt32, counter: UInt32, step: PressStep, ticks: UInt64,
        wasQueued: Bool = false, wasQueuedLast: Bool = false, age: Duration = .zero, part: ButtonPart? = nil,
        swipe: SwipeDirection? = nil, isTimeRough: Bool = false
    ) {
        self.button = button
        self.bootID = bootID
        self.counter = counter
        self.step = step
        self.ticks = ticks
        self.wasQueued = wasQueued
        self.wasQueuedLast = wasQueuedLast
        self.age = age
        self.part = part
        self.swipe = swipe
        self.isTimeRough = isTimeRough
    }
}

/// A step of a press, as the button classified it. The button's limits are fixed: a double click is a second `down` at
/// most 0.5 s after the first, a hold is 1 s, and a single click is certain 0.5 s after the `down`.
public enum PressStep: Hashable, Sendable {
    case down
    /// The button has been held for one second. `ofSecondPress`: this press began as the second of a double click.
    case hold(ofSecondPress: Bool)
    /// The button is released, and 0.5 s have passed since its `down` without a second press.
    case clickTimeout
    case up(Release)

    /// The button's classification of a press when it ended.
    public enum Release: Hashable, Sendable {
        /// A short press that may still become a single or a double click.
        case open
        /// A single click: the button was down longer than 0.5 s, and was not held.
        case click
        case doubleClick
        /// The end of a hold that is not a click in any trigger mode.
        case afterHold
        /// The end of a hold that the trigger mode `clickAndDoubleClick` reads as a single click.
        case afterHoldClick
        /// The end of a hold whose press was the second of a double click.
        case afterHoldDoubleClick
    }
}
