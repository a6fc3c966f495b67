import ButtonModel
import Feed

// What is done with the buttons.
extension EnginesWorld {
    /// What is acted on: a step of `hall`, a press of `attic` or `stair`, or a turn of `dial`. They are counted from 1 for each button.
    struct Press: Hashable, CustomStringConvertible {
        var button: ButtonID
        var number: Int

        var description: String { "\(EnginesWorld.names[button] ?? "") \(number)" }
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
        /// What identifies a step of a press.
        private struct Step: Hashable {
            var button: ButtonID
            var bootID: UInt32
            var part: ButtonPart?
            var counter: UInt32
        }

        /// What a button has since it has booted last.
        private struct Boot {
            var id: UInt32 = 7
            /// The milliseconds of the world's clock.
            var at: UInt64 = 0
            var counters: [ButtonPart?: UInt32] = [:]
            /// The button's clock at the last step.
            var ticks: UInt64 = 0
        }

        private var boots: [ButtonID: Boot] = [:]
        private var presses: [Step: Press] = [:]
        /// The turns by how far they are. Each is a power of two, so that a sum of turns says which they are.
        private var turns: [Int: Press] = [:]
        /// The number of presses and turns so far.
        private var counts: [ButtonID: Int] = [:]
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

        /// The next step of a press, at least this long after the step before.
        fileprivate mutating func event(
            of press: Press, _ step: PressStep, after milliseconds: UInt64, part: ButtonPart? = nil,
            swipe: SwipeDirection? = nil, at now: Instant
        ) -> ButtonEvent {
            var boot = boots[press.button] ?? Boot()
            let counter = (boot.counters[part] ?? 0) + 1
            boot.counters[part] = counter
            let clock = Self.milliseconds(now) - boot.at
            boot.ticks = max(clock * 32_768 / 1000, boot.ticks + milliseconds * 32_768 / 1000)
            boots[press.button] = boot
            presses[Step(button: press.button, bootID: boot.id, part: part, counter: counter)] = press
            return ButtonEvent(
                button: press.button, bootID: boot.id, counter: counter, step: step, ticks: boot.ticks, part: part,
                swipe: swipe)
        }

        private static func milliseconds(_ now: Instant) -> UInt64 { UInt64(max(0, now.nanoseconds)) / 1_000_000 }

        /// The press of a step.
        func press(of event: ButtonEvent) -> Press? {
            presses[Step(button: event.button, bootID: event.bootID, part: event.part, counter: event.counter)]
        }

        /// The next turn of `dial`, and how far it is.
        fileprivate mutating func nextTurn() -> (press: Press, steps: Int) {
            let press = next(EnginesWorld.dial)
            let steps = 1 << ((press.number - 1) % 16)
            turns[steps] = press
            return (press, steps)
        }

        /// The turns with this sum.
        func turns(ofSum sum: Int) -> [Press] { turns.keys.sorted().filter { sum & $0 != 0 }.compactMap { turns[$0] } }

        /// Changes the battery of a button: its boot has another id, and its counters and its clock begin anew.
        fileprivate mutating func reboot(_ button: ButtonID, at now: Instant) {
            let id = (boots[button] ?? Boot()).id + 1
            boots[button] = Boot(id: id, at: Self.milliseconds(now))
            guard button == EnginesWorld.hall else { return }
            isHallDown = false
            hallSteps = []
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
        let press = pad.next(Self.hall)
        let event = pad.event(of: press, isUp ? .up(.open) : .down, after: 100, at: now)
        pad.isHallDown = !isUp
        pad.hallSteps = pad.hallSteps.suffix(3) + [event]
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
            if let press = pad.press(of: event) { journal([.press(event)], press, pad.hallSite) }
        }
    }

    /// Changes the battery of a button, unless it is held down.
    mutating func reboot(_ button: ButtonID) {
        guard button != Self.attic || pad.held == nil else { return }
        pad.reboot(button, at: now)
    }

    /// Makes a gesture with a button. Each of its messages has one step, or all steps of a press.
    mutating func make(_ gesture: Gesture, with button: ButtonID, _ part: ButtonPart? = nil, isTogether: Bool) {
        guard let site = site(of: button), sites[site].uplink != nil else { return }
        if button == Self.attic, pad.held != nil { return release() }
        switch gesture {
        case .click:
            press(button, part, [(.down, 600), (.up(.open), 100), (.clickTimeout, 400)], site, isTogether)
        case .doubleClick:
            press(button, part, [(.down, 600), (.up(.open), 100)], site, isTogether)
            press(button, part, [(.down, 100), (.up(.doubleClick), 100)], site, isTogether)
        case .longClick: press(button, part, [(.down, 600), (.up(.click), 700)], site, isTogether)
        case .hold:
            guard button == Self.attic else { break }
            let held = press(button, part, [(.down, 600), (.hold(ofSecondPress: false), 1000)], site, isTogether)
            pad.held = held
            account.isHold(held)
        }
    }

    /// Ends the hold of `attic`.
    mutating func release() {
        guard let held = pad.held, let site = site(of: Self.attic), sites[site].uplink != nil else { return }
        pad.held = nil
        journal([.press(pad.event(of: held, .up(.afterHold), after: 100, at: now))], held, site)
    }

    mutating func swipe(_ part: ButtonPart, isTogether: Bool) {
        guard let site = site(of: Self.stair), sites[site].uplink != nil else { return }
        press(Self.stair, part, [(.down, 600), (.up(.open), 100)], site, isTogether, swipe: .right)
    }

    mutating func turn() {
        guard let site = site(of: Self.dial), sites[site].uplink != nil else { return }
        let (press, steps) = pad.nextTurn()
        account.made(press)
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
        _ button: ButtonID, _ part: ButtonPart?, _ steps: [(PressStep, UInt64)], _ site: Int, _ isTogether: Bool,
        swipe: SwipeDirection? = nil
    ) -> Press {
        let press = pad.next(button)
        account.made(press)
        var events: [FeedStep] = []
        for (index, (step, milliseconds)) in steps.enumerated() {
            let isLast = index == steps.count - 1
            events.append(
                .press(
                    pad.event(
                        of: press, step, after: milliseconds, part: part, swipe: isLast ? swipe : nil, at: now)))
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
