import ButtonModel

// Recognition by the button's own verdicts, in trigger modes and for events without exact times.
extension PressMachine {
    /// Leaves the current train to the button's verdicts, because its times are inexact. Earlier decisions stay.
    mutating func switchToVerdicts() {
        switch state {
        case .released, .undecided, .long: usesButtonVerdicts = true
        case .holding, .spent: break
        }
    }

    /// Handles an event by the button's verdict in a trigger mode. The train has at most the two presses of a possible
    /// double click. A press without a verdict is in no gesture.
    mutating func takeVerdict(_ event: ButtonEvent, in mode: TriggerMode, into output: inout [RecognisedEvent]) {
        switch event.step {
        case .down:
            switch state {
            case .undecided, .long: train.removeLast()
            case .holding: endHold(at: clock.arrival.instant, into: &output)
            case .released, .spent: break
            }
            if train.count > 1 { train.removeFirst(train.count - 1) }
            begin(event, holdsBack: false, into: &output)
        case .up:
            endByVerdict(event, into: &output)
        case .hold, .clickTimeout:
            break
        }

        switch event.step.classification(in: mode) {
        case .click: giveVerdict(of: 1, by: event, into: &output)
        case .doubleClick: giveVerdict(of: 2, by: event, into: &output)
        case .hold:
            let press = state == .undecided ? train.popLast() : nil
            var held = press ?? pressWithoutDown(event)
            if press == nil {
                held.up = nil
                held.down -= grammar.holdAfter
                held.at = held.at - Vocabulary.buttonsHoldAfter
            }
            train.removeAll(keepingCapacity: true)
            held.hold = RecognisedEvent.Lateness(wasQueued: held.wasQueued, age: held.age)
            state = .holding(held, fired: grammar.holdAfter)
            report(.hold(after: Vocabulary.buttonsHoldAfter), held, heldFor: Vocabulary.buttonsHoldAfter, into: &output)
        case .holdRelease, nil: break
        }
        guard event.step.endsTrain else { return }
        // If the `up` was lost, the press is still open, and ends with the next event.
        let isOpen = state == .undecided || state == .long
        train.removeFirst(max(0, train.count - (isOpen ? 1 : 0)))
    }

    private mutating func endByVerdict(_ event: ButtonEvent, into output: inout [RecognisedEvent]) {
        switch state {
        case .released:
            var press = pressWithoutDown(event)
            press.length = .short
            // This press may be the second of a double click, so one earlier press is kept.
            if train.count > 1 { train.removeFirst(train.count - 1) }
            train.append(press)
            report(.up, press, into: &output)
        case .undecided, .long:
            let last = train.count - 1
            train[last].up = clock.moment
            train[last].length = .short
            report(.up, train[last], heldFor: train[last].heldFor(at: clock.moment).duration, into: &output)
        case .holding(let press, let fired):
            let lasted = press.heldFor(at: clock.moment).duration
            report(.up, press, heldFor: lasted, into: &output)
            if fired >= 0 { report(.holdRelease, press, heldFor: lasted, into: &output) }
        case .spent(let press):
            report(.up, press, heldFor: press.heldFor(at: clock.moment).duration, into: &output)
        }
        state = .released
    }

    /// Reports a click (`count` 1) or a double click (2). The train has fewer presses if events were lost.
    private mutating func giveVerdict(of count: Int, by event: ButtonEvent, into output: inout [RecognisedEvent]) {
        if train.isEmpty { train.append(pressWithoutDown(event)) }
        let last = train[train.count - 1]
        train.removeFirst(max(0, train.count - count))
        report(
            .pattern(count == 1 ? .click : .doubleClick), last, from: train[0].number, queuedOf: train.count,
            into: &output)
        train.removeAll(keepingCapacity: true)
        if state == .undecided || state == .long { state = .spent(last) }
    }
}

extension PressStep {
    /// True if the button's verdict on the train is complete with this step.
    fileprivate var endsTrain: Bool {
        switch self {
        case .down, .hold, .up(.open): false
        case .clickTimeout, .up(.click), .up(.doubleClick), .up(.afterHold), .up(.afterHoldClick),
            .up(.afterHoldDoubleClick):
            true
        }
    }
}
