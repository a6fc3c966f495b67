import ButtonModel
import Gestures
import Rules

extension TriggerEvent {
    /// The events by the words that `event` accepts.
    static let words: [String: TriggerEvent] = {
        var words: [String: TriggerEvent] = [
            "down": .down, "up": .up, "click": .click, "double_click": .doubleClick, "hold": .hold(after: nil),
            "hold_release": .holdRelease, "connected": .connected, "disconnected": .disconnected,
            "battery_low": .batteryLow,
        ]
        for direction in SwipeDirection.allCases { words[direction.rawValue] = .swipe(direction) }
        for direction in RotationDirection.allCases {
            words[direction.rawValue] = .rotate(direction, collect: standardCollect)
        }
        return words
    }()

    static let wordList = words.keys.sorted()

    /// Names of events in other systems, and what to write instead.
    static let foreign: [String: String] = [
        "press": "use down, or click", "pressed": "use down, or click", "push": "use down, or click",
        "single": "use click", "single_click": "use click", "short_press": "use click", "tap": "use click",
        "double": "use double_click", "double_press": "use double_click", "triple": "write clicks: 3",
        "triple_click": "write clicks: 3", "long": "use hold", "long_press": "use hold",
        "long_release": "use hold_release", "release": "use up, or hold_release",
        "released": "use up, or hold_release", "swipe": "use swipe_left, swipe_right, swipe_up or swipe_down",
        "rotate": "write [rotate_clockwise, rotate_counter_clockwise]",
        "rotate_left": "use rotate_counter_clockwise", "rotate_right": "use rotate_clockwise",
        "rotate_counterclockwise": "use rotate_counter_clockwise",
    ].merging((1...8).map { ("clicks_\($0)", "write clicks: \($0)") }, uniquingKeysWith: { word, _ in word })

    /// The event as a rule writes it: `double_click`, `clicks: 3`, `pattern: [short, long]`.
    var word: String {
        switch self {
        case .down: "down"
        case .up: "up"
        case .click: "click"
        case .doubleClick: "double_click"
        case .pattern(let presses) where presses.allSatisfy({ $0 == .short }): "clicks: \(presses.count)"
        case .pattern(let presses): "pattern: [\(presses.map(\.rawValue).joined(separator: ", "))]"
        case .hold: "hold"
        case .holdRelease: "hold_release"
        case .swipe(let direction): direction.rawValue
        case .rotate(let direction, _): direction.rawValue
        case .connected: "connected"
        case .disconnected: "disconnected"
        case .batteryLow: "battery_low"
        }
    }

    /// The models that have the event; `nil`: all models.
    var models: [DeclaredButton.Model]? {
        switch self {
        case .swipe: [.duo]
        case .rotate: [.duo, .twist]
        case .down, .up, .pattern, .hold, .holdRelease, .connected, .disconnected, .batteryLow: nil
        }
    }
}

extension ButtonPart {
    var models: [DeclaredButton.Model] {
        switch self {
        case .big, .small: [.duo]
        case .dial, .push: [.twist]
        }
    }
}

extension TriggerMode {
    /// Whether a button that is fixed to this mode can give the event.
    func gives(_ event: TriggerEvent) -> Bool {
        switch event {
        case .click: true
        case .doubleClick: self == .clickAndDoubleClick || self == .clickAndDoubleClickAndHold
        case .hold, .holdRelease: self == .clickAndHold || self == .clickAndDoubleClickAndHold
        case .pattern: false
        case .down, .up, .swipe, .rotate, .connected, .disconnected, .batteryLow: true
        }
    }
}
