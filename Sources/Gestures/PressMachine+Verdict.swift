import ButtonModel

// The named modes, and steps whose times nobody knows: the button says what its presses are, and when.
extension PressMachine {
    /// Times say nothing of the train under way. What is decided of it stays so.
    mutating func leaveToVerdicts() {
        switch state {
        case .released, .undecided, .long: takesVerdicts = true
        case .holding, .spent: break
        }
    }

    /// The train is at most the two presses that the button may still call a double click. A press about which it says
    /// nothing is in no gesture.
    mutating func takeVerdict(_ event: ButtonEvent, in mode: TriggerMode, into output: inout [Recognised]) {
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

        switch event.step.verdict(in: mode) {
        case .click: giveVerdict(of: 1, by: event, into: &output)
        case .doubleClick: giveVerdict(of: 2, by: event, into: &output)
        case .hold:
            let press = state == .undecided ? train.popLast() : nil
            var held = press ?? strayPress(event)
            if press == nil {
                held.up = nil
                held.down -= grammar.holdAfter
                held.at = held.at - Vocabulary.buttonsHoldAfter
            }
            train.removeAll(keepingCapacity: true)
            held.hold = Recognised.Lateness(wasQueued: held.wasQueued, age: held.age)
            state = .holding(held, fired: grammar.holdAfter)
            give(.hold(after: Vocabulary.buttonsHoldAfter), held, heldFor: Vocabulary.buttonsHoldAfter, into: &output)
        case .holdRelease, nil: break
        }
        if event.step.endsTrain { train.removeAll(keepingCapacity: true) }
    }

    private mutating func endByVerdict(_ event: ButtonEvent, into output: inout [Recognised]) {
        switch state {
        case .released:
            var press = strayPress(event)
            press.length = .short
            // Also without its `down`, a press is at most the second that the button may still call a double click.
            if train.count > 1 { train.removeFirst(train.count - 1) }
            train.append(press)
            give(.up, press, into: &output)
        case .undecided, .long:
            let last = train.count - 1
            train[last].up = clock.moment
            train[last].length = .short
            give(.up, train[last], heldFor: train[last].heldFor(at: clock.moment).duration, into: &output)
        case .holding(let press, let fired):
            let lasted = press.heldFor(at: clock.moment).duration
            give(.up, press, heldFor: lasted, into: &output)
            if fired >= 0 { give(.holdRelease, press, heldFor: lasted, into: &output) }
        case .spent(let press):
            give(.up, press, heldFor: press.heldFor(at: clock.moment).duration, into: &output)
        }
        state = .released
    }

    /// - Parameter count: of presses; of those we know.
    private mutating func giveVerdict(of count: Int, by event: ButtonEvent, into output: inout [Recognised]) {
        if train.isEmpty { train.append(strayPress(event)) }
        let last = train[train.count - 1]
        train.removeFirst(max(0, train.count - count))
        give(
            .pattern(count == 1 ? .click : .doubleClick), last, from: train[0].number, queuedOf: train.count,
            into: &output)
        train.removeAll(keepingCapacity: true)
        if state == .undecided { state = .spent(last) }
    }
}

extension PressStep {
    /// The button adds nothing to a gesture after this step.
    fileprivate var endsTrain: Bool {
        switch self {
        case .down, .hold, .up(.open): false
        case .clickTimeout, .up(.click), .up(.doubleClick), .up(.afterHold), .up(.afterHoldClick),
            .up(.afterHoldDoubleClick):
            true
        }
    }
}
