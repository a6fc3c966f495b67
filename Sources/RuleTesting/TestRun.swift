import Almanac
import ButtonModel
import Expressions
import Gestures
import Rules

/// A rule test in progress: the engine, and its simulated buttons, broker, programs and web servers.
struct TestRun {
    /// The maximum number of lines in `RuleTestFailure.reasons`. The last lines are used.
    static let maximumReasons = 20
    /// The maximum number of changes that are told for a rule with `state` triggers.
    private static let maximumStateReasons = 3
    /// The precision of deadlines: two ticks of a button's clock, which has 32,768 ticks per second.
    private static let grain = Duration.microseconds(62)

    private(set) var rules: RuleSet
    private(set) var redaction: Redaction
    private var given = RuleTest.Given()
    private(set) var engine: RuleEngine
    private(set) var now = Instant(sinceBoot: .seconds(3600))
    /// The time passed to the engine. After a deadline between two ticks, it exceeds `now` by at most `grain`.
    private var latest = Instant(sinceBoot: .seconds(3600))
    private var start: (utc: UTCTime, at: Instant)
    private(set) var buttons: SimulatedButtons
    private var services = SimulatedServices()
    /// The state that the rules have stored, which a restart restores.
    private var state = RuleState()
    private var nextRun: UInt64 = 1
    private var timer: Instant?
    /// The rules of the runs that are not finished.
    private var live: [RunID: String] = [:]
    /// The actions since the latest `expect`.
    private(set) var performed: [PerformedAction] = []
    private(set) var reasons: [String] = []
    private var changedRules: Set<String> = []
    /// The events of buttons since the latest `expect`: each button once, with the names of its events, each once.
    private(set) var heard: [(button: ButtonID, names: [String])] = []
    /// For each rule, why changes of states since the latest `expect` did not start it.
    private(set) var stateReasons: [String: [String]] = [:]
    /// True while a step sets the clock, which may jump over the times of rules.
    private var isSettingClock = false
    /// The wall clock at the latest `expect`.
    private(set) var clockAtExpect = UTCTime(milliseconds: 0)
    /// The rules that an event matched since the latest `expect`.
    private(set) var judgedRules: Set<String> = []
    private var lastExpect: Instant
    private(set) var outcomes: [String: Outcome] = [:]
    private(set) var coverage = Coverage()
    /// The location of the latest step `random`.
    private(set) var randomLocation: SourceLocation?

    /// Creates the situation after a start of the program, which is copied for each test.
    init(_ set: RuleSet) {
        rules = set
        redaction = Redaction(set.confidential)
        engine = RuleEngine(set, usesButtonVerdicts: false)
        buttons = SimulatedButtons(set.buttons)
        lastExpect = now
        let noon = set.timeZone.moments(year: 2026, month: 1, day: 15, hour: 12, minute: 0, second: 0).first
        start = (noon ?? UTCTime(milliseconds: 1_768_478_400_000), now)
        boot()
    }

    var wallClock: UTCTime { start.utc + (now - start.at) }

    /// Applies the initial situation of a test. Its effects do not count for an `expect`.
    mutating func begin(_ given: RuleTest.Given) {
        self.given = given
        if let time = given.now {
            start = (time, now)
            feed(.given(.startTime(time)))
        }
        setBroker(given.brokerIsOnline)
        for value in given.variables { feed(.requested(.setVariable(value.name, value.value))) }
        for rule in given.disabled { feed(.requested(.setEnabled(rule: rule, false))) }
        setStates(given.states)
        forget()
        outcomes = [:]
    }

    /// Passes the inputs of a program start to the engine.
    private mutating func boot(with trains: [(ButtonID, String)] = []) {
        feed(.wallClock(wallClock, isBelievable: true))
        for (button, train) in trains { engine.restoreTrain(of: button, train, at: now) }
        feed(.buttonsChanged(buttons.identities))
        for identity in buttons.identities { feed(.linkChanged(identity.id, isConnected: true)) }
        if services.brokerIsOnline { feed(.brokerChanged(isConnected: true)) }
        for input in services.retainedInputs(for: rules.states) { feed(input) }
    }

