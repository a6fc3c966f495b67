import ButtonModel

/// The presses of one button, or of one part of it, on their way to become gestures.
///
/// Presses that may still belong together are a *train*. The machine walks the grammar's tree along it and waits only as
/// long as some longer pattern is possible; then the longest one that was complete on the way is the gesture, and the
/// presses behind it are a train of their own, with the times they had and the lengths they counted as.
///
/// | state     | on                                         | becomes   | and gives                                    |
/// |-----------|--------------------------------------------|-----------|----------------------------------------------|
/// | released  | down, at most `clickGap` after the last    | undecided | `down`; the train is one longer              |
/// | released  | down, later, or the first                  | undecided | what the train was; `down`; a new train      |
/// | released  | down, where a click is all that is wanted  | spent     | `down`, `click`                              |
/// | released  | `clickGap` is over                         | released  | what the train was                           |
/// | released  | up                                         | released  | `up`                                         |
/// | undecided | the first press reaches a hold's time      | holding   | `hold`, if it is a stage's time              |
/// | undecided | `holdAfter`, and the tree has `long` here  | long      |                                              |
/// | undecided | … and nothing behind it                    | spent     | the pattern                                  |
/// | undecided | up, and the tree goes on                   | released  | `up`                                         |
/// | undecided | up, and it does not, or `clickGap` is over | released  | `up`, what the train was                     |
/// | long      | up                                         | released  | `up`; the gap counts from here               |
/// | holding   | a further stage's time                     | holding   | `hold`                                       |
/// | holding   | up                                         | released  | `up`, `hold_release` if a stage was reached  |
/// | holding   | the link is lost for `supervisionTimeout`  | spent     | `hold_release` if a stage was reached        |
/// | holding   | the button has started anew                | spent     | the same                                     |
/// | holding   | down: the `up` was never told              | undecided | the same, and `down`                         |
/// | spent     | up                                         | released  | `up`                                         |
/// | undecided | a chord takes the press                    | spent     | what the train was without it                |
/// | undecided | it is turned by `leastTurn`                | spent     | what the train was without it                |
/// | undecided | up, and it was a swipe                     | released  | what the train was without it; `up`, `swipe` |
/// | long      | the two before                             |           | the same                                     |
/// | any down  | down: the `up` was never told              | undecided | what the train was without that press        |
/// | any       | link lost                                  | the same  | nothing that only our clock would tell       |
///
/// A hold's time is `holdAfter` or the first stage, whichever is earlier.
///
/// **Who tells the time.** What the stamp of an event already decides is decided with that event. Otherwise the
/// deadlines are instants of our clock, reckoned from the last event; while the button has stored events to tell, they
/// wait until those have come, and after a lost link for some time (`settlesAt`). Only the end of a hold that was reported is
/// told by our clock when the link does not come back (`holdEndsAt`): what the hold began must end. At one moment a
/// `down` comes before the end of the gap, and a hold before the `up`.
///
/// **What becomes of a press.** It is in one gesture (a `hold` and its `hold_release` count as one) or in none; in none
/// only if no pattern of the tree begins with it where the longest match before it ended, if it was let go before the
/// first stage of a hold, or if its `up` was never told. In the named modes the button's own verdicts take the place of
/// all this (`PressMachine+Verdict.swift`): with its times they are the same. That it was a swipe is known with the `up`:
/// a press that has been told as a hold by then, or that a chord took, is none. A press that was turned is in no gesture,
/// for the turn is; a button knows nothing of that, so what it says of the next press may count this one, too.
struct PressMachine: Sendable {
    enum State: Hashable, Sendable {
        /// The whole train is released.
        case released
        /// The last press of the train is down.
        case undecided
        /// The last press of the train is down, and counts as long.
        case long
        /// It left the train. `fired`: the latest stage that was reported, −1 for none.
        case holding(Press, fired: Ticks)
        /// Its gesture is out while it is down.
        case spent(Press)
    }

    /// How long stored events that follow each other may take to come.
    static let silence = Duration.milliseconds(500)
    /// How long a train waits for what the button did not tell before the link was lost: as long as a late press is
    /// accepted where nobody says otherwise.
    static let patience = Duration.seconds(3)
    /// A train that waited longer than this for the end of a press waited for more than a lost link: what came a second
    /// late counts as stored.
    static let longestWait = patience + .seconds(1)
    /// The supervision timeout that buttons are asked for. A link that was silent for so long is lost, and so is one that
    /// ended in another way and is not back by then.
    static let supervisionTimeout = Duration.seconds(8)
    /// The same after a restart, when the link has to be made first. These trains know how old they are.
    static let patienceAfterRestart = Duration.seconds(10)

