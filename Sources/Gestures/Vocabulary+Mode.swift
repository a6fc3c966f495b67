package import ButtonModel

extension Vocabulary {
    /// The fixed times of the buttons. A button's own classification of presses can be used only with these times.
    package static let buttonsHoldAfter = Duration.seconds(1)
    package static let buttonsClickGap = Duration.milliseconds(500)

    /// The maximum number of presses in a pattern.
    package static let maximumPresses = 8

    /// The trigger mode in which the button's own classification is used; `nil` if presses are recognised from `down`
    /// and `up` in software.
    package var mode: TriggerMode? {
        guard holdAfter == Vocabulary.buttonsHoldAfter, clickGap == Vocabulary.buttonsClickGap,
            holdStages.isSubset(of: [holdAfter])
        else { return nil }
        return gestureMode
    }

    /// How long a click is delayed after its `down`: zero if it fires on `down`; `nil` if it fires on `up`; otherwise
    /// the time in which a second press may follow, and at least until its `up`.
    package var clickWait: Duration? {
        let grammar = Grammar(self)
        if grammar.firesOnDown { return .zero }
        guard let click = grammar.step(from: 0, by: .short) else { return nil }
        return grammar.isLeaf(click) ? nil : clickGap
    }

    /// The trigger mode with exactly these gestures, regardless of the times: the fixed mode, else the smallest mode
    /// that includes all of them. `nil` if there is no such mode.
    var gestureMode: TriggerMode? {
        if let fixedMode { return fixedMode }
        return patterns.isSubset(of: [.click, .doubleClick]) ? nearestMode : nil
    }

    /// The trigger mode as in `gestureMode`, ignoring patterns that exist in no mode.
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
