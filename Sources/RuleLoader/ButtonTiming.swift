package import ButtonModel
import Gestures
package import Rules

/// How a button's presses are read because of the rules, and what a click on it waits for.
package struct ButtonTiming: Hashable, Sendable {
    package enum Wait: Hashable, Sendable {
        /// It fires when the button goes down.
        case none
        /// Until the button goes up.
        case untilUp
        /// So long after the button went down, and until it goes up.
        case gap(Duration)
    }

    /// The declared name.
    package var button: String
    /// What is asked of the hardware; `nil`: raw presses, which are recognised here.
    package var mode: TriggerMode?
    /// The user chose the mode.
    package var isFixed: Bool
    package var wait: Wait
    /// The id of the first rule that makes a click wait; `nil` where the mode does, or nothing.
    package var cause: String?

    package init(button: String, mode: TriggerMode?, isFixed: Bool, wait: Wait, cause: String?) {
        self.button = button
        self.mode = mode
        self.isFixed = isFixed
        self.wait = wait
        self.cause = cause
    }
}

extension ButtonTiming {
    /// Of every button of a set, in the order of their declarations.
    package static func all(of set: RuleSet) -> [ButtonTiming] {
        let uses = ButtonUses(set)
        return set.buttons.indices.map { index in
            let button = set.buttons[index]
            let wanted = uses.allWanted(of: index)
            let mode = button.triggerMode ?? wanted.mode(of: button)
            let (wait, cause) = wanted.wait(on: button, mode)
            return ButtonTiming(
                button: button.name, mode: mode, isFixed: button.triggerMode != nil, wait: wait,
                cause: cause?.rule.map { set.rules[$0].id })
        }
    }
}

extension ButtonUses.Wanted {
    /// The smallest mode that serves; `nil` where none does.
    fileprivate func mode(of button: DeclaredButton) -> TriggerMode? {
        let hasOwnTimes =
            button.holdAfter != DeclaredButton.standardHoldAfter || button.clickGap != DeclaredButton.standardClickGap
        guard !isEmpty else { return .clickAndDoubleClickAndHold }
        guard !hasOwnTimes, patterns.keys.allSatisfy({ $0 == [.short] || $0 == [.short, .short] }),
            stages.keys.allSatisfy({ $0 == nil || $0 == button.holdAfter })
        else { return nil }
        return Vocabulary(
            patterns: Set(patterns.keys), usesHoldRelease: hold != nil
        ).mode
    }

    /// What a click waits for, and because of which rule.
    ///
    /// - Parameter mode: fixed, or what serves.
    fileprivate func wait(
        on button: DeclaredButton, _ mode: TriggerMode?
    ) -> (ButtonTiming.Wait, cause: ButtonUses.Use?) {
        if let longer = first(where: { $0.count > 1 && $0.first == .short }) { return (.gap(button.clickGap), longer) }
        if mode == .clickAndDoubleClick || mode == .clickAndDoubleClickAndHold { return (.gap(button.clickGap), nil) }
        if let hold = hold ?? first(where: { $0.first == .long }) { return (.untilUp, hold) }
        return mode == .clickAndHold ? (.untilUp, nil) : (.none, nil)
    }
}