    let button: ButtonID
    let part: ButtonPart?
    var grammar: Grammar
    /// A chord can take its presses: then the button's verdicts, which know nothing of that, are not asked.
    var isInChord = false

    var state = State.released
    /// Ordered; at most one press longer than the longest pattern. All but an open last one have their length.
    var train: [Press] = []
    var clock = ButtonClock()
    var pressCount: UInt64 = 0
    /// The button's verdicts decide the train under way, or the last one: what it still says of that is decided already.
    var takesVerdicts: Bool
    /// While a chord may still take the press that is down.
    var isHeldBack = false
    /// By how many hundredths the last press was turned.
    private var turned = 0
    /// When the last press began that was a swipe or a turn.
    private var movedAt: Ticks?
    /// The link was lost while a press was down; no event came since.
    var isCut = false
    /// The train, or its beginning, is from a former process.
    var isRestored = false
    /// Until then our clock decides nothing.
    var settlesAt: Instant?
    /// When the link was lost last, since the latest press began.
    var linkLostAt: Instant?
    /// When the end of the hold is told, if neither the link nor the `up` has come by then.
    var holdEndsAt: Instant?
    /// The grammar changed under the train; to be looked at by then.
    var reviewsAt: Instant?
    /// When `timePassed` is wanted.
    private(set) var deadline: Instant?

    init(button: ButtonID, part: ButtonPart?, grammar: Grammar) {
        self.button = button
        self.part = part
        self.grammar = grammar
        takesVerdicts = grammar.verdictMode != nil
        train.reserveCapacity(Vocabulary.maximumPresses)
    }

    var isIdle: Bool { train.isEmpty && state == .released }

    /// - Parameter holdsBack: a chord may take the press that begins.
    mutating func handle(
        _ event: ButtonEvent, at now: Instant, holdsBack: Bool = false, into output: inout [Recognised]
    ) {
        review(into: &output)
        holdEndsAt = nil
        let startsOver = isIdle
        clock.advance(to: event, at: now, startsOver: startsOver)
        settlesAt = event.wasQueued && !event.wasQueuedLast ? now + PressMachine.silence : nil
        isCut = false
        if isRestored { ageRestoredPresses(by: event.age, to: clock.moment, clock.instant) }
        if startsOver && event.step == .down {
            let followsMovement = movedAt.map { clock.moment - $0 <= grammar.clickGap } ?? false
            takesVerdicts = grammar.verdictMode != nil && !isInChord && !followsMovement
        }
        if event.isTimeRough { leaveToVerdicts() }
        if event.step != .down { note(event) }

        if let direction = event.swipe, event.step.isUp {
            endAsSwipe(event, direction, into: &output)
        } else if takesVerdicts {
            takeVerdict(event, in: grammar.verdictMode ?? grammar.nearestMode, into: &output)
        } else {
            switch event.step {
            case .down:
                dropUnseenPress(at: now, into: &output)
                advance(to: clock.moment, into: &output)
                begin(event, holdsBack: holdsBack, into: &output)
                fireOnDown(into: &output)
            case .hold:
                advance(to: clock.moment, into: &output)
            case .clickTimeout:
                advance(to: clock.moment, endsGap: true, into: &output)
            case .up:
                isHeldBack = false
                advance(to: clock.moment, into: &output)
                end(event, into: &output)
            }
            if settlesAt == nil { advance(to: clock.arrival.moment, into: &output) }
        }
        rearm()
    }

    /// What the button did not tell by now it tells as stored, or never.
    mutating func linkLost(at now: Instant, into output: inout [Recognised]) {
        liftHoldBack(at: now, into: &output)
        isCut = state != .released
        settlesAt = now + PressMachine.patience
        if state == .released, let last = train.last, now < last.at + PressMachine.patience {
            // A train whose presses are over is decided before it is late.
            settlesAt = last.at + PressMachine.patience
        }
        linkLostAt = now
        if case .holding(_, let fired) = state, fired >= 0 { holdEndsAt = now + PressMachine.supervisionTimeout }
        rearm()
    }

    /// A button that is still held tells its `up` when it is let go, and one that was let go tells it now.
    mutating func linkReturned() {
        holdEndsAt = nil
        rearm()
    }

    /// - Parameter steps: hundredths of a whole turn.
    mutating func turn(by steps: Int, into output: inout [Recognised]) {
        guard state == .undecided || state == .long else { return }
        let (sum, overflow) = turned.addingReportingOverflow(steps)
        turned = overflow ? Vocabulary.leastTurn : sum
        guard turned.magnitude >= Vocabulary.leastTurn else { return }
        takesVerdicts = false
        movedAt = train.last?.down
        spendPress(into: &output)
    }

