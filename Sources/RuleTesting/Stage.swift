import Almanac
import ButtonModel
import Expressions
import Gestures
import Rules

/// One test while it runs: the engine, and everything around it that a test plays.
struct Stage {
    /// Something outside that ends at its time.
    private struct Pending {
        var at: Instant
        /// Of those at one instant the first is the first.
        var order: Int
        var step: StepID
        var outcome: StepOutcome
    }

    /// A message that waits for the broker.
    private struct WaitingMessage {
        var step: StepID
        var deadline: Instant
    }

    private(set) var rules: RuleSet
    private let given: RuleTest.Given
    var engine: RuleEngine
    var now = Instant(sinceBoot: .seconds(3600))
    private let start: (utc: UTCTime, at: Instant)
    private(set) var brokerIsOnline: Bool
    private(set) var buttons: Buttons
    /// What a restart finds.
    private var state = RuleState()
    private var nextRun: UInt64 = 1
    /// The broker is outside: they outlive a restart.
    private var states: [String: Value] = [:]
    private var pending: [Pending] = []
    private var order = 0
    private var waiting: [WaitingMessage] = []
    private var timer: Instant?
    /// Since the latest `expect`.
    var happened: [Happened] = []
    var lastExpect: Instant
    var why: [String] = []
    private(set) var outcomes: [String: Outcome] = [:]
    private(set) var reached: Set<String> = []

    init(_ set: RuleSet, _ test: RuleTest) {
        rules = set
        given = test.given
        engine = RuleEngine(set)
        brokerIsOnline = test.given.brokerIsOnline
        buttons = Buttons(rules.buttons)
        lastExpect = now
        let noon = rules.timeZone.moments(year: 2026, month: 1, day: 15, hour: 12, minute: 0, second: 0).first
        start = (test.given.now ?? noon ?? UTCTime(milliseconds: 1_768_478_400_000), now)
    }

    private var wallClock: UTCTime { start.utc + (now - start.at) }

    /// Begins as the test wants it. Nothing of it counts as having happened.
    private mutating func begin() {
        boot()
        for value in given.variables { feed(.requested(.setVariable(value.name, value.value))) }
        for rule in given.disabled { feed(.requested(.setEnabled(rule: rule, false))) }
        setStates(given.states)
        happened = []
        why = []
        outcomes = [:]
    }

    /// What every start of the program has.
    private mutating func boot() {
        feed(.wallClock(wallClock, isBelievable: true))
        feed(.buttonsChanged(buttons.identities))
        for identity in buttons.identities { feed(.linkChanged(identity.id, isConnected: true)) }
        if brokerIsOnline { feed(.brokerChanged(isConnected: true)) }
    }

