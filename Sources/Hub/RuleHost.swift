import ButtonModel
import Expressions
import JSON
import Rules

/// The rules of the house: the engine with the set that runs, the set that is being loaded, and what is shown of runs.
///
/// Only this type reaches into `RuleEngine`. The hub hands inputs over with `add` and carries out one turn after another:
///
/// 1. `takeTurn` or `pressed` returns the engine's effects for one input.
/// 2. `begun` lists what must be recorded before any of them is carried out.
/// 3. The hub carries the effects out, and reports runs that ended with `ended`.
struct RuleHost: Sendable {
    /// A load of the rule files, and the requesters that wait for it.
    private struct Load: Sendable {
        var id: JobID
        var requesters: [Hub.Requester]
    }

    /// The handling of one input by the engine.
    struct Turn: Sendable {
        var effects: [RuleEngine.Effect]
        /// The result of the action whose end is the input; `nil` for other inputs.
        var result: ActionResult?
    }

    /// A failed step, for the topic about the last run.
    private struct Failure: Sendable {
        var step: String
        var code: String
        var message: String
        var exitStatus: Int64?
    }

    /// The maximum number of requesters that wait for one load.
    static let maximumRequesters = 64

    private var engine: RuleEngine
    /// Redacts the secrets of this set, of the sets before it, which may still be on their way into the log, and of sets that were
    /// refused.
    private(set) var redaction: Redaction
    /// Why the rules on disk are not the rules that run; `nil` if they are.
    private(set) var fault: String? { didSet { hasChanged = true } }
    /// Errors and warnings of the rules on disk.
    private(set) var problemsOnDisk: [JSONValue]
    private var load: Load? { didSet { hasChanged = true } }
    /// The load that was requested during another one. It follows, because the files may have changed meanwhile.
    private var nextLoad: (withTests: Bool, requesters: [Hub.Requester])? { didSet { hasChanged = true } }
    /// Runs that a crash, a power cut or a restart has ended.
    let interrupted: [StoredRun]

    /// Inputs that wait, and those of the current turn. An input that the effects of another lead to waits until all of
    /// these are carried out, because an older timer must not be set after a newer one.
    private var inputs: [RuleEngine.Input] = []
    private var nextInput = 0
    /// True if effects are being carried out.
    private(set) var isCarryingOut = false

    /// Rules whose statistics have changed since `takeChangedStatistics`.
    private var changedStatistics: Set<String> = []
    /// True if the timer for publishing statistics is set.
    private(set) var areStatisticsScheduled = false
    /// The latest failed step of each rule, until its run ends.
    private var failures: [String: Failure] = [:]
    /// The last runs as published: for requests about rules, and to be published again after connecting to the broker.
    private var lastRuns: [String: JSONValue] = [:]
    /// True if something that the metrics show has changed since `takeHasChanged`.
    private var hasChanged = false

    init(_ rules: RuleSet, _ configuration: HubConfiguration, stored: StoredState) {
        engine = RuleEngine(rules, state: stored.rules, nextRun: RunID(rawValue: stored.nextRun))
        engine.isActing = configuration.engine == nil
        let refused = configuration.refusedValues
        redaction = Redaction(rules.confidential, open: rules.openValues)
            .hiding(refused.values, open: refused.open)
        fault = configuration.ruleFault
        problemsOnDisk = configuration.ruleProblems
        let waiting = Set(stored.rules.waitingRuns.map(\.run.rawValue))
        interrupted = stored.runs.filter { !waiting.contains($0.id) }
    }

    /// True if something that the metrics show has changed since the last call.
    mutating func takeHasChanged() -> Bool {
        defer { hasChanged = false }
        return hasChanged
    }

    /// True after the input `stop`. Later inputs have no effect.
    var isStopped: Bool { engine.isStopped }

    // MARK: Turns

    /// Adds an input, which the next call of `takeTurn` handles.
    mutating func add(_ input: RuleEngine.Input) { inputs.append(input) }

    /// Handles the next input.
    ///
    /// - Returns: what to carry out before the next call; `nil` if no input waits.
    mutating func takeTurn(at now: Instant) -> Turn? {
        isCarryingOut = nextInput < inputs.count
        guard isCarryingOut else {
            inputs.removeAll(keepingCapacity: true)
            nextInput = 0
            return nil
        }
        defer { nextInput += 1 }
        let input = inputs[nextInput]
        var turn = Turn(effects: engine.handle(input, at: now))
        if case .actionFinished(_, let result) = input { turn.result = result }
        return turn
    }