    mutating func perform(_ test: RuleTest) -> RuleTestResult {
        // Without a step `random`, a test has no random numbers.
        feed(.given(.random([])))
        begin(test.given)
        var result = RuleTestResult(name: test.name, location: test.location, failure: nil)
        // The step that has advanced the clock to the deadlines that are handled before the next step.
        var before = test.location
        for step in test.steps {
            // Deadlines until now are handled before the step, but after a press at the same instant.
            if !step.precedesDeadlines { settle() }
            result.failure = randomFailure(at: before) ?? perform(step) ?? randomFailure(at: step.location)
            guard result.failure == nil else { return result }
            before = step.location
        }
        settle()
        result.failure = randomFailure(at: before)
        if result.failure == nil { noteLive() }
        return result
    }

    private mutating func perform(_ step: TestStep) -> RuleTestFailure? {
        switch step.kind {
        case .event(let event): occur(event)
        case .down(let name): press(name, isDown: true)
        case .up(let name): press(name, isDown: false)
        case .press(let name, let times, let gap, let duration):
            for count in 0..<times {
                if count > 0 { advance(by: gap) }
                press(name, isDown: true)
                advance(by: duration)
                press(name, isDown: false)
            }
        case .chord(let names):
            for name in names { press(name, isDown: true) }
            advance(by: .milliseconds(80))
            for name in names { press(name, isDown: false) }
        case .advance(let duration): advance(by: duration)
        case .time(let setting): setClock(setting)
        case .state(let values): setStates(values)
        case .broker(let isOnline): setBroker(isOnline)
        case .random(let numbers):
            randomLocation = step.location
            feed(.given(.random(numbers)))
        case .run(let rule):
            feed(.requested(.run(rule: rule, ignoringConditions: false, isDryRun: false)))
        case .reload(let reloaded): reload(reloaded)
        case .restart(let duration): restart(stoppedFor: duration)
        case .expect(let wanted): return check(wanted, step.location)
        case .expectVariables(let wanted): return check(variables: wanted, step.location)
        case .expectRules(let wanted): return check(outcomes: wanted, step.location)
        }
        return nil
    }

    /// Forgets all actions so far, because the next `expect` counts from here.
    mutating func forget() {
        performed = []
        reasons = []
        changedRules = []
        heard = []
        judgedRules = []
        stateReasons = [:]
        clockAtExpect = wallClock
        lastExpect = now
    }

    /// The trace of the latest run of each rule that has a run in progress, or one that began or ended since the latest
    /// `expect`.
    var traceLines: [String] {
        let shown = changedRules.union(live.values)
        return rules.rules.filter { shown.contains($0.id) }.flatMap { rule in
            (engine.traces(of: rule.id).last?.lines ?? []).map { "\(rule.id) › \($0.step): \($0.text)" }
        }
    }
}

// MARK: - The engine

extension TestRun {
    private mutating func feed(_ input: RuleEngine.Input) {
        latest = max(latest, now)
        var inputs = [input]
        var next = 0
        while next < inputs.count {
            for effect in engine.handle(inputs[next], at: latest) { take(effect, &inputs) }
            next += 1
        }
    }

    private mutating func take(_ effect: RuleEngine.Effect, _ inputs: inout [RuleEngine.Input]) {
        switch effect {
        case .recognised(let event): note(event.button, event.kind.name)
        case .variableChanged, .enabledChanged, .triggerModeDropped, .unsubscribe, .log: break
        case .timesMissed(let times):
            // At another step, the program of the test was stopped.
            if isSettingClock {
                reasons.append("\(times.sentence): time: jumps over it, and advance: lets it come")
            }
        case .started(let run, let rule, _):
            nextRun = max(nextRun, run.rawValue + 1)
            live[run] = rule
            coverage.started(rule)
            judgedRules.insert(rule)
            became(.started, rule)
        case .stopped(let rule, let gate, _, let reason):
            outcomes[rule] = Outcome(rawValue: gate.rawValue)
            judgedRules.insert(rule)
            reasons.append("\(rule) › \(gate.rawValue)" + (reason.isEmpty ? "" : ": \(reason)"))
        case .finished(let run, let rule, let result):
            live[run] = nil
            if let trace = engine.traces(of: rule).last(where: { $0.run == run }) { coverage.note(trace) }
            became(Outcome(rawValue: result.rawValue), rule)
        case .interrupted(let run, let rule, _):
            live[run] = nil
            became(.interrupted, rule)
        case .stepFailed(_, let rule, let step, _, let code, let message, _):
            reasons.append("\(rule) › \(step): \(code) \(message)")
        case .oversizedState(let topicName, let count):
            reasons.append("\(topicName): a message of \(count) octets is not read as JSON")
        case .stateFault(let fault): reasons.append("\(fault.state): \(StateFault.code) \(fault.message)")
        case .perform(let step, let action, _, _):
            if services.isPerformedImmediately(action) { note(action) }
            inputs += services.perform(action, for: step, given.results, at: latest)
        case .cancel(let step): services.cancel(step)
        case .store(let change): state.apply(change)
        case .subscribe(let topicNames):
            inputs += services.retainedInputs(for: rules.states.filter { topicNames.contains($0.topicName) })
        case .setTimer(let deadline): timer = deadline
        case .cancelTimer: timer = nil
        }
    }

