import ButtonModel
import Expressions
import Gestures
import JSON
import MQTTTopics
import Rules

// Carries out what the rule engine decides.
extension Hub {
    static let statisticsInterval = Duration.seconds(10)

    mutating func advanceRules(_ input: RuleEngine.Input, at now: Instant) {
        rules.add(input)
        if !rules.isCarryingOut { carryOutTurns(at: now) }
    }

    /// Carries out the turns that wait, one after another.
    mutating func carryOutTurns(at now: Instant) {
        while let turn = rules.takeTurn(at: now) {
            let ruleEffects = turn.effects
            let reports = reports(of: ruleEffects, at: now)
            let changes = progressAndDials(of: reports.buttons.sorted())
            // A decision of a timer was recorded as open, and would be made again after a power cut.
            let decidesKept = changes.isEmpty && ruleEffects.contains(where: \.endsKeptEvent)
            let token = changes.isEmpty && !decidesKept ? nil : identifiers.recordToken()
            recordTurn(ruleEffects, as: token, with: changes, at: now)
            let lines = act(on: ruleEffects, at: now)
            completeTurn(ruleEffects, reports, lines, after: turn.result, at: now)
            if let token, reports.hasPresses || decidesKept { sync(token) }
        }
    }

    /// Records the runs that start here, what rules keep, and `changes` with them, before the first step is carried out.
    mutating func recordTurn(
        _ ruleEffects: [RuleEngine.Effect], as token: RecordToken?, with changes: [StoreChange], at now: Instant
    ) {
        var begun = changes
        RuleHost.begun(
            by: ruleEffects, at: wallClock(at: now), cursor: { cursor(of: $0) },
            hasWritten: { broker.hasWritten($0) }, into: &begun)
        if !begun.isEmpty || token != nil { record(begun, as: token) }
    }

    /// Performs the actions of a turn, cancels others, and subscribes to topics, in their order.
    ///
    /// - Returns: the occurrences that `completeTurn` broadcasts, for each action and each cancellation. Clients receive an
    ///   event before its consequences.
    mutating func act(on ruleEffects: [RuleEngine.Effect], at now: Instant) -> [[Occurrence]] {
        var lines: [[Occurrence]] = []
        occurrencesOfAction = []
        for effect in ruleEffects {
            switch effect {
            case .perform(let step, let action, let rule, let cause):
                if feed?.holds(step, action, rule: rule, at: now) != true {
                    perform(step, action, rule: rule, endsHold: feed == nil && cause.endsHold, at: now)
                }
            case .cancel(let step): cancel(step)
            // A message of a rule may come back on a topic that the same turn subscribes to.
            case .subscribe(let topicNames):
                if broker.isConnected { emit(.subscribe(subscriptions(to: topicNames))) }
                continue
            case .unsubscribe(let topicNames):
                let filters = withoutOwn(topicNames)
                if broker.isConnected, !filters.isEmpty { emit(.unsubscribe(filters)) }
                continue
            case .recognised, .store, .started, .stopped, .stepFailed, .finished, .interrupted, .variableChanged,
                .enabledChanged, .triggerModeDropped, .timesMissed, .log, .oversizedState, .stateFault, .setTimer,
                .cancelTimer:
                continue
            }
            lines.append(occurrencesOfAction ?? [])
            occurrencesOfAction?.removeAll()
        }
        occurrencesOfAction = nil
        return lines
    }

    /// Carries out the other effects of a turn, records the runs that ended, and enqueues the messages about its events.
    ///
    /// - Parameters:
    ///   - lines: the result of `act`.
    ///   - result: the result of the action whose end was the input of the turn; `nil` for other inputs.
    mutating func completeTurn(
        _ ruleEffects: [RuleEngine.Effect], _ reports: Reports, _ lines: [[Occurrence]], after result: ActionResult?,
        at now: Instant
    ) {
        ruleTrace?.add(reports.occurrences, ruleEffects)
        for occurrence in reports.occurrences { broadcast(occurrence) }
        var ended: [StoreChange] = []
        var lines = lines[...]
        for effect in ruleEffects { carryOut(effect, &lines, ended: &ended, after: result, at: now) }
        if !ended.isEmpty { record(ended) }
        publishReports(reports.messages, at: now)
    }

