package import ButtonModel
package import Expressions
package import Gestures

/// The rule engine: recognises gestures, selects the rules that they trigger, and executes the runs of rules.
///
/// Button events go through `GestureRecogniser`, and `RuleIndex` finds the rules with a matching trigger. All of these
/// are judged against one snapshot of the world, each by its gates in order, before any of them has an effect. Then
/// their runs begin, one after another, and each executes steps until it must wait. Rules with `fallback` are judged
/// only if no ordinary rule passed its conditions, now or earlier in the same press.
///
/// | input                                | matching rule                               | effect                                   |
/// |--------------------------------------|---------------------------------------------|------------------------------------------|
/// | event                                | is disabled                                 | stopped(`disabled`)                      |
/// | event, stored                        | rejects it by its `queued` policy           | stopped(`dropped_queued`)                |
/// | event, stored                        | has `keep: last`                            | keep it; stop the one kept before        |
/// | end of stored events (`KeptEvents`)  | has a kept event                            | check the next gate for the kept event   |
/// | event                                | has a condition that is false               | stopped(`dropped_conditions`)            |
/// | event                                | started a run less than `cooldown` ago      | stopped(`dropped_cooldown`)              |
/// | event                                | started as many runs as `rate_limit` allows | stopped(`dropped_rate`)                  |
/// | event                                | `single`, has a run; or 1,000 runs exist    | stopped(`dropped_busy`)                  |
/// | rotation                             | `single` or `queued`, has a run             | add it up; one event after the run       |
/// | event                                | `restart`, has a run                        | cancel it, finished(cancelled); started  |
/// | event                                | `queued`, has a run, and fewer than `max`   | started; the run is queued               |
/// | event                                | may have another run                        | started; the run begins                  |
/// | timer or clock, at the time of `at`  | any                                         | as for an event                          |
/// | state that changes, for a `state`    | any                                         | as for an event                          |
///
/// | input                                     | run                                    | effect                              |
/// |-------------------------------------------|----------------------------------------|-------------------------------------|
/// | step finished, handed over, timer         | waits for it                           | continue it; at its end finished    |
/// | state, variable, button, rule or broker changed | is in a `wait`                   | evaluate its condition              |
/// | event                                     | is in a `wait_for` for it              | continue it, before rules start     |
/// | button released, link lost, rule disabled | is in a `repeat: while: held`          | end the repeat                      |
/// | rule disabled                             | is queued, or is in a `wait_for`       | finished(cancelled)                 |
/// | reloaded, rule changed or removed         | any                                    | cancel it, finished(cancelled)      |
/// | reloaded, rule unchanged                  | any                                    | none                                |
/// | stop                                      | is stored, because its rule resumes    | none                                |
/// | stop                                      | any other                              | cancel it, finished(interrupted)    |
///
/// Results for other runs are ignored; the id of a run is never used again. Retained messages, a reload, a restart and the first
/// connection of a button trigger no rule.
///
/// The order of effects of an event: what was recognised; for each rule in document order, that it was stopped or that
/// its run has started; the effects of the runs in the order of their starts; the timer. If an event and the timer are
/// due at the same instant, the caller must pass the event first.
///
/// - Source: rules/README.md, "What happens to a press", "Late presses", "Restart and reload".
package struct RuleEngine: Sendable {
    package enum Input: Hashable, Sendable {
        /// The wall clock time, at the start and after it was set. It is not believable before the build date.
        case wallClock(UTCTime, isBelievable: Bool)
        /// All known buttons. Names in rules are resolved against them.
        case buttonsChanged([ButtonIdentity])
        /// Buttons that have become known in addition to the others. The result is that of `buttonsChanged` with all buttons,
        /// and the time does not depend on the number of the others.
        case buttonsAdded([ButtonIdentity])
        /// The events in one notification of a button.
        case pressed([ButtonEvent])
        case moved(ButtonMovement)
        /// The link was established or lost. A change is an event, except the first connection after the start.
        ///
        /// `repeatsEvents` is false if what happened without a link is not sent again, as with a flicd.
        case linkChanged(ButtonID, isConnected: Bool, repeatsEvents: Bool = true)
        /// The link was lost by the supervision timeout. This input must follow `linkChanged`.
        case linkTimedOut(ButtonID)
        /// The button has rebooted, and will not report earlier presses any more.
        case rebooted(ButtonID)
        /// The presses of the buttons since these times are reported as interrupted, so nothing that they have caused goes on: no
        /// undecided gesture, no kept event and no run. Only a hold that was reported still ends.
        case abandoned([ButtonID: Instant])
        /// Another engine has handled the events of the button until now. A press that is down and that only the other one knows is
        /// in no gesture, but a hold that the other one may have told still ends.
        case inherited(ButtonID, mayBeDown: Bool)
        /// Another engine has handled the beginning of the press of this part of the button. The events that follow are the rest of the
        /// press, which is in no gesture, but a hold that the other engine may have told still ends.
        case begunElsewhere(ButtonID, ButtonPart?)
        /// The battery level in percent.
        case battery(ButtonID, Int64)
        case batteryLow(ButtonID)
        case brokerChanged(isConnected: Bool)
        /// A message on a topic of `subscriptions`.
        case message(topicName: String, payload: [UInt8], isRetained: Bool = false)
        /// A message was handed over to the broker. Its time limit begins now.
        case handedOver(ActionID)
        case actionFinished(ActionID, ActionResult)
        /// Replaces the rule set, between two events.
        case reloaded(PreparedRules)
        case requested(Request)
        case given(Given)
        case timerFired
        /// The program ends. All runs are interrupted, except those that are stored. Later inputs are ignored.
        case stop
        /// Allows (true) or forbids (false) events to start runs. It is forbidden while another engine leads. If
        /// `endingRuns` is true, all runs are interrupted, too. If it is false, this engine may go on, so presses that it has already
        /// received still start runs when they are recognised; the owner holds their actions.
        case acting(Bool, endingRuns: Bool)
    }

    /// A request of a user or another program. The caller checks names; requests with unknown names are ignored.
    package enum Request: Hashable, Sendable {
        /// Runs a rule without an event; `trigger.manual` is true.
        case run(rule: String, ignoringConditions: Bool, isDryRun: Bool)
        case setEnabled(rule: String, Bool)
        /// The value must have the variable's type, and be one of its `values`.
        case setVariable(String, Value)
        /// Sets a trigger mode at run time; `nil` derives it from the rules.
        case setTriggerMode(ButtonID, TriggerMode?)
    }

    /// Events of rule tests and of `explain`, which have no underlying packets and messages.
    package enum Given: Hashable, Sendable {
        case recognised(RecognisedEvent)
        /// This is an event even if the state does not change.
        case linkChanged(ButtonID, isConnected: Bool)
        /// The time at the start of a test. Times of day before it have not come.
        case startTime(UTCTime)
        /// A state and its value, as if received in a message; `.unknown` removes the value. A state with `as` has a value
        /// for each topic; without a topic, the value is that of the whole state.
        case state(String, Value, topicName: String? = nil)
        /// The next numbers of the function `random`, of a test.
        case random([Int64])
    }

    package enum Effect: Hashable, Sendable, TimerEffect {
        /// A recognised event, to be published. It precedes the effects of the rules that it triggers.
        case recognised(RecognisedEvent)
        /// A run has begun or, with `mode: queued`, was queued.
        case started(RunID, rule: String, RunCause)
        case stopped(rule: String, Gate, RunCause, reason: String)
        /// Perform an action, and answer with `actionFinished` if `awaits` is true. It is false for `log`, and for a
        /// message with QoS 0 while the broker is connected, unless the owner holds actions (`Input.acting`).
        case perform(ActionID, Action, rule: String, RunCause)
        /// Cancel an action. If its result still arrives, it is ignored.
        case cancel(ActionID)
        /// - Parameter step: the alias or path of the step. The location is that of the step.
        case stepFailed(RunID, rule: String, step: String, SourceLocation, code: String, message: String, isFinal: Bool)
        case finished(RunID, rule: String, RunResult)
        /// A stored run of an earlier process is not resumed.
        case interrupted(RunID, rule: String, RunCause)
        case store(RuleStateChange)
        /// - Parameters:
        ///   - run: the run that has set the variable; `nil` for a request, a reset or a reload.
        ///   - rule: that of the run.
        case variableChanged(String, Value, by: RunID? = nil, rule: String? = nil)
        case enabledChanged(rule: String, Bool)
        /// A trigger mode that was set at run time is reset, because rules need other gestures.
        case triggerModeDropped(ButtonID)
        /// Subscribe to topics. If a topic is already subscribed, its retained message is needed again.
        case subscribe([String])
        case unsubscribe([String])
        /// Times of triggers have passed without firing, while the program was stopped or because the clock jumped.
        case timesMissed(MissedTimes)
        /// A line for the log that is not from a `log` step.
        case log(LogLevel, String)
        /// A message on the topic of a state is too long to be read as JSON, so the states of the topic are unknown.
        case oversizedState(topicName: String, count: Int)
        /// A message cannot be converted to the type of a state (R830). This is reported at most once in ten minutes for
        /// each state.
        case stateFault(StateFault)
        case setTimer(Instant)
        case cancelTimer
    }

    /// The maximum number of runs of all rules together. A match beyond that is dropped as busy.
    package static let maximumRuns = RunScheduler.maximumRuns
    /// The maximum length in octets of a message that is read as JSON for a state.
    package static let maximumStateLength = StateTable.maximumLength

    /// The current rule set.
    package var set: RuleSet { world.set }
    /// The current rule set with the data derived from it.
    package var prepared: PreparedRules

    // The properties below are used only by the engine and its extensions in other files.

    var world: World
    var states: StateTable
    var index: RuleIndex
    /// The plan of each button's presses, by index in `RuleIndex.entries`; `nil` for a button that is not in
    /// `plannedButtons`.
    var plans: [PressPlan?] = []
    /// The buttons that were ready once, whose plans are made again when rules or buttons change.
    var plannedButtons: Set<ButtonID> = []
    var names: Names { prepared.names }
    var recogniser: GestureRecogniser

    var identities: [ButtonIdentity] = []
    var devices: [ButtonID: Device] = [:]
    /// For each button whose model contradicts the rules, a sentence that was logged once.
    var contradictions: [ButtonID: String] = [:]
    /// The trigger modes that were set at run time.
    var modes: [ButtonID: TriggerMode] = [:]
    /// The presses that an ordinary rule has handled, and that rules with `fallback: true` therefore ignore.
    var handledPresses: [PressSource: RecentPresses] = [:]
    var claims = PressClaims()
    var kept = KeptEvents()
    /// The serial number of the next kept event.
    var keptCount: UInt64 = 0

    var scheduler: RunScheduler
    /// The statistics of the rules, by index in `RuleSet.rules`.
    var records: [RuleRecord]
    var archive = TraceArchive()
    var stoppedMatches = StoppedMatches()
    /// True if a value has changed since the runs in a `wait` were last resumed.
    var worldHasChanged = false

    /// The values of `enabled` that were set at run time, by rule id.
    var overrides: [String: EnabledOverride] = [:]
    /// The names of variables that were assigned. All others take a new initial value at a reload.
    var assigned: Set<String> = []
    /// The values of variables that are not declared now, in case a reload declares them again.
    var orphanedValues: [String: Value] = [:]
    /// When variables are reset and `at` triggers fire.
    var daily = DailySchedule()
    /// The `state` triggers whose values have not lasted long enough yet.
    var counts = StateCounts()
    /// The waits of runs that are stored now.
    var storedWaits: [RunID: StoredWait] = [:]
    /// State of an earlier process, until the wall clock is known.
    var restored: PendingRestoration
    /// Effects of `init`, which are returned with the first input.
    var initialEffects: [Effect] = []
    var timer = LogicalTimer()
    /// When the timer last fired.
    var timerFiredAt: Instant?
    package internal(set) var isStopped = false
    /// False while events must not start runs: the latest `Input.acting`. The owner sets it to false at the start if another
    /// engine may lead.
    package var isActing = true
    /// True if events do not start runs now, and this engine may go on.
    var isPaused: Bool { world.isPaused }
    /// True while presses and turns from before the pause start runs.
    var actsOnEarlier = false

    /// - Parameters:
    ///   - state: the stored state. Parts that no longer fit the set are discarded, with effects at the first input.
    ///   - nextRun: the id of the first run.
    ///   - usesButtonVerdicts: as in `GestureRecogniser.init`; `false` for tests of rules.
    package init(
        _ set: RuleSet, state: RuleState = RuleState(), nextRun: RunID = RunID(rawValue: 1),
        usesButtonVerdicts: Bool = true
    ) {
        recogniser = GestureRecogniser(usesButtonVerdicts: usesButtonVerdicts)
        prepared = PreparedRules(set)
        world = World(prepared)
        states = StateTable(set.states)
        index = RuleIndex(prepared.triggerTable)
        records = Array(repeating: RuleRecord(), count: set.rules.count)
        restored = PendingRestoration(
            cooldowns: state.cooldowns, waitingRuns: state.waitingRuns.sorted { $0.run < $1.run },
            keptEvents: state.keptEvents.sorted(by: KeptEvent.comesFirst))
        let afterRestored = restored.waitingRuns.last.map { RunID(rawValue: $0.run.rawValue &+ 1) } ?? nextRun
        scheduler = RunScheduler(nextRun: max(nextRun, afterRestored))
        restore(state)
        configure(at: Instant(nanoseconds: 0))
    }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        guard !isStopped else { return [] }
        var effects = initialEffects
        initialEffects = []
        world.refreshAges(at: now)
        if case .timerFired = input {
            world.beginDraws(of: timer.armed ?? now, at: now)
        } else {
            world.beginDraws(at: now)
        }
        switch input {
        case .wallClock(let time, let isBelievable):
            clockWasSet(to: time, isBelievable: isBelievable, at: now, &effects)
        case .buttonsChanged(let identities): buttonsChanged(identities, at: now, &effects)
        case .buttonsAdded(let identities): buttonsAdded(identities, at: now, &effects)
        case .pressed(let events):
            for event in events { recognised(recogniser.handle(.event(event), at: now), at: now, &effects) }
        case .moved(let movement): recognised(recogniser.handle(.moved(movement), at: now), at: now, &effects)
        case .linkChanged(let button, let isConnected, let repeatsEvents):
            linkChanged(
                button, isConnected: isConnected, repeatsEvents: repeatsEvents, reportsUnchanged: false, at: now,
                &effects)
        case .linkTimedOut(let button):
            loseHold(button, silentFor: GestureRecogniser.supervisionTimeout, at: now, &effects)
        case .rebooted(let button): loseHold(button, silentFor: .zero, at: now, &effects)
        case .abandoned(let starts): abandon(starts, at: now, &effects)
        case .inherited(let button, let mayBeDown): inherit(button, mayBeDown: mayBeDown, at: now, &effects)
        case .begunElsewhere(let button, let part):
            recognised(recogniser.handle(.begunElsewhere(button, part), at: now), at: now, &effects)
            forgetHeld(button, where: { $0 == part }, at: now, &effects)
        case .battery(let button, let percent):
            devices[button, default: Device()].battery = percent
            updateButtonFacts(button)
        case .batteryLow(let button): occurred(.batteryLow, of: button, at: now, &effects)
        case .brokerChanged(let isConnected):
            worldHasChanged = worldHasChanged || world.brokerIsConnected != isConnected
            world.brokerIsConnected = isConnected
        case .message(let topicName, let payload, let isRetained):
            received(payload, on: topicName, isRetained: isRetained, at: now, &effects)
        case .handedOver(let step):
            resume(step.run, at: now, &effects) { $0.handedOver(step, in: &$1, at: now, &$2) }
        case .actionFinished(let step, let outcome):
            resume(step.run, at: now, &effects) { $0.actionFinished(step, outcome, in: &$1, at: now, &$2) }
        case .reloaded(let rules): reload(rules, at: now, &effects)
        case .requested(let request): requested(request, at: now, &effects)
        case .given(let given): self.given(given, at: now, &effects)
        case .timerFired:
            timer.fired()
            timerFiredAt = now
            timerFired(at: now, &effects)
        case .stop: stop(at: now, &effects)
        case .acting(let isActing, let endsRuns): act(isActing, endingRuns: endsRuns, at: now, &effects)
        }
        advance(at: now, &effects)
        updateTimer(&effects)
        return effects
    }

    private mutating func given(_ given: Given, at now: Instant, _ effects: inout [Effect]) {
        switch given {
        case .recognised(let recognised): self.recognised(recognised, at: now, &effects)
        case .linkChanged(let button, let isConnected):
            linkChanged(
                button, isConnected: isConnected, repeatsEvents: true, reportsUnchanged: true, at: now, &effects)
        case .startTime(let time):
            daily.restart()
            forgetAwaitedTimes(at: now, &effects)
            clockWasSet(to: time, isBelievable: true, at: now, &effects)
        case .state(let name, let value, let topicName):
            guard let stateIndex = names.states[name] else { return }
            let before = receivedValues(of: [stateIndex])
            states.set(value, stateIndex, topicName, now)
            copyStates([stateIndex])
            statesReceived(before, isRetained: false, at: now, &effects)
        case .random(let numbers): world.draws.give(numbers)
        }
    }

    private mutating func buttonsChanged(
        _ identities: [ButtonIdentity], at now: Instant, _ effects: inout [Effect]
    ) {
        let existing = Set(identities.map(\.id))
        for button in self.identities.map(\.id) where !existing.contains(button) {
            loseHold(button, silentFor: .zero, at: now, &effects)
        }
        self.identities = identities
        devices = devices.filter { existing.contains($0.key) }
        handledPresses = handledPresses.filter { existing.contains($0.key.button) }
        claims.keep(existing)
        modes = modes.filter { existing.contains($0.key) }
        world.held = world.held.filter { existing.contains($0.button) }
        configure(at: now)
        reportModels(&effects)
        dropModesThatCannotServe(at: now, &effects)
        for declaration in world.buttons.indices where index.buttonByDeclaration[declaration] == nil {
            world.buttons[declaration] = ButtonFacts()
        }
        for button in existing { updateButtonFacts(button) }
        worldHasChanged = true
    }

    private mutating func buttonsAdded(_ new: [ButtonIdentity], at now: Instant, _ effects: inout [Effect]) {
        let ids = Set(new.map(\.id))
        guard ids.count == new.count, ids.allSatisfy({ index.entryIndex(of: $0) == nil }) else {
            return buttonsChanged(identities.filter { !ids.contains($0.id) } + new, at: now, &effects)
        }
        identities += new
        configure(adding: new, at: now)
        reportModels(of: new, &effects)
        dropModesThatCannotServe(at: now, &effects)
        for button in ids { updateButtonFacts(button) }
        worldHasChanged = true
    }
}