    private mutating func note(_ action: Action) {
        performed.append(PerformedAction(action: action, after: (latest - lastExpect).inMilliseconds))
    }

    private mutating func note(_ button: ButtonID, _ name: String) {
        guard let index = heard.firstIndex(where: { $0.button == button }) else {
            return heard.append((button, [name]))
        }
        if !heard[index].names.contains(name) { heard[index].names.append(name) }
    }

    private mutating func became(_ outcome: Outcome?, _ rule: String) {
        outcomes[rule] = outcome
        changedRules.insert(rule)
    }

    /// Adds the steps that unfinished runs have reached so far to the coverage.
    private mutating func noteLive() {
        for rule in Set(live.values) {
            for trace in engine.traces(of: rule) where trace.result == nil { coverage.note(trace) }
        }
    }
}

// MARK: - Time

extension TestRun {
    /// Advances the clock. Deadlines at the end are not handled yet, because a press at that instant precedes them.
    private mutating func advance(by duration: Duration) {
        let end = now + duration
        while let next = nextMoment, next < end - TestRun.grain {
            latest = max(latest, next)
            happenNow()
        }
        now = end
    }

    private mutating func settle() {
        while let next = nextMoment, next <= now + TestRun.grain {
            latest = max(latest, next)
            happenNow()
        }
    }

    private var nextMoment: Instant? { [timer, services.nextMoment].compactMap(\.self).min() }

    /// Handles the deadlines at `latest`: results of programs and messages, then the engine's timer.
    private mutating func happenNow() {
        for input in services.takeDue(at: latest) { feed(input) }
        guard let timer, timer <= latest else { return }
        self.timer = nil
        feed(.timerFired)
    }
}

// MARK: - Steps of a test

extension TestRun {
    /// The maximum number of deadlines that a rehearsal handles.
    private static let maximumDeadlines = 1000

    /// Lets an event happen, and then nothing else until all runs have ended. Rules must have `dry_run`.
    mutating func rehearse(_ event: RecognisedEvent) {
        feed(.given(.recognised(event)))
        finishRuns(until: now)
    }

    /// Lets this time come, and then nothing else happen until all runs have ended.
    mutating func rehearse(timeAt time: UTCTime) {
        start = (time + .milliseconds(-1), now)
        feed(.given(.startTime(start.utc)))
        finishRuns(until: now + .seconds(1))
    }

    /// Changes a state, and then lets nothing else happen until the longest `for` of its triggers has passed and all runs
    /// have ended.
    mutating func rehearse(change state: String, to value: Value) {
        let durations = rules.rules.flatMap(\.triggers).compactMap { trigger -> Duration? in
            guard case .states(let trigger) = trigger.origin, trigger.states.contains(state) else { return nil }
            return trigger.duration
        }
        setStates([RuleTest.Assigned(state, value)])
        finishRuns(until: now + (durations.max() ?? .zero))
    }

    private mutating func finishRuns(until end: Instant) {
        var deadlines = 0
        while let next = nextMoment, !live.isEmpty || next <= end, deadlines < TestRun.maximumDeadlines {
            deadlines += 1
            now = max(now, next)
            latest = max(latest, next)
            happenNow()
        }
    }

    private mutating func press(_ name: String, isDown: Bool) {
        guard let event = buttons.move(name, isDown: isDown, at: now) else { return }
        feed(.pressed([event]))
    }