    mutating func perform(_ test: RuleTest) -> RuleTestResult {
        begin()
        for step in test.steps {
            if let failure = perform(step) {
                return RuleTestResult(name: test.name, place: test.place, failure: failure)
            }
        }
        gatherReached()
        return RuleTestResult(name: test.name, place: test.place, failure: nil)
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
        case .state(let values): setStates(values)
        case .broker(let isOnline): setBroker(isOnline)
        case .run(let rule):
            feed(.requested(.run(rule: rule, ignoringConditions: false, isDryRun: false)))
        case .reload(let reloaded): reload(reloaded)
        case .restart(let duration): restart(stoppedFor: duration)
        case .expect(let wanted): return check(wanted, step.place)
        case .expectVariables(let wanted): return check(variables: wanted, step.place)
        case .expectRules(let wanted): return check(outcomes: wanted, step.place)
        }
        return nil
    }

    // MARK: The engine

    mutating func feed(_ input: RuleEngine.Input) {
        var inputs = [input]
        var next = 0
        while next < inputs.count {
            for effect in engine.handle(inputs[next], at: now) { take(effect, &inputs) }
            next += 1
        }
        gatherReached()
    }

    private mutating func take(_ effect: RuleEngine.Effect, _ inputs: inout [RuleEngine.Input]) {
        switch effect {
        case .recognised, .variableChanged, .enabledChanged, .triggerModeDropped, .subscribe, .unsubscribe, .log: break
        case .started(let run, let rule, _):
            nextRun = max(nextRun, run.rawValue + 1)
            outcomes[rule] = .started
        case .stopped(let rule, let gate, _, let reason):
            outcomes[rule] = Outcome(rawValue: gate.rawValue)
            why.append("\(rule) › \(gate.rawValue)" + (reason.isEmpty ? "" : ": \(reason)"))
        case .finished(_, let rule, let result):
            outcomes[rule] = Outcome(rawValue: result.rawValue)
        case .interrupted(_, let rule, _): outcomes[rule] = .interrupted
        case .stepFailed(_, let rule, let step, _, let code, let message, _):
            why.append("\(rule) › \(step): \(code) \(message)")
        case .perform(let step, let action, _, _): perform(step, action, &inputs)
        case .cancel(let step):
            pending.removeAll { $0.step == step }
            waiting.removeAll { $0.step == step }
        case .keep(let change): state.apply(change)
        case .setTimer(let deadline): timer = deadline
        case .cancelTimer: timer = nil
        }
    }

    private mutating func perform(_ step: StepID, _ action: Action, _ inputs: inout [RuleEngine.Input]) {
        happened.append(Happened(action: action, after: now - lastExpect))
        switch action {
        case .log: break
        case .publish(let publish):
            if brokerIsOnline {
                inputs.append(.handedOver(step))
                inputs.append(.stepFinished(step, .completed()))
            } else {
                waiting.append(WaitingMessage(step: step, deadline: now + publish.maximumAge))
                if publish.maximumAge == .zero { expireMessages(&inputs) }
            }
        case .process, .http:
            let (outcome, takes) = OutsideAnswer.to(action, given.results)
            guard takes > .zero else { return inputs.append(.stepFinished(step, outcome)) }
            order += 1
            pending.append(Pending(at: now + takes, order: order, step: step, outcome: outcome))
        }
    }

    private mutating func expireMessages(_ inputs: inout [RuleEngine.Input]) {
        for message in waiting where message.deadline <= now {
            inputs.append(
                .stepFinished(
                    message.step, .failed(code: "R824", message: "the broker was away for too long")))
        }
        waiting.removeAll { $0.deadline <= now }
    }

    // MARK: Time

    mutating func advance(by duration: Duration) {
        let end = now + duration
        while let next = nextMoment, next <= end {
            now = max(now, next)
            happenNow()
        }
        now = end
    }

    private var nextMoment: Instant? {
        [timer, pending.map(\.at).min(), waiting.map(\.deadline).min(), buttons.nextMoment].compactMap(\.self).min()
    }

    /// What outside things do comes before what a timer decides.
    private mutating func happenNow() {
        for event in buttons.takeDue(at: now) { feed(.pressed([event])) }
        let due = pending.filter { $0.at <= now }.sorted { ($0.at, $0.order) < ($1.at, $1.order) }
        pending.removeAll { $0.at <= now }
        for ended in due { feed(.stepFinished(ended.step, ended.outcome)) }
        var inputs: [RuleEngine.Input] = []
        expireMessages(&inputs)
        for input in inputs { feed(input) }
        if let timer, timer <= now {
            self.timer = nil
            feed(.timerFired)
        }
    }

    // MARK: What a test does

    private mutating func press(_ name: String, isDown: Bool) {
        guard let event = isDown ? buttons.down(name, at: now) : buttons.up(name, at: now) else { return }
        feed(.pressed([event]))
    }

    private mutating func occur(_ event: SimulatedEvent) {
        for input in buttons.inputs(for: event, at: now) { feed(input) }
    }

    private mutating func setStates(_ values: [RuleTest.Assigned]) {
        for value in values {
            states[value.name] = value.value
            feed(.given(.state(value.name, value.value)))
        }
    }

    private mutating func setBroker(_ isOnline: Bool) {
        guard isOnline != brokerIsOnline else { return }
        brokerIsOnline = isOnline
        feed(.brokerChanged(isConnected: isOnline))
        guard isOnline else { return }
        let messages = waiting
        waiting = []
        for message in messages {
            feed(.handedOver(message.step))
            feed(.stepFinished(message.step, .completed()))
        }
    }

    private mutating func reload(_ reloaded: ReloadedSet?) {
        switch reloaded {
        case nil: break
        case .hasErrors: return
        case .set(let other): rules = other
        }
        feed(.reloaded(rules))
        let known = Set(buttons.identities.map(\.id))
        buttons.declare(rules.buttons)
        feed(.buttonsChanged(buttons.identities))
        for identity in buttons.identities where !known.contains(identity.id) {
            feed(.linkChanged(identity.id, isConnected: true))
        }
    }

    private mutating func restart(stoppedFor duration: Duration) {
        feed(.stop)
        for (rule, outcome) in outcomes where outcome == .started {
            if !state.waiting.contains(where: { $0.rule == rule }) { outcomes[rule] = .interrupted }
        }
        pending = []
        waiting = []
        timer = nil
        buttons.forgetPresses()
        now = now + duration
        engine = RuleEngine(rules, state: state, nextRun: RunID(rawValue: nextRun))
        boot()
        for (name, value) in states.sorted(by: { $0.key < $1.key }) { feed(.given(.state(name, value))) }
    }

    // MARK: Coverage

    private mutating func gatherReached() {
        for rule in rules.rules {
            for trace in engine.traces(of: rule.id) {
                reached.insert(rule.place.description)
                for line in trace.lines { reached.insert(line.place.description) }
            }
        }
    }

    /// The latest run of each rule, as it went.
    var traceLines: [String] {
        rules.rules.flatMap { rule in
            (engine.traces(of: rule.id).last?.lines ?? []).map { "\(rule.id) › \($0.step): \($0.text)" }
        }
    }
}