    /// The runs that an event of a button will start, without changing anything; `nil` if they are not known before the
    /// event is handled.
    mutating func preview(_ event: ButtonEvent, at now: Instant) -> PressPreview? {
        guard !isCarryingOut, inputs.isEmpty else { return nil }
        return engine.preview(event, at: now)
    }

    /// Makes what `preview` needs of a button, unless it is up to date.
    mutating func prepare(for button: ButtonID) { engine.preparePlan(of: button) }

    /// Handles the events of one notification of a button. `takeTurn` has to be called until it returns `nil`.
    mutating func pressed(_ events: [ButtonEvent], at now: Instant) -> [RuleEngine.Effect] {
        isCarryingOut = true
        return engine.handle(.pressed(events), at: now)
    }

    /// Appends the changes that must be recorded before the effects are carried out: the runs that start, and what rules keep.
    ///
    /// - Parameters:
    ///   - cursor: the cursor of a button.
    ///   - hasWritten: whether all messages of a run are written, so that it may be recorded as waiting.
    static func begun(
        by effects: [RuleEngine.Effect], at time: UTCTime, cursor: (ButtonID) -> EventCursor?,
        hasWritten: (RunID) -> Bool, into changes: inout [StoreChange]
    ) {
        for (index, effect) in effects.enumerated() {
            switch effect {
            case .started(let run, let rule, let cause):
                changes.append(
                    .runStarted(
                        StoredRun(
                            id: run.rawValue, rule: rule, button: cause.button,
                            event: cause.button.flatMap(cursor) ?? EventCursor(), startedAt: time)))
            case .store(.waiting(let run, .some))
            where !hasWritten(run) || publishes(effects[..<index], of: run):
                changes.append(.rules(.waiting(run, nil)))
            case .store(let change): changes.append(.rules(change))
            case .recognised, .stopped, .perform, .cancel, .stepFailed, .finished, .interrupted, .variableChanged,
                .enabledChanged, .triggerModeDropped, .subscribe, .unsubscribe, .timesMissed, .log, .oversizedState,
                .stateFault, .setTimer, .cancelTimer:
                break
            }
        }
    }

    /// True if the run publishes a message with one of the effects.
    private static func publishes(_ effects: ArraySlice<RuleEngine.Effect>, of run: RunID) -> Bool {
        effects.contains {
            if case .perform(let step, .message, _, _) = $0 { step.run == run } else { false }
        }
    }

    /// A step has failed, which is shown when its run ends.
    ///
    /// - Parameter result: the result of the action whose end was the input of the turn; `nil` for other inputs.
    mutating func stepFailed(of rule: String, step: String, code: String, message: String, after result: ActionResult?)
    {
        var failure = Failure(step: step, code: code, message: message)
        // The program that ended is the step's, unless the step failed for another reason.
        if code == "R822", case .failed(code: code, message: _, let facts?) = result {
            failure.exitStatus = facts.status
        }
        failures[rule] = failure
    }

    /// The trace of a run that has ended; `nil` if it is not kept any more.
    func trace(of run: RunID, rule: String) -> RunTrace? { engine.traces(of: rule).last { $0.run == run } }

    /// A run has ended.
    ///
    /// - Returns: whether its rule has topics, so that the last run is to be published.
    mutating func ended(
        _ rule: String, result: RunResult, startedAt: UTCTime, buttonLabel: String?, event: String,
        duration: Duration?
    ) -> Bool {
        var members: [JSONValue.Member] = [
            .init("result", .string(result.rawValue)), .init("started_at", .string(startedAt.description)),
            .init("duration_ms", duration.map { .integer($0.milliseconds) } ?? .null),
            .init("button", buttonLabel.map { .string($0) } ?? .null), .init("event", .string(event)),
        ]
        if let failure = failures.removeValue(forKey: rule) {
            members.append(.init("step", .string(failure.step)))
            members.append(.init("code", .string(failure.code)))
            members.append(.init("message", .string(failure.message)))
            if let status = failure.exitStatus { members.append(.init("exit_status", .integer(status))) }
        }
        guard has(rule: rule) else { return false }
        lastRuns[rule] = redaction(.object(members))
        return true
    }

    /// The statistics of a rule have changed.
    ///
    /// - Returns: whether they have to be published after a delay, because no other change waits for that.
    mutating func statisticsChanged(of rule: String) -> Bool {
        changedStatistics.insert(rule)
        hasChanged = true
        defer { areStatisticsScheduled = true }
        return !areStatisticsScheduled
    }

