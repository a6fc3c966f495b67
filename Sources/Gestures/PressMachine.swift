import ButtonModel

/// Recognises the gestures of one button, or of one part of a button, in its press events.
///
/// Presses that may still form one pattern are a *train*. The machine follows the train in the prefix tree of
/// `Grammar`, and waits only while a longer pattern is possible. Then it reports the longest pattern that was complete
/// on the way, and treats the presses after this pattern as a new train; they keep their times and lengths. This is
/// called *settling*.
///
/// | state        | input                                      | next      | output                                    |
/// |--------------|--------------------------------------------|-----------|-------------------------------------------|
/// | released     | `down` within `clickGap` of a press        | undecided | `down`; the train grows                   |
/// | released     | `down`, later or first                     | undecided | gestures of the train; `down` (new train) |
/// | released     | `down`, if `Grammar.firesOnDown`           | spent     | `down`, `click`                           |
/// | released     | `clickGap` is over                         | released  | gestures of the train                     |
/// | released     | `up`                                       | released  | `up`                                      |
/// | undecided    | first press reaches the hold threshold     | holding   | `hold`, if this is a stage                |
/// | undecided    | `holdAfter`, and the tree has `long` here  | long      |                                           |
/// | undecided    | the same, and no longer pattern exists     | spent     | the pattern                               |
/// | undecided    | `up`, and a longer pattern exists          | released  | `up`                                      |
/// | undecided    | `up`; none exists, or `clickGap` is over   | released  | `up`, gestures of the train               |
/// | long         | `up`                                       | released  | `up`; `clickGap` starts here              |
/// | holding      | time of a further stage                    | holding   | `hold`                                    |
/// | holding      | `up`                                       | released  | `up`, `hold_release` after a stage        |
/// | holding      | link lost `supervisionTimeout` ago, reboot | spent     | `hold_release` after a stage              |
/// | holding      | `down`, because the `up` was lost          | undecided | the same, and `down`                      |
/// | spent        | `up`                                       | released  | `up`                                      |
/// | undecided    | a chord takes the press                    | spent     | gestures of the train without this press  |
/// | undec., long | rotation by `minimumTurn`                    | spent     | gestures of the train without this press  |
/// | undec., long | `up` that ends a swipe                     | released  | the same; `up`, `swipe`                   |
/// | not released | `down`, because the `up` was lost          | undecided | gestures without the lost press; `down`   |
/// | any          | link lost                                  | unchanged | nothing; timers wait until `settlesAt`    |
/// | any but a reported hold | abandoned                       | spent, or released | nothing                          |
/// | any          | inherited                                  | released  | nothing; at an `up` after a hold `hold_release` |
///
/// The hold threshold is `holdAfter` or the first stage, whichever is earlier.
///
/// **Clocks.** A decision that follows from an event's time stamp, on the button's clock, is made when the event
/// arrives. Otherwise the deadlines are instants on the host's clock, computed from the last event. They wait while the
/// button sends stored events, and for some time after a lost link (`settlesAt`). Only the end of a reported hold does
/// not wait for the link (`holdEndsAt`), because what the hold started must end. At the same moment, a `down` comes
/// before the end of the gap, and a hold before the `up`.
///
/// **Presses and gestures.** A press is part of at most one gesture; a `hold` and its `hold_release` count as one. It
/// is part of none if no pattern begins with it after the longest match before it, if it was released before the first
/// stage of a hold, or if its `up` was lost. In the trigger modes the button's own verdicts replace all this
/// (`PressMachine+Verdict.swift`); with the button's times the result is the same. A swipe is known only at the `up`: a
/// press that was already reported as a hold, or that a chord took, is no swipe. A press during which the button was
/// turned is in no gesture. The button does not know this, so its verdict on the next press may count the turned press,
/// and is not used.
struct PressMachine: Sendable {
    enum State: Hashable, Sendable {
        /// No press is down. The train may be empty.
        case released
        /// The last press of the train is down, and its length is undecided.
        case undecided
        /// The last press of the train is down, and counts as long.
        case long
        /// A hold, which is not in the train. `fired` is the latest reported stage, or −1.
        case holding(Press, fired: Ticks)
        /// A press that is down, and cannot become part of another gesture. It is not in the train.
        case spent(Press)
    }