    private mutating func carryOut(
        _ effect: RuleEngine.Effect, _ lines: inout ArraySlice<[Occurrence]>, ended: inout [StoreChange],
        after result: ActionResult?, at now: Instant
    ) {
        switch effect {
        case .recognised: break
        case .store(.waiting(let run, let waiting)):
            broker.waitChanged(of: run, waiting.map { .rules(.waiting(run, $0)) })
        case .store: break
        case .started(let run, let rule, let cause):
            statisticsChanged(of: rule, at: now)
            if isWatched {
                broadcast(.runStarted(run, rule: rule, cause, button: cause.button.map { label(of: $0) }))
            }
        case .stopped(let rule, let gate, let cause, let reason):
            statisticsChanged(of: rule, at: now)
            if isLogged(.debug) {
                log(.debug, "rule \(rule) did not run: \(gate.rawValue)" + (reason.isEmpty ? "" : ", \(reason)"))
            }
            if isWatched {
                let button = cause.button.map { label(of: $0) }
                broadcast(.ruleStopped(rule: rule, gate, cause, button: button, reason: reason))
            }
        case .perform(let step, let action, let rule, _):
            for occurrence in lines.popFirst() ?? [] { broadcast(occurrence) }
            guard case .log(let level, let message) = action else { break }
            log(level, "rule \(rule): \(message)")
            broadcast(.ruleLog(step.run, rule: rule, level, message))
        case .cancel: for occurrence in lines.popFirst() ?? [] { broadcast(occurrence) }
        case .stepFailed(let run, let rule, let step, let place, let code, let message, let isFinal):
            logFailure(ofRule: rule, ", \(step) (\(place)): \(code) \(message)", at: now)
            broadcast(
                .stepFailed(run, rule: rule, step: step, place, code: code, message: message, isFinal: isFinal))
            rules.stepFailed(of: rule, step: step, code: code, message: message, after: result)
        case .finished(let run, let rule, let result):
            // A run that the end of the process interrupts stays recorded, so that the next process reports it.
            if result != .interrupted || !rules.isStopped, broker.runEnded(run) {
                ended.append(.runEnded(run.rawValue))
            }
            runEnded(run, rule: rule, result, at: now)
        case .interrupted(let run, let rule, let cause):
            reportInterrupted(
                StoredRun(
                    id: run.rawValue, rule: rule, button: cause.button, event: EventCursor(),
                    startedAt: cause.at), at: now)
        case .variableChanged(let name, let value, let run, let rule):
            broadcast(.variable(name, value, by: run, rule: rule))
            invalidate(.variable(name))
        case .enabledChanged(let rule, _): invalidate(.ruleEnabled(rule))
        case .triggerModeDropped(let button):
            dropTriggerMode(of: button, at: now)
        case .subscribe, .unsubscribe: break
        case .timesMissed(let times): log(.info, times.sentence)
        case .log(let level, let message): log(level, message)
        case .oversizedState(let topicName, let count):
            let limit = "JSON for a state has at most \(RuleEngine.maximumStateLength >> 10) KiB"
            log(
                .longState, .warning,
                "\(topicName): a message of \(count) octets is not read, so its states are unknown; \(limit)", at: now)
        case .stateFault(let fault):
            log(.warning, "state \(fault.state): \(fault.message) (\(StateFault.code))")
            if isWatched { broadcast(.stateFault(fault)) }
        case .setTimer(let deadline): setTimer(.rules, at: deadline)
        case .cancelTimer: cancelTimer(.rules)
        }
    }

    // MARK: Steps

    /// - Parameter endsHold: whether the end of a hold caused the action.
    mutating func perform(
        _ step: ActionID, _ action: Action, rule: String, endsHold: Bool = false, at now: Instant
    ) {
        ruleTrace?.actions.append(RuleAction(step: step, rule: rule, action: action))
        switch action {
        case .message(.publish(let publish)):
            // With QoS 1 or 2 the rule asks for an acknowledgement, which tells whether the end has to be sent again.
            let repetition: Outbox.Repetition =
                endsHold && publish.qos > 0 ? .often : publish.retain && feed == nil ? .once : .never
            self.publish(
                MQTTMessage(publish), timeToLive: publish.maximumAge, repetition: repetition,
                for: .step(step, rule: rule, topicName: publish.topicName), at: now)
        case .external(let external):
            let id = identifiers.jobID()
            jobs.started(id, Jobs.StepJob(step: step, run: step.run, rule: rule, action: external))
            if let last = ruleTrace?.actions.indices.last { ruleTrace?.actions[last].job = id }
            emit(.startJob(id, Job(external, configuration.processEnvironment, in: configuration.stateDirectory)))
        // A line of the log is written with the other effects, in the order of the run.
        case .log: break
        }
    }

    private mutating func cancel(_ step: ActionID) {
        feed?.cancel(step)
        for (id, kind) in jobs.cancel(step) { emit(.cancelJob(id, kind)) }
        let changes = broker.cancel(step)
        if broker.waitingCount == 0 { cancelTimer(.outbox) }
        if !changes.isEmpty { record(changes) }
    }