    /// The rules whose statistics have to be published, in the order of their ids.
    mutating func takeChangedStatistics() -> [String] {
        defer {
            changedStatistics = []
            areStatisticsScheduled = false
        }
        return changedStatistics.sorted().filter { has(rule: $0) }
    }

    // MARK: Buttons

    mutating func restoreTrain(of button: ButtonID, _ saved: String, at now: Instant) {
        engine.restoreTrain(of: button, saved, at: now)
    }

    /// The encoded state of a button's undecided press train, to be stored with its events.
    func savedTrain(of button: ButtonID) -> String { engine.savedTrain(of: button) }

    /// True if something of the button is undecided: `RuleEngine.hasUndecided`.
    func hasUndecided(of button: ButtonID) -> Bool { engine.hasUndecided(of: button) }

    /// The buttons that are in a chord with this one: `RuleEngine.partners`.
    func partners(of button: ButtonID) -> [ButtonID] { engine.partners(of: button) }

    func declaredName(of button: ButtonID) -> String? { engine.declaredName(of: button) }

    /// The policy for events that are published over MQTT.
    func queuedPolicy(of button: ButtonID) -> QueuedPolicy { engine.queuedPolicy(of: button) }

    /// True if a rule names the button: `RuleEngine.hears`.
    func hears(_ button: ButtonID) -> Bool { engine.hears(button) }

    /// The first rule that names the button; `nil` if none does.
    func listener(to button: ButtonID) -> String? { engine.listener(to: button) }

    func listening(to button: ButtonID) -> ClickTiming { engine.clickTiming(of: button) }

    /// The parts of the button whose rotation triggers a rule.
    func turnedParts(of button: ButtonID) -> Set<ButtonPart> { engine.turnedParts(of: button) }

    /// Why the button cannot have this trigger mode; `nil` if it can.
    func refusal(of mode: TriggerMode, for button: ButtonID) -> String? { engine.refusal(of: mode, for: button) }

    // MARK: Messages

    /// The topic filters of states.
    var subscriptions: [String] { engine.subscriptions }

    func isState(_ topicName: String) -> Bool { engine.isState(topicName) }

    /// True if a run waits for this step.
    func awaits(_ step: ActionID) -> Bool { engine.awaits(step) }

    /// When the time limit of this step ends; `nil` if no run waits for it.
    func deadline(of step: ActionID) -> Instant? { engine.deadline(of: step) }

    // MARK: Loading

    /// Asks for the rule files to be read.
    ///
    /// - Returns: `false` if too many requesters wait already.
    mutating func requestLoad(withTests: Bool, for requester: Hub.Requester?) -> Bool {
        guard requester == nil || (nextLoad?.requesters.count ?? 0) < Self.maximumRequesters else { return false }
        nextLoad = (
            withTests || (nextLoad?.withTests ?? false), (nextLoad?.requesters ?? []) + (requester.map { [$0] } ?? [])
        )
        return true
    }

    /// True if `beginLoad` has to be called.
    var hasToLoad: Bool { load == nil && nextLoad != nil }
    var isLoading: Bool { load != nil }

    /// - Returns: whether the tests in the rule files are to be run, too.
    mutating func beginLoad(_ id: JobID) -> Bool {
        defer { nextLoad = nil }
        load = Load(id: id, requesters: nextLoad?.requesters ?? [])
        return nextLoad?.withTests ?? false
    }

    /// The consequence of a load.
    enum Verdict: Hashable, Sendable {
        /// The new set takes the place of the old one.
        case taken(isSame: Bool)
        /// The files are those of the set that runs, and do not pass their tests.
        case failsTests
        /// - Parameters:
        ///   - sentence: what is wrong.
        ///   - isNew: whether it was wrong in another way before.
        case refused(_ sentence: String, isNew: Bool)
    }

    /// A load has ended.
    ///
    /// - Returns: the verdict and the requesters that wait for it; `nil` if this is not the load that was begun.
    mutating func loaded(_ id: JobID, _ loaded: RuleLoadReport) -> (Verdict, [Hub.Requester])? {
        guard let load, load.id == id else { return nil }
        self.load = nil
        problemsOnDisk = loaded.problems
        let refused = loaded.refusedValues
        if !refused.values.isEmpty { redaction = redaction.hiding(refused.values, open: refused.open) }
        let running = engine.set
        if let set = loaded.set {
            // The fingerprint is shown, so it covers no secrets.
            let isSame = set.fingerprint == running.fingerprint && set.confidential == running.confidential
            fault = nil
            return (.taken(isSame: isSame), load.requesters)
        }
        if loaded.failing == running.fingerprint {
            fault = nil
            return (.failsTests, load.requesters)
        }
        let sentence = "the rules on disk have errors; the old rules stay in use: \(loaded.summary)"
        defer { fault = sentence }
        return (.refused(sentence, isNew: fault != sentence), load.requesters)
    }

