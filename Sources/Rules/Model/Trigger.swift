package import ButtonModel
package import Gestures

/// A trigger of a rule.
package struct Trigger: Hashable, Sendable {
    package enum Origin: Hashable, Sendable {
        /// Any of the events of any of the buttons.
        case buttons([ButtonSelector], [TriggerEvent], parts: Set<ButtonPart>)
        /// Two to four indices in `RuleSet.buttons`, for buttons that are pressed within a time.
        case chord([Int], within: Duration, ChordEvent)
        case times(TimeTrigger)
        case states(StateTrigger)
    }

    package var origin: Origin
    /// The id that expressions read as `trigger.id`.
    package var id: String?
    package var location: SourceLocation

    /// True if it is triggered by a button.
    package var isOfButton: Bool {
        switch origin {
        case .buttons, .chord: true
        case .times, .states: false
        }
    }

    package init(origin: Origin, id: String? = nil, location: SourceLocation = SourceLocation()) {
        self.origin = origin
        self.id = id
        self.location = location
    }

    package init(buttons: [ButtonSelector], events: [TriggerEvent], parts: Set<ButtonPart> = [], id: String? = nil) {
        self.init(origin: .buttons(buttons, events, parts: parts), id: id)
    }
}

/// The buttons to which a trigger applies. The loader expands groups.
package enum ButtonSelector: Hashable, Sendable {
    case any
    /// An index in `RuleSet.buttons`.
    case declared(Int)
    case hardware(DeclaredButton.Hardware)
}

/// An event of a button that can trigger a rule.
package enum TriggerEvent: Hashable, Sendable {
    case down, up
    /// A pattern of presses: `click` is one short press, `double_click` two, `clicks: n` n short presses.
    case pattern([PressLength])
    /// - Parameter after: the duration in `for`; if `nil`, the button's `hold_after`.
    case hold(after: Duration?)
    case holdRelease
    case swipe(SwipeDirection)
    /// - Parameter collect: the duration over which steps are summed.
    case rotate(RotationDirection, collect: Duration)
    case connected, disconnected, batteryLow

    package static let click = TriggerEvent.pattern([.short])
    package static let doubleClick = TriggerEvent.pattern([.short, .short])
    package static let standardCollect = Duration.milliseconds(100)
}
