package import ButtonModel
package import Gestures

extension RuleEngine {
    /// How this button's presses are read, and the rule on whose account a click waits.
    ///
    /// - Source: rule language, 5.1 to 5.3.
    package func listening(to button: ButtonID) -> Listening {
        let vocabulary = index[button]?.vocabulary ?? index.vocabularyOfOthers
        let isFixed = declaration(of: button)?.triggerMode != nil
        var listening = Listening(
            mode: vocabulary.mode, isFixed: isFixed, clickWait: vocabulary.clickWait, gestures: vocabulary.patterns)
        var uses = index.events(of: button)
        uses.sort { $0.rule < $1.rule }
        switch vocabulary.delay {
        case .none: break
        case .release:
            listening.cause = uses.first { $0.event.distinguishesLongPresses }.map { set.rules[$0.rule].id }
        case .nextPress:
            listening.cause = uses.first { $0.event.goesOnAfterAClick }.map { set.rules[$0.rule].id }
        }
        if case .none = vocabulary.delay, let (chord, rule) = index.firstChord(of: button) {
            listening.clickWait = chord.within
            listening.cause = set.rules[rule].id
        }
        return listening
    }
}

extension Vocabulary {
    enum Delay: Hashable {
        case none
        /// Until the `up`: a hold may come.
        case release
        /// Until no further press can belong to it.
        case nextPress
    }

    /// What a click waits for.
    fileprivate var delay: Delay {
        if let fixedMode { return fixedMode.delay }
        guard usesAnyGesture else { return .nextPress }
        if patterns.contains(where: { TriggerEvent.pattern($0).goesOnAfterAClick }) { return .nextPress }
        return usesHolds || patterns.contains { $0.contains(.long) } ? .release : .none
    }

    fileprivate var clickWait: Duration? {
        switch delay {
        case .none: .zero
        case .release: nil
        case .nextPress: clickGap
        }
    }

    /// `nil` where none of the named modes, with the button's own times, does what is wanted.
    fileprivate var mode: TriggerMode? {
        if let fixedMode { return fixedMode }
        let mode = TriggerMode(serving: gestures)
        let named: Set<[PressLength]> = [[.short], [.short, .short]]
        if !patterns.isSubset(of: named) { return nil }
        if !holdStages.isSubset(of: [holdAfter]) { return nil }
        let asksForHolds = mode == .clickAndHold || mode == .clickAndDoubleClickAndHold
        if asksForHolds, holdAfter != DeclaredButton.standardHoldAfter { return nil }
        let asksForMore = mode == .clickAndDoubleClick || mode == .clickAndDoubleClickAndHold
        if asksForMore, clickGap != DeclaredButton.standardClickGap { return nil }
        return mode
    }

    private var usesHolds: Bool { usesHoldRelease || !holdStages.isEmpty }
    private var usesAnyGesture: Bool { usesHolds || !patterns.isEmpty }

    private var gestures: Set<Gesture> {
        var gestures: Set<Gesture> = []
        if patterns.contains([.short]) { gestures.insert(.click) }
        if patterns.contains([.short, .short]) { gestures.insert(.doubleClick) }
        if !holdStages.isEmpty { gestures.insert(.hold) }
        if usesHoldRelease { gestures.insert(.holdRelease) }
        return gestures
    }
}

extension TriggerMode {
    fileprivate var delay: Vocabulary.Delay {
        switch self {
        case .click: .none
        case .clickAndHold: .release
        case .clickAndDoubleClick, .clickAndDoubleClickAndHold: .nextPress
        }
    }
}

extension TriggerEvent {
    /// A pattern that begins with a click and is not over with it.
    fileprivate var goesOnAfterAClick: Bool {
        if case .pattern(let presses) = self { presses.count > 1 && presses.first == .short } else { false }
    }

    fileprivate var distinguishesLongPresses: Bool {
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