    /// How long a train waits for missing events after a lost link: as long as the default `max_age` of rules.
    static let missingEventWait = Duration.seconds(3)
    /// A train that waited longer for the end of a press counts as stored. A live event may be a second late.
    static let lateThreshold = missingEventWait + .seconds(1)
    /// The connection supervision timeout that is requested from buttons, after which a silent link is lost. A link
    /// that ended in another way has as long to return before a hold ends.
    static let supervisionTimeout = Duration.seconds(8)
    /// `missingEventWait` after a restart of the process, when the link must be established first. It may exceed `max_age`,
    /// because restored presses get their true age.
    static let missingEventWaitAfterRestart = Duration.seconds(10)

    let button: ButtonID
    let part: ButtonPart?
    var grammar: Grammar
    /// True if the button is in a chord. Its own verdicts are then not used, because they do not consider chords.
    var isInChord = false

    var state = State.released
    /// In order of time; at most one press longer than the longest pattern. Only an open last press lacks a length.
    var train: [Press] = []
    var clock = ButtonClock()
    var pressCount: UInt64 = 0
    /// True if the button's verdicts decide the current train. It is chosen at the start of a train, and applies to
    /// verdicts on the train that arrive after it has ended.
    var usesButtonVerdicts: Bool
    /// True if the press that is down is held back, because a chord may still take it.
    var isReservedForChord = false
    /// The rotation during the last press, in hundredths of a turn.
    private var turned = 0
    /// The button's clock at the latest `down`, or at the `up` of a swipe whose `down` was lost.
    var latestPress: ButtonClock.Reading?
    /// True if the link was lost while a press was down, and no event has arrived since.
    var lostLinkDuringPress = false
    /// True if the train, or its beginning, was restored from an earlier process.
    var isRestored = false
    /// True until the next `down` if a press may be down that only another program knows (`PressMachine+Inherited.swift`).
    var isInherited = false
    /// The host's clock decides nothing before this instant, because missing events may still arrive.
    var settlesAt: Instant?
    /// When the link was lost; `nil` if it was not lost since the latest press began.
    var linkLostAt: Instant?
    /// When the end of a reported hold is reported without an `up`, unless the link returns before.
    var holdEndsAt: Instant?
    /// When `reevaluate` must examine the train, because the grammar has changed.
    var reevaluatesAt: Instant?
    /// When `timePassed` must be called.
    private(set) var deadline: Instant?

    init(button: ButtonID, part: ButtonPart?, grammar: Grammar) {
        self.button = button
        self.part = part
        self.grammar = grammar
        usesButtonVerdicts = grammar.verdictMode != nil
        train.reserveCapacity(Vocabulary.maximumPresses)
    }

    var isIdle: Bool { train.isEmpty && state == .released }

    /// - Parameter holdsBack: whether a chord may take the press that begins.
    mutating func handle(
        _ event: ButtonEvent, at now: Instant, holdsBack: Bool = false, into output: inout [RecognisedEvent]
    ) {
        reevaluate(into: &output)
        holdEndsAt = nil
        let startsOver = isIdle
        clock.advance(to: event, at: now, startsOver: startsOver)
        settlesAt = event.wasQueued && !event.wasQueuedLast ? now + GestureRecogniser.storedEventGap : nil
        lostLinkDuringPress = false
        if isRestored { ageRestoredPresses(by: event.age, to: clock.moment, clock.instant) }
        if isInherited, event.step != .down { return handleInherited(event, into: &output) }
        if startsOver && event.step == .down {
            usesButtonVerdicts =
                grammar.verdictMode != nil && !isInChord && !isInherited && !isCountedWithDecidedPress(event)
            isInherited = false
        }
        if event.step == .down { latestPress = clock.latest }
        if event.isTimeRough { switchToVerdicts() }
        if event.step != .down { note(event) }

        if let direction = event.swipe, event.step.isUp {
            endAsSwipe(event, direction, into: &output)
        } else if usesButtonVerdicts {
            takeVerdict(event, in: grammar.verdictMode ?? grammar.nearestMode, into: &output)
        } else {
            switch event.step {
            case .down:
                endPressWithoutUp(at: now, into: &output)
                advance(to: clock.moment, into: &output)
                begin(event, holdsBack: holdsBack, into: &output)
                fireOnDown(into: &output)
            case .hold:
                advance(to: clock.moment, into: &output)
            case .clickTimeout:
                advance(to: clock.moment, endsGap: true, into: &output)
            case .up:
                isReservedForChord = false
                advance(to: clock.moment, into: &output)
                end(event, into: &output)
            }
            if settlesAt == nil { advance(to: clock.arrival.moment, into: &output) }
        }
        rearm()
    }