    /// Prepares for a new set: its secrets are redacted from now on. The input `reloaded` has to follow, and `took`.
    ///
    /// - Returns: the old set.
    mutating func willTake(_ set: RuleSet) -> PreparedRules {
        redaction = redaction.hiding(set.confidential, open: set.openValues)
        return engine.prepared
    }

    /// The engine has taken a new set.
    ///
    /// - Returns: the topics of rules and variables that were removed or added.
    mutating func took(insteadOf before: PreparedRules) -> [RetainedTopic] {
        let now = engine.prepared
        var topics: [RetainedTopic] = []
        for (index, rule) in before.ruleIDs.enumerated() where !now.has(rule: rule, at: index) {
            lastRuns[rule] = nil
            failures[rule] = nil
            changedStatistics.remove(rule)
            topics += [.ruleEnabled(rule), .lastRun(rule), .statistics(rule)]
        }
        for variable in before.set.variables where !now.has(variable: variable.name) {
            topics.append(.variable(variable.name))
        }
        for (index, rule) in now.ruleIDs.enumerated() where !before.has(rule: rule, at: index) {
            topics.append(.ruleEnabled(rule))
        }
        for variable in now.set.variables where !before.has(variable: variable.name) {
            topics.append(.variable(variable.name))
        }
        return topics
    }

    // MARK: Queries

    var set: RuleSet { engine.set }
    var runCount: Int { engine.runCount }
    var modelContradictions: [String] { engine.modelContradictions }
    /// The declared buttons that rules use, and that are not paired.
    var missingButtons: [DeclaredButton] { engine.missingButtons }

    func has(rule: String) -> Bool { engine.statistics(of: rule) != nil }
    func has(variable: String) -> Bool { engine.value(of: variable) != nil }
    /// The number of messages of states since the start that could not be converted (R830).
    var stateFaultCount: Int { engine.stateFaultCount }
    func isEnabled(rule: String) -> Bool? { engine.isEnabled(rule: rule) }
    func value(of variable: String) -> Value? { engine.value(of: variable) }
    func statistics(of rule: String) -> RuleStatistics? { engine.statistics(of: rule) }
    func latestOutcome(of rule: String) -> Outcome? { engine.latestOutcome(of: rule) }
    func traces(of rule: String) -> [RunTrace] { engine.traces(of: rule) }
    var runningCounts: [String: Int] { engine.runningCounts }
    func value(ofState state: String) -> Value? { engine.value(ofState: state) }
    func stoppedMatches(of rule: String) -> [StoppedMatch] { engine.stoppedMatches(of: rule) }
    func lastRun(of rule: String) -> JSONValue? { lastRuns[rule] }
    /// Rules whose last run is known, in the order of their ids.
    var rulesWithLastRun: [String] { lastRuns.keys.sorted() }

    #if DEBUG
        /// The steps whose results runs wait for without a time limit.
        var stepsWithoutTimeLimit: [ActionID] { engine.stepsWithoutTimeLimit }

        /// True if these are the buttons that the engine was told of.
        func knows(_ buttons: [ButtonIdentity]) -> Bool { engine.knows(buttons) }

        /// How often a button was resolved to the names in rules.
        var resolvedCount: Int { engine.resolvedCount }

        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        ///
        /// - Parameter isTurnIncomplete: true between the two halves of a press.
        func problems(isTurnIncomplete: Bool = false) -> [String] {
            var problems = engine.problems()
            if !isTurnIncomplete, !inputs.isEmpty || isCarryingOut { problems.append("inputs for rules are left") }
            if nextLoad != nil, load == nil { problems.append("a reload waits, and none is loading") }
            if !changedStatistics.isEmpty, !areStatisticsScheduled {
                problems.append("changed statistics are not to be published")
            }
            if load?.requesters.count ?? 0 > Self.maximumRequesters + 1 {
                problems.append("too many requesters wait for the rules")
            }
            return problems
        }
    #endif
}
