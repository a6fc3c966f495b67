/// What a press train turned out to be. The raw value is the word used everywhere.
public enum Gesture: String, CaseIterable, Hashable, Sendable {
    case click
    case doubleClick = "double_click"
    case hold
    /// The `up` of a press whose `hold` was reported.
    case holdRelease = "hold_release"
}

/// The raw events of a button, delivered in every trigger mode.
public enum RawEvent: String, CaseIterable, Hashable, Sendable {
    case down
    case up
}

/// Which gestures a button's presses are read as. The raw value is the word used everywhere.
public enum TriggerMode: String, CaseIterable, Hashable, Sendable {
    case click
    case clickAndHold = "click_and_hold"
    case clickAndDoubleClick = "click_and_double_click"
    case clickAndDoubleClickAndHold = "click_and_double_click_and_hold"
}

/// How fast a button's link answers. The raw value is the word used everywhere.
public enum LatencyMode: String, CaseIterable, Hashable, Sendable {
    case low
    case normal
    case high
}