    /// What comes in from outside ends with this.
    mutating func rearm() { deadline = nextDeadline }
}

// Presses begin and end.
extension PressMachine {
    mutating func begin(_ event: ButtonEvent, holdsBack: Bool, into output: inout [Recognised]) {
        pressCount &+= 1
        turned = 0
        linkLostAt = nil
        let press = Press(
            number: pressCount, down: clock.moment, wasQueued: event.wasQueued, wasQueuedLast: event.wasQueuedLast,
            age: event.age, at: clock.instant)
        train.append(press)
        state = .undecided
        isHeldBack = holdsBack
        give(.down, press, into: &output)
    }

    mutating func end(_ event: ButtonEvent, into output: inout [Recognised]) {
        switch state {
        case .released:
            give(.up, strayPress(event), into: &output)
        case .undecided, .long:
            let last = train.count - 1
            train[last].up = clock.moment
            let lasted = train[last].heldFor(at: clock.moment)
            let length = train[last].length ?? (last == 0 && isLong(lasted) ? .long : .short)
            train[last].length = length
            state = .released
            give(.up, train[last], heldFor: lasted.duration, into: &output)
            settle(isOver: length == .short && lasted > grammar.clickGap, into: &output)
        case .holding(let press, let fired):
            state = .released
            let lasted = press.heldFor(at: clock.moment).duration
            give(.up, press, heldFor: lasted, into: &output)
            if fired >= 0 { give(.holdRelease, press, heldFor: lasted, into: &output) }
        case .spent(let press):
            state = .released
            give(.up, press, heldFor: press.heldFor(at: clock.moment).duration, into: &output)
        }
    }

    /// What the button still says of this press, or of those before it, is nothing new.
    private mutating func endAsSwipe(
        _ event: ButtonEvent, _ direction: SwipeDirection, into output: inout [Recognised]
    ) {
        isHeldBack = false
        advance(to: clock.moment, into: &output)
        takesVerdicts = false
        switch state {
        case .released, .undecided, .long:
            var press = state == .released ? nil : train.popLast()
            press?.up = clock.moment
            state = .released
            settle(isOver: true, into: &output)
            let swiped = press ?? strayPress(event)
            movedAt = swiped.down
            give(.up, swiped, heldFor: swiped.heldFor(at: clock.moment).duration, into: &output)
            give(.swipe(direction), swiped, into: &output)
        case .holding, .spent:
            end(event, into: &output)
        }
    }

    /// The press that is down is in no gesture of the train.
    private mutating func spendPress(into output: inout [Recognised]) {
        guard let press = train.popLast() else { return }
        isHeldBack = false
        state = .released
        settle(isOver: true, into: &output)
        state = .spent(press)
        rearm()
    }

    /// Whose `down` we were never told.
    mutating func strayPress(_ event: ButtonEvent) -> Press {
        pressCount &+= 1
        return Press(
            number: pressCount, down: clock.moment, up: clock.moment, wasQueued: event.wasQueued,
            wasQueuedLast: event.wasQueuedLast, age: event.age, at: clock.instant)
    }

    func isLong(_ span: Ticks) -> Bool { grammar.tellsLongFromShort && span >= grammar.holdAfter }

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

    /// A press goes on that must have ended before the one that begins now.
    mutating func dropUnseenPress(at now: Instant, into output: inout [Recognised]) {
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

    /// How old the presses of a former process are shows when the next event comes, or when none does.
    ///
    /// - Parameters:
    ///   - age: at least that of `moment`.
    ///   - instant: when `moment` was, on our clock.
    mutating func ageRestoredPresses(by age: Duration, to moment: Ticks, _ instant: Instant) {
        for place in train.indices where train[place].wasQueued {
            let since = (moment - train[place].down).duration
            train[place].age = max(train[place].age, age + since)
            train[place].at = min(train[place].at, instant - since)
        }
        isRestored = !isIdle
    }
}

// What chords ask of it.
extension PressMachine {
    /// The press that a chord may take.
    var openPress: Press? { state == .undecided ? train.last : nil }

    /// The press that is down belongs to a chord.
    mutating func surrenderPress(into output: inout [Recognised]) {
        if state == .undecided { spendPress(into: &output) }
    }

    /// No chord takes the press any more.
    mutating func liftHoldBack(at now: Instant, into output: inout [Recognised]) {
        guard isHeldBack else { return }
        isHeldBack = false
        fireOnDown(into: &output)
        timePassed(at: now, into: &output)
    }
}

extension PressStep {
    fileprivate var isUp: Bool { if case .up = self { true } else { false } }
}