    mutating func jobEnded(_ id: JobID, _ result: JobResult, at now: Instant) {
        guard let (job, ended) = jobs.ended(id, result) else { return }
        if let note = result.note { logFailure(ofRule: job.rule, ": \(note)", at: now) }
        broadcast(.jobEnded(ended, by: job.run, rule: job.rule))
        guard let step = job.step else { return }
        advanceRules(.actionFinished(step, result.stepOutcome), at: now)
    }

    // MARK: Runs

    /// Reports a run that a crash has interrupted. It ends in the store when the broker has the report, so that a process
    /// that dies before that leaves the report to the next one.
    mutating func reportInterrupted(_ run: StoredRun, at now: Instant) {
        log(.warning, "rule \(run.rule) was interrupted by a crash, a power cut or a restart; it is not repeated")
        let data: JSONValue = [
            "rule": .string(run.rule), "run": .integer(Int64(clamping: run.id)),
            "button": run.button.map { .string($0.description) } ?? .null,
            "started_at": .string(run.startedAt.description),
        ]
        publishEvent(
            "interrupted", data, timeToLive: .seconds(3600), as: .press, for: .interruptedRun(run.id), at: now)
        publishLastRun(of: run.rule, .interrupted, startedAt: run.startedAt, button: run.button)
    }

    private mutating func runEnded(_ run: RunID, rule: String, _ result: RunResult, at now: Instant) {
        statisticsChanged(of: rule, at: now)
        broadcast(.runEnded(run, rule: rule, result))
        guard let trace = rules.trace(of: run, rule: rule) else { return }
        publishLastRun(
            of: rule, result, startedAt: trace.startedAt, button: trace.cause.button,
            event: trace.cause.facts.event, duration: trace.duration)
    }

    private mutating func publishLastRun(
        of rule: String, _ result: RunResult, startedAt: UTCTime, button: ButtonID?, event: String = "",
        duration: Duration? = nil
    ) {
        let hasTopics = rules.ended(
            rule, result: result, startedAt: startedAt, buttonLabel: button.map { label(of: $0) }, event: event,
            duration: duration)
        if hasTopics { invalidate(.lastRun(rule)) }
    }

    private mutating func statisticsChanged(of rule: String, at now: Instant) {
        if rules.statisticsChanged(of: rule) { setTimer(.statistics, at: now + Hub.statisticsInterval) }
    }

    mutating func publishStatistics() {
        for rule in rules.takeChangedStatistics() { invalidate(.statistics(rule)) }
    }

    /// Tells the engine what it has to know of a button from the start.
    mutating func restoreRuleFacts(of record: ButtonRecord, at now: Instant) {
        let id = record.identity.id
        rules.restoreTrain(of: id, record.recogniser, at: now)
        // The earlier process had not decided this press. The engine that leads next reports the press as interrupted, so this
        // engine must not act on it. The press is restored nevertheless: if its hold was reported, the end of the hold must be
        // reported, too.
        if !record.recogniser.isEmpty, let source = record.source, EngineFeed.isSite(source: source) {
            abandon([id: now], at: now)
        }
        if let mode = record.triggerMode { advanceRules(.requested(.setTriggerMode(id, mode)), at: now) }
        if let percentage = record.batteryPercentage { advanceRules(.battery(id, Int64(percentage)), at: now) }
    }

    // MARK: Messages

    /// A message has arrived, perhaps on the topic of a state.
    mutating func stateReceived(_ topicName: String, _ payload: [UInt8], isRetained: Bool, at now: Instant) {
        guard rules.isState(topicName) else { return }
        advanceRules(.message(topicName: topicName, payload: payload, isRetained: isRetained), at: now)
    }

    /// The message of a step goes to the broker now. The engine waits for a message with QoS 0 only if the broker was not
    /// connected when the step began.
    mutating func handedOver(_ step: ActionID, _ message: MQTTMessage, at now: Instant) {
        guard rules.awaits(step) else { return }
        advanceRules(message.qos > 0 ? .handedOver(step) : .actionFinished(step, .completed()), at: now)
    }

    /// The message of a step is published, or has failed.
    ///
    /// - Returns: whether the step's run has waited for that.
    mutating func finishStep(_ step: ActionID, _ outcome: ActionResult, at now: Instant) -> Bool {
        guard rules.awaits(step) else { return false }
        advanceRules(.actionFinished(step, outcome), at: now)
        return true
    }
}

extension RuleEngine.Effect {
    /// True if a stored event with `keep: last` is decided.
    fileprivate var endsKeptEvent: Bool { if case .store(.kept(_, _, nil)) = self { true } else { false } }
}

extension RunCause {
    fileprivate var endsHold: Bool { facts.event == RecognisedEvent.Kind.holdRelease.name }
}