// MARK: - Time

extension RuleEngine {
    /// Expires states first. Then it resumes runs, before rules start and gestures are recognised, so that a run that ends
    /// now does not stop a rule as busy.
    private mutating func timerFired(at now: Instant, _ effects: inout [Effect]) {
        expireStates(at: now, &effects)
        let due = carryOutDueTimes(at: now, &effects)
        // Events that continue runs: rules are judged for them before the runs go on.
        let (times, lasting) = (runsWithDueTimes(at: now), runsWithLastingStates(at: now, &effects))
        for id in scheduler.due(at: now) where !isWaitingForDueEvent(id, at: now) {
            // In a replay, the timer fires separately for each deadline, so each run begins its own random numbers.
            if let deadline = scheduler.runs[id]?.exactDeadline { world.beginDraws(of: deadline, at: now) }
            resume(id, at: now, &effects) { $0.timerFired(in: &$1, at: now, &$2) }
        }
        advance(at: now, &effects)
        fire(due, continuing: times, at: now, &effects)
        fireLastingStates(continuing: lasting, at: now, &effects)
        decide(kept.take(silentAt: now), at: now, &effects)
        recognised(recogniser.handle(.timerFired, at: now), at: now, &effects)
    }

    private mutating func updateTimer(_ effects: inout [Effect]) {
        var next = recogniser.deadline
        for deadline in [
            kept.nextDeadline, states.nextDeadline, counts.nextDeadline, scheduler.earliestDeadline, daily.nextDeadline,
        ] {
            guard let deadline, next.map({ deadline < $0 }) ?? true else { continue }
            next = deadline
        }
        timer.appendChange(for: next, to: &effects)
    }
}
