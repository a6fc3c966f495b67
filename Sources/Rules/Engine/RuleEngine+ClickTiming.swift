package import ButtonModel
package import Gestures

extension RuleEngine {
    /// True if a rule waits for an event of the button: in a trigger, a chord or a step.
    package func hears(_ button: ButtonID) -> Bool {
        !index.events(of: button).isEmpty || index.firstChord(of: button) != nil
    }

    /// The first rule that waits for an event of the button; `nil` unless `hears` is true.
    package func listener(to button: ButtonID) -> String? {
        let rule = index.events(of: button).map(\.rule).min() ?? index.firstChord(of: button)?.rule
        return rule.map { set.rules[$0].id }
    }

    /// How a button's presses are recognised, and which rule delays a click.
    ///
    /// - Source: rules/README.md, "Gestures and waiting".
    package func clickTiming(of button: ButtonID) -> ClickTiming {
        let vocabulary = index[button]?.vocabulary ?? index.vocabularyOfOthers
        let uses = index.events(of: button).sorted { $0.rule < $1.rule }
        var listening = ClickTiming(
            mode: vocabulary.mode, isFixed: declaration(of: button)?.triggerMode != nil,
            clickWait: vocabulary.clickWait, gestures: vocabulary.patterns)
        var cause: Int?
        switch listening.clickWait {
        case nil: cause = uses.first { $0.event.distinguishesLength }?.rule
        case .zero?:
            if let (chord, rule) = index.firstChord(of: button) {
                listening.clickWait = chord.within
                cause = rule
            }
        case .some: cause = uses.first { $0.event.goesOnAfterAClick }?.rule
        }
        listening.cause = cause.map { set.rules[$0].id }
        return listening
    }
}

extension RuleEngine {
    /// The parts whose rotation triggers a rule.
    package func turnedParts(of button: ButtonID) -> Set<ButtonPart> { index.turnedParts(of: button) }
}

extension TriggerEvent {
    /// True if the event is a pattern that begins with a click and has more presses.
    fileprivate var goesOnAfterAClick: Bool {
        if case .pattern(let presses) = self { presses.count > 1 && presses.first == .short } else { false }
    }

    fileprivate var distinguishesLength: Bool {
        switch self {
        case .hold, .holdRelease: true
        case .pattern(let presses): presses.contains(.long)
        case .down, .up, .swipe, .rotate, .connected, .disconnected, .batteryLow: false
        }
    }
}

/// How a button's presses are recognised, and how long a click is delayed.
package struct ClickTiming: Hashable, Sendable {
    /// The trigger mode; if `nil`, presses are recognised from `down` and `up` with the times of the rules.
    package var mode: TriggerMode?
    package var isFixed: Bool
    /// The delay of a click after its `down`; `nil` if it lasts until the `up`, zero if there is none.
    package var clickWait: Duration?
    /// The id of the rule that causes the delay.
    package var cause: String?
    /// The patterns in use. Those of more than two short presses are announced to Home Assistant besides the standard ones.
    package var gestures: Set<[PressLength]>

    package init(
        mode: TriggerMode? = .clickAndDoubleClickAndHold, isFixed: Bool = false,
        clickWait: Duration? = .milliseconds(500), cause: String? = nil, gestures: Set<[PressLength]> = []
    ) {
        self.mode = mode
        self.isFixed = isFixed
        self.clickWait = clickWait
        self.cause = cause
        self.gestures = gestures
    }
}