    private mutating func occur(_ event: SimulatedEvent) {
        let stages = buttons.id(of: event.button).map { engine.holdStages(of: $0) } ?? []
        switch event.event {
        case .connected, .disconnected, .batteryLow:
            if let button = buttons.id(of: event.button) { note(button, event.event.name) }
        case .down, .up, .pattern, .hold, .holdRelease, .swipe, .rotate: break
        }
        for input in buttons.inputs(for: event, stages: stages, at: now) { feed(input) }
    }

    private mutating func setStates(_ values: [RuleTest.Assigned]) {
        for value in values {
            guard let declared = rules.states.first(where: { $0.name == value.name }) else { continue }
            services.setRetainedValue(value.value, for: declared, on: value.topicName)
            let old = engine.receivedValue(ofState: value.name)
            feed(.given(.state(value.name, value.value, topicName: value.topicName)))
            noteStateReasons(value.name, from: old)
        }
    }

    private mutating func noteStateReasons(_ state: String, from old: Value?) {
        let new = engine.receivedValue(ofState: state)
        for rule in rules.rules {
            guard
                let reason = engine.reason(
                    whyChangeOf: state, from: old, to: new, didNotStart: rule.id, at: latest)
            else { continue }
            let reasons = stateReasons[rule.id, default: []].filter { $0 != reason } + [reason]
            stateReasons[rule.id] = reasons.suffix(TestRun.maximumStateReasons)
        }
    }

    private mutating func setClock(_ setting: ClockSetting) {
        let time: UTCTime? =
            switch setting {
            case .moment(let moment): moment
            case .ofDay(let second): TimeOfDay.time(secondOfDay: second).moment(onDayOf: wallClock, in: rules.timeZone)
            }
        guard let time else { return }
        start = (time, now)
        isSettingClock = true
        feed(.wallClock(time, isBelievable: true))
        isSettingClock = false
    }

    private mutating func setBroker(_ isOnline: Bool) {
        guard isOnline != services.brokerIsOnline else { return }
        services.brokerIsOnline = isOnline
        latest = max(latest, now)
        // This is the order of the daemon: what has waited, then what runs send because the broker is back, then what follows
        // from its acknowledgements.
        while isOnline, let (message, answer) = services.takeWaiting() {
            note(.message(message))
            feed(answer)
        }
        feed(.brokerChanged(isConnected: isOnline))
        while isOnline, let acknowledgement = services.takeAcknowledgement() { feed(acknowledgement) }
    }

    private mutating func reload(_ reloaded: ReloadResult?) {
        switch reloaded {
        case nil: break
        case .hasErrors: return
        case .set(let other): rules = other
        }
        redaction = redaction.hiding(rules.confidential)
        noteLive()
        feed(.reloaded(rules))
        let known = Set(buttons.identities.map(\.id))
        buttons.declare(rules.buttons)
        feed(.buttonsChanged(buttons.identities))
        for identity in buttons.identities where !known.contains(identity.id) {
            feed(.linkChanged(identity.id, isConnected: true))
        }
    }

    private mutating func restart(stoppedFor duration: Duration) {
        noteLive()
        let trains = buttons.identities.map { ($0.id, engine.savedTrain(of: $0.id)) }
        feed(.stop)
        services.forgetSteps()
        timer = nil
        now = now + duration
        let numbers = engine.draws.given
        engine = RuleEngine(rules, state: state, nextRun: RunID(rawValue: nextRun), usesButtonVerdicts: false)
        latest = now
        if let numbers { feed(.given(.random(numbers))) }
        live = Dictionary(state.waitingRuns.map { ($0.run, $0.rule) }) { first, _ in first }
        boot(with: trains)
    }
}

extension TestStep {
    fileprivate var precedesDeadlines: Bool {
        switch kind {
        case .down, .up, .press, .chord, .advance: true
        case .event, .time, .state, .broker, .random, .run, .reload, .restart, .expect, .expectVariables, .expectRules:
            false
        }
    }
}

extension Duration {
    /// The duration rounded to whole milliseconds.
    fileprivate var inMilliseconds: Duration { .milliseconds((self + .microseconds(500)).milliseconds) }
}