    /// True if the button may count a press that begins together with the press before it, which was decided without its
    /// verdict: a swipe, a turn, or a click that was reported after a restart because nothing followed for some time.
    private func isCountedWithDecidedPress(_ event: ButtonEvent) -> Bool {
        guard !usesButtonVerdicts, let latestPress, latestPress.bootID == event.bootID else { return false }
        return Ticks(from: latestPress.ticks, to: event.ticks) <= grammar.clickGap
    }

    /// Handles the loss of the link. Events that have not arrived by now arrive later as stored events, or never.
    mutating func linkLost(at now: Instant, into output: inout [RecognisedEvent]) {
        liftHoldBack(at: now, into: &output)
        lostLinkDuringPress = state != .released
        settlesAt = now + PressMachine.missingEventWait
        if state == .released, let last = train.last, now < last.at + PressMachine.missingEventWait {
            // No press is down, so the train is decided before its gestures are too old for `missingEventWait`.
            settlesAt = last.at + PressMachine.missingEventWait
        }
        linkLostAt = now
        if case .holding(_, let fired) = state, fired >= 0 { holdEndsAt = now + PressMachine.supervisionTimeout }
        rearm()
    }

    /// Cancels the end of a hold without an `up`, because the button can report the `up` again.
    mutating func linkReturned() {
        holdEndsAt = nil
        rearm()
    }

    /// Handles a rotation while the button is pressed, in hundredths of a whole turn, clockwise positive.
    mutating func turn(by steps: Int, into output: inout [RecognisedEvent]) {
        guard state == .undecided || state == .long else { return }
        let (sum, overflow) = turned.addingReportingOverflow(steps)
        turned = overflow ? Vocabulary.minimumTurn : sum
        guard turned.magnitude >= Vocabulary.minimumTurn else { return }
        usesButtonVerdicts = false
        spendPress(into: &output)
    }

    /// Updates `deadline`. Every function that handles an input must end with this call.
    mutating func rearm() { deadline = nextDeadline }
}

// MARK: - Begin and end of a press

extension PressMachine {
    mutating func begin(_ event: ButtonEvent, holdsBack: Bool, into output: inout [RecognisedEvent]) {
        pressCount &+= 1
        turned = 0
        linkLostAt = nil
        let press = Press(
            number: pressCount, down: clock.moment, wasQueued: event.wasQueued, wasQueuedLast: event.wasQueuedLast,
            age: event.age, at: clock.instant)
        train.append(press)
        state = .undecided
        isReservedForChord = holdsBack
        report(.down, press, into: &output)
    }

    mutating func end(_ event: ButtonEvent, into output: inout [RecognisedEvent]) {
        switch state {
        case .released:
            report(.up, pressWithoutDown(event), into: &output)
        case .undecided, .long:
            let last = train.count - 1
            train[last].up = clock.moment
            let lasted = train[last].heldFor(at: clock.moment)
            let length = train[last].length ?? (last == 0 && isLong(lasted) ? .long : .short)
            train[last].length = length
            state = .released
            report(.up, train[last], heldFor: lasted.duration, into: &output)
            settle(isOver: length == .short && lasted > grammar.clickGap, into: &output)
        case .holding(let press, let fired):
            state = .released
            let lasted = press.heldFor(at: clock.moment).duration
            report(.up, press, heldFor: lasted, into: &output)
            if fired >= 0 { report(.holdRelease, press, heldFor: lasted, into: &output) }
        case .spent(let press):
            state = .released
            report(.up, press, heldFor: press.heldFor(at: clock.moment).duration, into: &output)
        }
    }

