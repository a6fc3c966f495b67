import ButtonModel

// Presses whose beginning another program has handled. Only that one knows whether it has reported a hold, and it may be gone. A
// light that a hold has begun to dim would dim for ever, so the end of a possible hold is reported.
extension PressMachine {
    /// Forgets the train and the press that is down, because another program has handled them.
    ///
    /// - Parameter mayBeDown: whether a press may be down that this machine does not know. Until the next `down`, events are in no
    ///   gesture, and a train that begins with that `down` is decided by its times, because the button may count it together with
    ///   a press that is not known here.
    mutating func inherit(mayBeDown: Bool) {
        train = []
        state = .released
        isReservedForChord = false
        lostLinkDuringPress = false
        isRestored = false
        latestPress = nil
        linkLostAt = nil
        settlesAt = nil
        holdEndsAt = nil
        reevaluatesAt = nil
        usesButtonVerdicts = grammar.verdictMode != nil
        isInherited = mayBeDown
        rearm()
    }

    /// Handles an event of a press whose `down` another program has handled.
    mutating func handleInherited(_ event: ButtonEvent, into output: inout [RecognisedEvent]) {
        if case .up(let release) = event.step {
            var press = pressWithoutDown(event)
            let lasted = grammar.leastHold(endingWith: release)?.duration
            if let lasted { press.at = press.at - lasted }
            report(.up, press, heldFor: lasted ?? .zero, into: &output)
            if let lasted {
                // Rules accept the end of a hold if they have accepted the hold. How late the hold was reported is not known, so it
                // counts as reported in time.
                press.hold = RecognisedEvent.Lateness(wasQueued: false, age: .zero)
                report(.holdRelease, press, heldFor: lasted, into: &output)
            }
        }
        rearm()
    }
}

extension Grammar {
    /// How long the buttons hold a press before they say that it is no click any more, and no part of a double click.
    private static let buttonsHoldAfter = Ticks(Vocabulary.buttonsHoldAfter)
    private static let buttonsClickGap = Ticks(Vocabulary.buttonsClickGap)

    /// The least time for which a press was held that ends with this release, if a hold of the press may have been reported; `nil`
    /// if no hold can have been reported.
    func leastHold(endingWith release: PressStep.Release) -> Ticks? {
        guard let stage = holdStages.first else { return nil }
        // The second press of a double click is no hold.
        let hasDoubleClick = step(from: 0, by: .short).map { !isLeaf($0) } ?? false
        let limit: Ticks
        switch release {
        case .open: limit = Self.buttonsClickGap
        case .click: limit = Self.buttonsHoldAfter
        case .doubleClick where hasDoubleClick, .afterHoldDoubleClick where hasDoubleClick: return nil
        case .doubleClick: limit = Self.buttonsHoldAfter
        case .afterHold, .afterHoldClick, .afterHoldDoubleClick: return max(stage, Self.buttonsHoldAfter)
        }
        return stage < limit ? stage : nil
    }
}
