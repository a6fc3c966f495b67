/// The gesture that a series of presses was recognized as. The raw value is its name in topics and rules.
public enum Gesture: String, CaseIterable, Hashable, Sendable {
    case click
    case doubleClick = "double_click"
    case hold
    /// The release of a button after a `hold`.
    case holdRelease = "hold_release"
}

/// The press and release of a button, which are delivered in every trigger mode.
public enum RawEvent: String, CaseIterable, Hashable, Sendable {
    case down
    case up
}

/// The set of gestures that a button's presses can be recognized as. The raw value is its name in topics and rules.
public enum TriggerMode: String, CaseIterable, Hashable, Sendable {
    case click
    case clickAndHold = "click_and_hold"
    case clickAndDoubleClick = "click_and_double_click"
    case clickAndDoubleClickAndHold = "click_and_double_click_and_hold"
}

extension TriggerMode {
    public var hasHold: Bool {
        switch self {
        case .clickAndHold, .clickAndDoubleClickAndHold: true
        case .click, .clickAndDoubleClick: false
        }
    }

    public var hasDoubleClick: Bool {
        switch self {
        case .clickAndDoubleClick, .clickAndDoubleClickAndHold: true
        case .click, .clickAndHold: false
        }
    }
}

/// The latency of a button's connection. The raw value is its name in topics and rules.
public enum LatencyMode: String, CaseIterable, Hashable, Sendable {
    case low
    case normal
    case high
}