    /// Ends a press as a swipe. Later verdicts of the button on the train are ignored, because it is decided here.
    private mutating func endAsSwipe(
        _ event: ButtonEvent, _ direction: SwipeDirection, into output: inout [RecognisedEvent]
    ) {
        isReservedForChord = false
        advance(to: clock.moment, into: &output)
        usesButtonVerdicts = false
        switch state {
        case .released, .undecided, .long:
            var press = state == .released ? nil : train.popLast()
            press?.up = clock.moment
            state = .released
            settle(isOver: true, into: &output)
            if press == nil { latestPress = clock.latest }
            let swiped = press ?? pressWithoutDown(event)
            report(.up, swiped, heldFor: swiped.heldFor(at: clock.moment).duration, into: &output)
            report(.swipe(direction), swiped, into: &output)
        case .holding, .spent:
            end(event, into: &output)
        }
    }

    /// Removes the press that is down from the train, and settles the others.
    private mutating func spendPress(into output: inout [RecognisedEvent]) {
        guard let press = train.popLast() else { return }
        isReservedForChord = false
        state = .released
        settle(isOver: true, into: &output)
        state = .spent(press)
        rearm()
    }

    /// Forgets the train and the press that is down, so that they become part of no gesture. A hold that was reported stays, because
    /// its end is reported.
    mutating func abandon() {
        isReservedForChord = false
        let open: Press?
        switch state {
        case .holding(_, let fired) where fired >= 0: return
        case .holding(let press, _), .spent(let press): open = press
        case .undecided, .long: open = train.last
        case .released: open = nil
        }
        train = []
        state = open.map(State.spent) ?? .released
        // A verdict of the button on these presses must not count either.
        usesButtonVerdicts = false
        rearm()
    }

    /// Creates a press for an event whose `down` has not been received.
    mutating func pressWithoutDown(_ event: ButtonEvent) -> Press {
        pressCount &+= 1
        return Press(
            number: pressCount, down: clock.moment, up: clock.moment, wasQueued: event.wasQueued,
            wasQueuedLast: event.wasQueuedLast, age: event.age, at: clock.instant)
    }

    func isLong(_ span: Ticks) -> Bool { grammar.distinguishesLength && span >= grammar.holdAfter }

    mutating func note(_ event: ButtonEvent) {
        switch state {
        case .released, .undecided, .long:
            guard !train.isEmpty else { return }
            train[train.count - 1].note(event, at: clock.moment, clock.instant)
        case .holding(var press, let fired):
            press.note(event, at: clock.moment, clock.instant)
            state = .holding(press, fired: fired)
        case .spent(var press):
            press.note(event, at: clock.moment, clock.instant)
            state = .spent(press)
        }
    }

    /// Ends a press whose `up` was lost, before a new press begins.
    mutating func endPressWithoutUp(at now: Instant, into output: inout [RecognisedEvent]) {
        switch state {
        case .released:
            return
        case .undecided, .long:
            ageTrain(behind: train.removeLast(), at: now)
            state = .released
            settle(isOver: true, into: &output)
        case .holding, .spent:
            endHold(at: now, into: &output)
            state = .released
        }
    }

    /// Sets the age of restored presses, when the next event arrives or the wait for it is over.
    ///
    /// - Parameters:
    ///   - age: the minimum age of `moment`.
    ///   - instant: `moment` on the host's clock.
    mutating func ageRestoredPresses(by age: Duration, to moment: Ticks, _ instant: Instant) {
        for index in train.indices where train[index].wasQueued {
            let since = (moment - train[index].down).duration
            train[index].age = max(train[index].age, age + since)
            train[index].at = min(train[index].at, instant - since)
        }
        isRestored = !isIdle
    }
}

// MARK: - Chords

extension PressMachine {
    /// The press that a chord may take; `nil` if there is none.
    var openPress: Press? { state == .undecided ? train.last : nil }

    /// Gives the press that is down to a chord.
    mutating func givePressToChord(into output: inout [RecognisedEvent]) {
        if state == .undecided { spendPress(into: &output) }
    }

    /// Ends the holding back of the press that is down, because no chord takes it any more.
    mutating func liftHoldBack(at now: Instant, into output: inout [RecognisedEvent]) {
        guard isReservedForChord else { return }
        isReservedForChord = false
        fireOnDown(into: &output)
        timePassed(at: now, into: &output)
    }
}

extension PressStep {
    fileprivate var isUp: Bool { if case .up = self { true } else { false } }
}
