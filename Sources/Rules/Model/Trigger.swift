package import ButtonModel
package import Gestures

/// What starts a rule.
package struct Trigger: Hashable, Sendable {
    package enum Source: Hashable, Sendable {
        /// Any of the events on any of the buttons.
        case buttons([ButtonSelector], [TriggerEvent], parts: Set<ButtonPart>)
        /// Two to four places in `RuleSet.buttons`, all pressed within that time.
        case chord([Int], within: Duration, ChordEvent)
    }

    package var source: Source
    /// `trigger.id`.
    package var id: String?
    package var place: Place

    package init(source: Source, id: String? = nil, place: Place = Place()) {
        self.source = source
        self.id = id
        self.place = place
    }

    package init(buttons: [ButtonSelector], events: [TriggerEvent], parts: Set<ButtonPart> = [], id: String? = nil) {
        self.init(source: .buttons(buttons, events, parts: parts), id: id)
    }
}

/// Which buttons a trigger means. Groups are written out by the loader.
package enum ButtonSelector: Hashable, Sendable {
    case any
    /// A place in `RuleSet.buttons`.
    case declared(Int)
    case hardware(DeclaredButton.Hardware)
}

/// What a rule may wait for on a button.
package enum TriggerEvent: Hashable, Sendable {
    case down, up
    /// `click` is one short press, `double_click` two, `clicks: n` n of them.
    case pattern([PressLength])
    /// - Parameter after: `for`; `nil`: the button's `hold_after`.
    case hold(after: Duration?)
    case holdRelease
    case swipe(SwipeDirection)
    /// - Parameter collect: how long steps are summed.
    case rotate(RotationDirection, collect: Duration)
    case connected, disconnected, batteryLow

    package static let click = TriggerEvent.pattern([.short])
    package static let doubleClick = TriggerEvent.pattern([.short, .short])
    package static let standardCollect = Duration.milliseconds(100)
}
