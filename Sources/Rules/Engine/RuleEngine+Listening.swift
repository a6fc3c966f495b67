package import ButtonModel
package import Gestures

extension RuleEngine {
    /// How this button's presses are read, and the rule on whose account a click waits.
    ///
    /// - Source: rule language, 5.1 to 5.3.
    package func listening(to button: ButtonID) -> Listening {
        let vocabulary = index[button]?.vocabulary ?? index.vocabularyOfOthers
        let uses = index.events(of: button).sorted { $0.rule < $1.rule }
        var listening = Listening(
            mode: vocabulary.mode, isFixed: declaration(of: button)?.triggerMode != nil,
            clickWait: vocabulary.clickWait, gestures: vocabulary.patterns)
        var cause: Int?
        switch listening.clickWait {
        case nil: cause = uses.first { $0.event.tellsLongFromShort }?.rule
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
    /// The parts whose turns some rule waits for.
    package func turnedParts(of button: ButtonID) -> Set<ButtonPart> { index.turnedParts(of: button) }
}

extension TriggerEvent {
    /// A pattern that begins with a click and is not over with it.
    fileprivate var goesOnAfterAClick: Bool {
        if case .pattern(let presses) = self { presses.count > 1 && presses.first == .short } else { false }
    }

    fileprivate var tellsLongFromShort: Bool {
        switch self {
        case .hold, .holdRelease: true
        case .pattern(let presses): presses.contains(.long)
        case .down, .up, .swipe, .rotate, .connected, .disconnected, .batteryLow: false
        }
    }
}

/// How a button's presses are read, and what that costs.
package struct Listening: Hashable, Sendable {
    /// `nil`: by the rules' own times, from `down` and `up`.
    package var mode: TriggerMode?
    package var isFixed: Bool
    /// How long a click waits after its `down`; `nil`: until the `up`. Zero: not at all.
    package var clickWait: Duration?
    /// The rule that makes it wait.
    package var cause: String?
    /// The gestures in use: `click`, `clicks_3`, …; what Home Assistant is told besides the four.
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
