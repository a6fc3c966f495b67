package import ButtonModel

extension Vocabulary {
    /// The times that are built into the buttons: with these and no others they judge their presses themselves.
    package static let buttonsHoldAfter = Duration.seconds(1)
    package static let buttonsClickGap = Duration.milliseconds(500)

    /// The longest pattern there is.
    package static let maximumPresses = 8

    /// The mode asked of the hardware; `nil`: presses are recognised here, from `down` and `up`.
    package var mode: TriggerMode? {
        guard holdAfter == Vocabulary.buttonsHoldAfter, clickGap == Vocabulary.buttonsClickGap,
            holdStages.isSubset(of: [holdAfter])
        else { return nil }
        return gestureMode
    }

    /// How long a click waits after its `down`: zero, not at all; `nil`, until its `up`; otherwise not before its `up`.
    package var clickWait: Duration? {
        let grammar = Grammar(self)
        if grammar.firesOnDown { return .zero }
        guard let click = grammar.step(from: 0, by: .short) else { return nil }
        return grammar.isLeaf(click) ? nil : clickGap
    }

    /// The mode whose gestures these are, whatever their times: the fixed one, else the smallest that has them all.
    /// `nil`: no mode has.
    var gestureMode: TriggerMode? {
        if let fixedMode { return fixedMode }
        return patterns.isSubset(of: [.click, .doubleClick]) ? nearestMode : nil
    }

    /// The same, without the patterns that no mode has.
    var nearestMode: TriggerMode {
        if let fixedMode { return fixedMode }
        return switch (patterns.contains(.doubleClick), usesHold) {
        case (false, false): patterns.contains(.click) ? .click : .clickAndDoubleClickAndHold
        case (false, true): .clickAndHold
        case (true, false): .clickAndDoubleClick
        case (true, true): .clickAndDoubleClickAndHold
        }
    }

    var usesHold: Bool { !holdStages.isEmpty || usesHoldRelease }
}

extension TriggerMode {
    var hasHold: Bool {
        switch self {
        case .clickAndHold, .clickAndDoubleClickAndHold: true
        case .click, .clickAndDoubleClick: false
        }
    }

    var hasDoubleClick: Bool {
        switch self {
        case .clickAndDoubleClick, .clickAndDoubleClickAndHold: true
        case .click, .clickAndHold: false
        }
    }
}
