import ButtonModel
import Rules

extension TriggerEvent {
    /// Names of events in other systems, and what to write instead.
    static let foreignHints: [String: String] = [
        "press": "use down, or click", "pressed": "use down, or click", "push": "use down, or click",
        "single": "use click", "single_click": "use click", "short_press": "use click", "tap": "use click",
        "double": "use double_click", "double_press": "use double_click", "triple": "write clicks: 3",
        "triple_click": "write clicks: 3", "long": "use hold", "long_press": "use hold",
        "long_release": "use hold_release", "release": "use up, or hold_release",
        "released": "use up, or hold_release", "swipe": "use swipe_left, swipe_right, swipe_up or swipe_down",
        "rotate": "write [rotate_clockwise, rotate_counter_clockwise]",
        "rotate_left": "use rotate_counter_clockwise", "rotate_right": "use rotate_clockwise",
        "rotate_counterclockwise": "use rotate_counter_clockwise",
    ].merging(
        (1...EventName.clickCounts.upperBound).map { ("clicks_\($0)", "write clicks: \($0)") },
        uniquingKeysWith: { name, _ in name })

    /// The models that rules can declare and that report the event.
    var models: [FlicModel] { FlicModel.pairable.filter { $0.supports(self) } }
}

extension ButtonPart {
    /// The models that rules can declare and that have the part.
    var models: [FlicModel] { FlicModel.pairable.filter { $0.parts.contains(self) } }
}
