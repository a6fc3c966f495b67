import ButtonModel
import Feed

// What is done with the buttons.
extension EnginesWorld {
    /// What is acted on: a step of `hall`, a press of `attic` or `stair`, or a turn of `dial`.
    struct Press: Hashable {
        var button: ButtonID
        /// The counter of a step of `hall`; for the other buttons, presses and turns are counted from 1.
        var number: Int
    }

    /// A number of a button's journal.
    struct Place: Hashable {
        var site: String
        var installation: String
        var button: ButtonID
        var number: Int
    }

    /// How a button is pressed.
    enum Gesture: CaseIterable {
        case click, doubleClick
        /// Down for 0.7 s.
        case longClick
        /// A hold begins. The next gesture of the button is its end.
        case hold
    }

    /// The state of the buttons themselves.
    struct Pad {
        fileprivate var counters: [ButtonID: UInt32] = [:]
        /// The clock of each button at its last step.
        fileprivate var ticks: [ButtonID: UInt64] = [:]
        /// The number of presses and turns so far.
        fileprivate var counts: [ButtonID: Int] = [:]
        /// The site at which `hall` is.
        var hallSite = 0
        fileprivate var isHallDown = false
        /// The last steps of `hall`.
        fileprivate var hallSteps: [ButtonEvent] = []
        /// The press of `attic` that is a hold and has not ended.
        fileprivate(set) var held: Press?

        fileprivate mutating func next(_ button: ButtonID) -> Press {
            counts[button, default: 0] += 1
            return Press(button: button, number: counts[button] ?? 0)
        }

        /// The next step of a button, at least this long after the one before.
        fileprivate mutating func event(
            _ button: ButtonID, _ step: PressStep, after milliseconds: UInt64, swipe: SwipeDirection? = nil,
            at now: Instant
        ) -> ButtonEvent {
            counters[button, default: 0] += 1
            let clock = UInt64(max(0, now.nanoseconds)) / 1_000_000
            let ticks = max(clock * 32_768 / 1000, (self.ticks[button] ?? 0) + milliseconds * 32_768 / 1000)
            self.ticks[button] = ticks
            return ButtonEvent(
                button: button, bootID: 7, counter: counters[button] ?? 0, step: step, ticks: ticks,
                part: button == EnginesWorld.stair ? .big : nil, swipe: swipe)
        }
    }

    /// The site that has a button.
    private func site(of button: ButtonID) -> Int? {
        button == Self.hall ? pad.hallSite : sites.firstIndex { $0.disk.facts[button] != nil }
    }

    // MARK: The buttons

    /// Presses or releases `hall`.
    mutating func pressHall() {
        guard sites[pad.hallSite].uplink != nil else { return }
        let isUp = features.contains(.ups) && pad.isHallDown
        let event = pad.event(Self.hall, isUp ? .up(.open) : .down, after: 100, at: now)
        pad.isHallDown = !isUp
        pad.hallSteps = pad.hallSteps.suffix(3) + [event]
        let press = Press(button: Self.hall, number: Int(event.counter))
        account.made(press)
        journal([.press(event)], press, pad.hallSite)
    }

    /// Carries `hall` to the other site.
    ///
    /// - Parameters:
    ///   - isHasty: whether it may have presses that wait at the former site.
    ///   - count: how many of its last steps the former site has not acknowledged, so that it repeats them.
    mutating func carryHall(isHasty: Bool, repeating count: Int) {
        guard sites.count == 2, isHasty || sites[pad.hallSite].disk.entries[Self.hall]?.isEmpty ?? true else { return }
        pad.hallSite = 1 - pad.hallSite
        guard isHasty, sites[pad.hallSite].uplink != nil else { return }
        for event in pad.hallSteps.suffix(count) {
            journal([.press(event)], Press(button: Self.hall, number: Int(event.counter)), pad.hallSite)
        }
    }

    /// Makes a gesture with a button. Each of its messages has one step, or all steps of a press.
    mutating func make(_ gesture: Gesture, with button: ButtonID, isTogether: Bool) {
        guard let site = site(of: button), sites[site].uplink != nil else { return }
        if button == Self.attic, pad.held != nil { return release() }
        switch gesture {
        case .click:
            press(button, [(.down, 600), (.up(.open), 100), (.clickTimeout, 400)], site, isTogether)
        case .doubleClick:
            press(button, [(.down, 600), (.up(.open), 100)], site, isTogether)
            press(button, [(.down, 100), (.up(.doubleClick), 100)], site, isTogether)
        case .longClick: press(button, [(.down, 600), (.up(.click), 700)], site, isTogether)
        case .hold:
            guard button == Self.attic else { break }
            pad.held = press(button, [(.down, 600), (.hold(ofSecondPress: false), 1000)], site, isTogether)
        }
    }

    /// Ends the hold of `attic`.
    mutating func release() {
        guard let held = pad.held, let site = site(of: Self.attic), sites[site].uplink != nil else { return }
        pad.held = nil
        journal([.press(pad.event(Self.attic, .up(.afterHold), after: 100, at: now))], held, site)
    }

    mutating func swipe(isTogether: Bool) {
        guard let site = site(of: Self.stair), sites[site].uplink != nil else { return }
        press(Self.stair, [(.down, 600), (.up(.open), 100)], site, isTogether, swipe: .right)
    }

    mutating func turn(_ steps: Int) {
        guard let site = site(of: Self.dial), sites[site].uplink != nil else { return }
        let press = pad.next(Self.dial)
        account.made(press, steps: steps)
        let position = (press.number * 7) % 100
        let movement = ButtonMovement(
            button: Self.dial, part: .dial, steps: steps, position: position, slot: 1, dial: .slot(1),
            units: Dial.units(percentage: position))
        journal([.turn(movement)], press, site)
    }

    // MARK: The journals

    /// - Parameters:
    ///   - steps: with the milliseconds after the step before.
    ///   - swipe: of the last step.
    @discardableResult
    private mutating func press(
        _ button: ButtonID, _ steps: [(PressStep, UInt64)], _ site: Int, _ isTogether: Bool,
        swipe: SwipeDirection? = nil
    ) -> Press {
        let press = pad.next(button)
        account.made(press)
        var events: [FeedStep] = []
        for (index, (step, milliseconds)) in steps.enumerated() {
            let isLast = index == steps.count - 1
            events.append(
                .press(pad.event(button, step, after: milliseconds, swipe: isLast ? swipe : nil, at: now)))
        }
        for message in isTogether ? [events] : events.map({ [$0] }) { journal(message, press, site) }
        return press
    }

    private mutating func journal(_ steps: [FeedStep], _ press: Press, _ site: Int) {
        guard let last = sites[site].disk.facts[press.button]?.last else { return }
        let entry = FeedEntry(number: last + 1, receivedAt: now, steps: steps)
        sites[site].disk.facts[press.button]?.last = entry.number
        let session = sites[site].disk.session + (sites[site].isConnected ? 0 : 1)
        sites[site].disk.entries[press.button, default: []].append(
            Entry(feed: entry, press: press, session: session))
        sites[site].inputs.append(.recorded(press.button, entry))
    }
}
