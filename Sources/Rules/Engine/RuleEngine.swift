package import ButtonModel
package import Expressions
package import Gestures

/// Everything between what the buttons did and what is to be done: gestures, states and variables, gates, runs.
///
/// What the buttons report goes through the recogniser; each thing recognised meets the rules that wait for it on that
/// button, found in an index. All of them are judged against one snapshot of the world, each by its gates in their order,
/// before any of them does anything. Then their runs begin, one after another, each up to where it has to wait. Rules
/// with `fallback` are asked only when no ordinary rule got past its conditions, now or earlier in the same press.
///
/// | on                                   | a rule that matches                         | and we                                   |
/// |--------------------------------------|---------------------------------------------|------------------------------------------|
/// | event                                | is disabled                                 | stopped(`disabled`)                      |
/// | event, stored and not to be acted on | any                                         | stopped(`dropped_queued`)                |
/// | event, stored, `keep: last`          | any                                         | keep it; stop the one kept before        |
/// | the last stored event, 500 ms without one, or a live event | keeps one             | go on with it at the next gate           |
/// | event                                | has a condition that does not hold          | stopped(`dropped_conditions`)            |
/// | event                                | began a run less than `cooldown` ago        | stopped(`dropped_cooldown`)              |
/// | event                                | began as many runs as `rate_limit` allows   | stopped(`dropped_rate`)                  |
/// | event                                | `single`, has a run; or 1 000 runs go on    | stopped(`dropped_busy`)                  |
/// | a turn of a dial                     | `single` or `queued`, has a run             | add it up; an event of its own when the run has ended |
/// | event                                | `restart`, has a run                        | cancel it, finished(cancelled); started  |
/// | event                                | `queued`, has a run, and fewer than `max`   | started; the run begins when its turn comes |
/// | event                                | any, with room for a run                    | started; the run begins                  |
///
/// | on                                        | its run                                | and we                              |
/// |-------------------------------------------|----------------------------------------|-------------------------------------|
/// | step finished, handed over, timer         | waits for it                           | let it go on; at its end finished   |
/// | state, variable, button, rule or broker changed | stands in a `wait`               | let it look                         |
/// | button let go, its link lost, rule disabled | repeats while held                   | let it end its repeat               |
/// | rule disabled                             | waits its turn                         | finished(cancelled)                 |
/// | reloaded, its rule is another or gone     | any                                    | cancel it, finished(cancelled)      |
/// | reloaded, its rule is the same            | any                                    | nothing                             |
/// | stop                                      | waits, and its rule resumes            | it is kept                          |
/// | stop                                      | any other                              | cancel it, finished(interrupted)    |
///
/// Every other answer is ignored: a run's number is never used again. Messages, a new set, a restart and the first
/// connection of a button make no rule match.
///
/// The effects of one event stand in this order: what was recognised; for each rule in document order, that it was
/// stopped, or that its run has started; what the runs do, in the order of their starts; the timer. Of an event and a
/// timer at the same instant the caller hands the event in first.
///
/// - Source: rule language, sections 4 to 6 and 13.
package struct RuleEngine: Sendable {
    package enum Input: Hashable, Sendable {
        /// The wall clock now; at the start, and whenever it was set. Not believed: earlier than the program's build.
        case wallClock(UTCTime, isBelievable: Bool)
        /// The buttons that exist now; names in rules are resolved against them.
        case buttonsChanged([ButtonIdentity])
        /// What one notification of a button brought.
        case pressed([ButtonEvent])
        case moved(ButtonMovement)
        /// Its link came or went. Only what changes is an event, and the first `true` of each button after the start is none.
        case linkChanged(ButtonID, isConnected: Bool)
        /// Its link was silent for the supervision timeout. It comes after the `linkChanged`.
        case linkTimedOut(ButtonID)
        /// The button has started anew: what was done before, it does not tell any more.
        case rebooted(ButtonID)
        /// Percent.
        case battery(ButtonID, Int64)
        case batteryLow(ButtonID)
        case brokerChanged(isConnected: Bool)
        /// A message on a topic of `subscriptions`.
        case message(topicName: String, payload: [UInt8])
        /// A message was handed over to the broker: from here its timeout counts.
        case handedOver(StepID)
        case stepFinished(StepID, StepOutcome)
        /// A new set takes the place of the old one, between two events.
        case reloaded(PreparedRules)
        case requested(Request)
        case given(Given)
        case timerFired
        /// The program ends: nothing is started any more, runs are kept or cut off.
        case stop
    }

    /// What people and other programs may ask. Names are checked by the caller; what is not there is ignored.
    package enum Request: Hashable, Sendable {
        /// A manual run; `trigger.manual` is true.
        case run(rule: String, ignoringConditions: Bool, isDryRun: Bool)
        case setEnabled(rule: String, Bool)
        /// Already of the variable's type and among its values.
        case setVariable(String, Value)
        /// Mode set at run time; `nil`: as the rules need.
        case setTriggerMode(ButtonID, TriggerMode?)
    }

    /// What a test of the rules says has happened, and what `explain` supposes, without the bytes it would come from.
    package enum Given: Hashable, Sendable {
        case recognised(Recognised)
        /// An event even when nothing has changed.
        case linkChanged(ButtonID, isConnected: Bool)
        /// As a message would bring it; `.unknown` for nothing.
        case state(String, Value)
    }

    package enum Effect: Hashable, Sendable {
        /// Something a button did, for those who listen. It stands before what the rules make of it.
        case recognised(Recognised)
        /// The run has begun, or with `mode: queued` waits its turn.
        case started(RunID, rule: String, RunCause)
        case stopped(rule: String, Gate, RunCause, reason: String)
        /// Carry this out and answer with `stepFinished`. Where `awaits` says no, as of a `log` and of a message with QoS 0
        /// while the broker is connected, there is nothing to answer.
        case perform(StepID, Action, rule: String, RunCause)
        /// Give it up; its answer, if one still comes, is ignored.
        case cancel(StepID)
        /// - Parameter step: its alias or path; `place`: where it stands.
        case stepFailed(RunID, rule: String, step: String, SourceLocation, code: String, message: String, isFinal: Bool)
        case finished(RunID, rule: String, RunResult)
        /// A run of a former process that is not resumed.
        case interrupted(RunID, rule: String, RunCause)
        case keep(RuleStateChange)
        case variableChanged(String, Value)
        case enabledChanged(rule: String, Bool)
        /// A mode set at run time does not count any more, and need not be kept: it cannot serve the rules.
        case triggerModeDropped(ButtonID)
        /// Topic filters to add and to give up. One that is added again wants its retained message again.
        case subscribe([String])
        case unsubscribe([String])
        /// For the log; not what a `log` step says.
        case log(LogLevel, String)
        /// A message on the topic of a state is too long to be read as JSON, so the states of the topic are unknown.
        case oversizedState(topicName: String, count: Int)
        case setTimer(Instant)
        case cancelTimer
    }

    /// The maximum number of runs of all rules together. A match beyond that is dropped as busy.
    package static let maximumRuns = RunScheduler.maximumRuns
    /// The maximum length in octets of a message that is read as JSON for a state.
    package static let maximumStateLength = StateTable.maximumLength

    /// The set that runs now.
    package var set: RuleSet { world.set }
    /// The same, as it was prepared.
    package var prepared: PreparedRules

    // Everything below is the engine's own; its extensions are in files of their own.

    var world: World
    var states: StateTable
    var index: RuleIndex
    var names: Names { prepared.names }
    var recogniser: GestureRecogniser

    var identities: [ButtonIdentity] = []
    var devices: [ButtonID: Device] = [:]
    /// What of the rules a button contradicts, being the model it is: a sentence each, told of once.
    var contradictions: [ButtonID: String] = [:]
    /// Set at run time.
    var modes: [ButtonID: TriggerMode] = [:]
    var taken: [PressSource: HandledPresses] = [:]
    var kept = KeptEvents()
    /// The number of the event that is kept next.
    var keptCount: UInt64 = 0

    var scheduler: RunScheduler
    /// By rule.
    var records: [RuleRecord]
    var archive = TraceArchive()
    /// Something that runs may wait for has changed.
    var worldMoved = false

    /// Of rules, by id.
    var overrides: [String: EnabledOverride] = [:]
    /// Variables that ever got a value: the others follow their initial one.
    var assigned: Set<String> = []
    /// Values of variables that are not declared now, in case they come back.
    var orphanedValues: [String: Value] = [:]
    /// What of the runs is kept now.
    var keptWaits: [RunID: KeptWait] = [:]
    /// From a former process, until the time is known.
    var restored: Restored
    /// What is to be said at the first input.
    var greetings: [Effect] = []
    var timer: Instant?
    /// When the timer fired last.
    var timerFiredAt: Instant?
    var isStopped = false

    /// - Parameters:
    ///   - state: what was kept. What no longer fits is discarded, and said at the first input.
    ///   - nextRun: the number of the first run.
    ///   - takesVerdicts: false where no button judges its own presses, as in tests of rules.
    package init(
        _ set: RuleSet, state: RuleState = RuleState(), nextRun: RunID = RunID(rawValue: 1), takesVerdicts: Bool = true
    ) {
        recogniser = GestureRecogniser(takesVerdicts: takesVerdicts)
        prepared = PreparedRules(set)
        world = World(prepared)
        states = StateTable(set.states)
        index = RuleIndex(prepared.interests)
        records = Array(repeating: RuleRecord(), count: set.rules.count)
        restored = Restored(cooldowns: state.cooldowns, waiting: state.waiting.sorted { $0.run < $1.run })
        let afterRestored = restored.waiting.last.map { RunID(rawValue: $0.run.rawValue &+ 1) } ?? nextRun
        scheduler = RunScheduler(nextRun: max(nextRun, afterRestored))
        restore(state)
        configure(at: Instant(nanoseconds: 0))
    }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        guard !isStopped else { return [] }
        var effects = greetings
        greetings = []
        world.refreshAges(at: now)
        switch input {
        case .wallClock(let time, let isBelievable):
            clockWasSet(to: time, isBelievable: isBelievable, at: now, &effects)
        case .buttonsChanged(let identities): buttonsChanged(identities, at: now, &effects)
        case .pressed(let events):
            for event in events { recognised(recogniser.handle(.event(event), at: now), at: now, &effects) }
        case .moved(let movement): recognised(recogniser.handle(.moved(movement), at: now), at: now, &effects)
        case .linkChanged(let button, let isConnected):
            linkChanged(button, isConnected: isConnected, isAlwaysTold: false, at: now, &effects)
        case .linkTimedOut(let button):
            loseHold(button, unheardFor: GestureRecogniser.supervisionTimeout, at: now, &effects)
        case .rebooted(let button): loseHold(button, unheardFor: .zero, at: now, &effects)
        case .battery(let button, let percent):
            devices[button, default: Device()].battery = percent
            showDevice(button)
        case .batteryLow(let button): occurred(.batteryLow, of: button, at: now, &effects)
        case .brokerChanged(let isConnected):
            worldMoved = worldMoved || world.brokerIsConnected != isConnected
            world.brokerIsConnected = isConnected
        case .message(let topicName, let payload): received(payload, on: topicName, at: now, &effects)
        case .handedOver(let step):
            resume(step.run, at: now, &effects) { $0.handedOver(step, in: &$1, at: now, &$2) }
        case .stepFinished(let step, let outcome):
            resume(step.run, at: now, &effects) { $0.stepFinished(step, outcome, in: &$1, at: now, &$2) }
        case .reloaded(let rules): reload(rules, at: now, &effects)
        case .requested(let request): requested(request, at: now, &effects)
        case .given(let given): self.given(given, at: now, &effects)
        case .timerFired:
            timer = nil
            timerFiredAt = now
            timerFired(at: now, &effects)
        case .stop: stop(at: now, &effects)
        }
        advance(at: now, &effects)
        updateTimer(&effects)
        return effects
    }

    private mutating func given(_ given: Given, at now: Instant, _ effects: inout [Effect]) {
        switch given {
        case .recognised(let recognised): self.recognised(recognised, at: now, &effects)
        case .linkChanged(let button, let isConnected):
            linkChanged(button, isConnected: isConnected, isAlwaysTold: true, at: now, &effects)
        case .state(let name, let value):
            guard let place = names.states[name] else { return }
            states.set(value, place, now)
            show([place])
        }
    }

    private mutating func buttonsChanged(
        _ identities: [ButtonIdentity], at now: Instant, _ effects: inout [Effect]
    ) {
        let existing = Set(identities.map(\.id))
        for button in self.identities.map(\.id) where !existing.contains(button) {
            loseHold(button, unheardFor: .zero, at: now, &effects)
        }
        self.identities = identities
        devices = devices.filter { existing.contains($0.key) }
        taken = taken.filter { existing.contains($0.key.button) }
        modes = modes.filter { existing.contains($0.key) }
        world.held = world.held.filter { existing.contains($0.button) }
        configure(at: now)
        reportModels(&effects)
        dropModesThatCannotServe(at: now, &effects)
        for place in world.buttons.indices where index.meant[place] == nil { world.buttons[place] = ButtonFacts() }
        for button in existing { showDevice(button) }
        worldMoved = true
    }
}

// MARK: - Time

extension RuleEngine {
    /// What has become too old is unknown first. Then runs go on, so that one that ends now makes room for what is
    /// recognised now.
    private mutating func timerFired(at now: Instant, _ effects: inout [Effect]) {
        show(states.expire(at: now))
        for id in scheduler.due(at: now) {
            resume(id, at: now, &effects) { $0.timerFired(in: &$1, at: now, &$2) }
        }
        advance(at: now, &effects)
        decide(kept.take(silentAt: now), at: now, &effects)
        recognised(recogniser.handle(.timerFired, at: now), at: now, &effects)
    }

    private mutating func updateTimer(_ effects: inout [Effect]) {
        var next = recogniser.deadline
        for deadline in [kept.nextDeadline, states.nextDeadline, scheduler.earliestDeadline] {
            guard let deadline, next.map({ deadline < $0 }) ?? true else { continue }
            next = deadline
        }
        guard next != timer else { return }
        timer = next
        effects.append(next.map(Effect.setTimer) ?? .cancelTimer)
    }
}
