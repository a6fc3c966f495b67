/// One thing a button reported: a step of a press, with its place in the button's own count.
///
/// (`button`, `part`, `bootID`, `counter`) names it for good: the same four mean the same event, sent again.
public struct ButtonEvent: Hashable, Sendable {
    public var button: ButtonID
    /// Drawn by the button at each of its boots.
    public var bootID: UInt32
    /// The button's event counter at this event; counts from 0 at boot, on a Duo for each part.
    public var counter: UInt32
    public var step: PressStep
    /// The button's clock at the event: ticks of 1/32768 s since its boot.
    public var ticks: UInt64
    /// The button stored it while it was out of reach.
    public var wasQueued: Bool
    /// It is the last of the stored ones.
    public var wasQueuedLast: Bool
    /// How old it was when it reached us; zero for live events.
    public var age: Duration
    /// Which of its buttons, on one that has two.
    public var part: ButtonPart?
    /// The press that this `up` ends was a swipe, and is no click.
    public var swipe: SwipeDirection?
    /// When it was is known to the second only: what belongs together only the button can say.
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

/// A step of a press, as the button itself judged it. Its times: a double click is a second
/// `down` at most 0.5 s after the first; a hold is 1 s; a single click is certain 0.5 s after the `down`.
public enum PressStep: Hashable, Sendable {
    case down
    /// Held for one second. `ofSecondPress`: the press began as the second of a double click.
    case hold(ofSecondPress: Bool)
    /// Half a second has passed since the `down` of a released press, and no second press came.
    case clickTimeout
    case up(Release)

    /// What the button knew about a press when it ended.
    public enum Release: Hashable, Sendable {
        /// A short press; single or double click is still open.
        case open
        /// Certainly a single click: down longer than 0.5 s, not held.
        case click
        case doubleClick
        /// After a hold, and nothing else.
        case afterHold
        /// After a hold; a single click for those who do not use hold.
        case afterHoldClick
        /// A double click whose second press was held.
        case afterHoldDoubleClick
    }
}
