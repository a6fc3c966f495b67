import ButtonModel
import Expressions
import JSON
import MQTTTopics
import Rules

// What the rule engine decided, carried out.
extension Hub {
    mutating func advanceRules(_ input: RuleEngine.Input, at now: Instant) {
        ruleInputs.append(input)
        if !isCarryingOutRules { drainRules(at: now) }
    }

    /// Carries out what a notification of a button led to, and what that leads to in turn.
    mutating func carryOut(
        _ ruleEffects: [RuleEngine.Effect], _ reports: Reports, recordedAs token: RecordToken, of button: ButtonID,
        at now: Instant
    ) {
        isCarryingOutRules = true
        carryOutOnce(ruleEffects, reports, recordedAs: token, with: progress(of: button).map { [$0] } ?? [], at: now)
        drainRules(at: now)
    }

    private mutating func drainRules(at now: Instant) {
        isCarryingOutRules = true
        var next = 0
        while next < ruleInputs.count {
            let ruleEffects = engine.handle(ruleInputs[next], at: now)
            let reports = reports(of: ruleEffects, at: now)
            var changes: [StoreChange] = []
            for button in reports.buttons.sorted() {
                if let progress = progress(of: button) { changes.append(progress) }
                if let dials = buttons.takeMovedDials(of: button) { changes.append(dials) }
            }
            let token = changes.isEmpty ? nil : identifiers.recordToken()
            carryOutOnce(ruleEffects, reports, recordedAs: token, with: changes, at: now)
            // A train that a timer decides was on disk as undecided: after a power cut it would be decided again.
            if let token, reports.hasPresses { carryOut(journal.sync(token), at: now) }
            next += 1
        }
        ruleInputs.removeAll(keepingCapacity: true)
        isCarryingOutRules = false
    }

    /// Records the runs that start here, what rules keep, and `changes` with them, before the first step is carried out,
    /// and those that ended once all of it is.
    private mutating func carryOutOnce(
        _ ruleEffects: [RuleEngine.Effect], _ reports: Reports, recordedAs token: RecordToken?,
        with changes: [StoreChange],
        at now: Instant
    ) {
        var begun = changes
        var ended: [StoreChange] = []
        for (index, effect) in ruleEffects.enumerated() {
            switch effect {
            case .started(let run, let rule, let cause):
                begun.append(
                    .runStarted(
                        StoredRun(
                            id: run.rawValue, rule: rule, button: cause.button,
                            event: cause.button.flatMap { buttons[$0]?.cursor } ?? EventCursor(),
                            startedAt: wallClock(at: now))))
            case .keep(.waiting(let run, .some)) where !hasWritten(run, ruleEffects[..<index]):
                begun.append(.rules(.waiting(run, nil)))
            case .keep(let change): begun.append(.rules(change))
            default: break
            }
        }
        if !begun.isEmpty || token != nil {
            carryOut(journal.record(begun, as: token ?? identifiers.recordToken()), at: now)
        }
        for line in reports.lines { broadcast(line) }
        for effect in ruleEffects { carryOut(effect, ended: &ended, at: now) }
        if !ended.isEmpty { record(ended) }
        publish(reports.messages, at: now)
    }

    private mutating func carryOut(_ effect: RuleEngine.Effect, ended: inout [StoreChange], at now: Instant) {
        switch effect {
        case .recognised: break
        case .keep(.waiting(let run, let waiting)):
            broker.waitChanged(of: run, waiting.map { .rules(.waiting(run, $0)) })
        case .keep: break
        case .started(let run, let rule, let cause):
            statisticsChanged(of: rule, at: now)
            if isWatched { broadcast(ruleLine(rule, cause, outcome: "started", run: run)) }
        case .stopped(let rule, let gate, let cause, let reason):
            statisticsChanged(of: rule, at: now)
            if isLogged(.debug) {
                log(.debug, "rule \(rule) did not run: \(gate.rawValue)" + (reason.isEmpty ? "" : ", \(reason)"))
            }
            if isWatched { broadcast(ruleLine(rule, cause, outcome: gate.rawValue, reason: reason)) }
        case .perform(let step, let action, let rule, _):
            perform(step, action, rule: rule, at: now)
        case .cancel(let step): cancel(step)
        case .stepFailed(let run, let rule, let step, let place, let code, let message, let isFinal):
            log(.warning, "rule \(rule), \(step) (\(place)): \(code) \(message)")
            broadcast([
                "kind": "rule", "rule": .string(rule), "run": .integer(Int64(clamping: run.rawValue)),
                "outcome": "step_failed", "step": .string(step), "place": .string(place.description),
                "code": .string(code), "reason": .string(message), "final": .bool(isFinal),
            ])
            ruleTopics.failures[rule] = RuleTopicsState.Failure(
                step: step, code: code, message: message, exitStatus: code == "R822" ? ruleTopics.exitStatus : nil)
        case .finished(let run, let rule, let result):
            if broker.runEnded(run) { ended.append(.runEnded(run.rawValue)) }
            runEnded(run, rule: rule, result, at: now)
        case .interrupted(let run, let rule, let cause):
            reportInterrupted(
                StoredRun(
                    id: run.rawValue, rule: rule, button: cause.button, event: EventCursor(),
                    startedAt: cause.at), at: now)
        case .variableChanged(let name, let value): variableChanged(name, value)
        case .enabledChanged(let rule, _): invalidate(.ruleEnabled(rule))
        case .triggerModeDropped(let button):
            announce(buttons.triggerModeDropped(button), at: now)
        case .subscribe(let topicNames):
            if broker.isConnected { effects.append(.subscribe(topicNames.map { Subscription($0) })) }
        case .unsubscribe(let topicNames): if broker.isConnected { effects.append(.unsubscribe(topicNames)) }
        case .log(let level, let message): log(level, message)
        case .oversizedState(let topicName, let count):
            let limit = "JSON for a state has at most \(RuleEngine.maximumStateLength >> 10) KiB"
            log(
                .longState, .warning,
                "\(topicName): a message of \(count) octets is not read, so its states are unknown; \(limit)", at: now)
        case .setTimer(let deadline): deadlines.set(.rules, at: deadline)
        case .cancelTimer: deadlines.cancel(.rules)
        }
    }

    // MARK: Steps

    private mutating func perform(_ step: StepID, _ action: Action, rule: String, at now: Instant) {
        switch action {
        case .message(.publish(let publish)):
            let message = MQTTMessage(
                topicName: publish.topicName, payload: publish.payload, qos: publish.qos, retain: publish.retain)
            self.publish(
                message, timeToLive: publish.maximumAge, mayRepeat: publish.retain,
                for: .step(step, rule: rule, topicName: publish.topicName), at: now)
        case .external(let external):
            let id = identifiers.jobID()
            jobs.started(id, Jobs.StepJob(step: step, rule: rule, work: external))
            switch external {
            case .process(let process): effects.append(.startProcess(id, ProcessRequest(process, in: configuration)))
            case .http(let request): effects.append(.startWebRequest(id, request))
            }
        case .log(let level, let message):
            log(level, "rule \(rule): \(message)")
            broadcast([
                "kind": "log", "rule": .string(rule), "level": .string(level.rawValue), "message": .string(message),
            ])
        }
    }

    /// Whether all messages of a run are written, including those of these effects.
    private func hasWritten(_ run: RunID, _ effects: ArraySlice<RuleEngine.Effect>) -> Bool {
        broker.hasWritten(run)
            && !effects.contains {
                if case .perform(let step, .message, _, _) = $0 { step.run == run } else { false }
            }
    }

    private mutating func cancel(_ step: StepID) {
        for cancellation in jobs.cancel(step) {
            switch cancellation {
            case .program(let id): effects.append(.cancelProcess(id))
            case .webRequest(let id): effects.append(.cancelWebRequest(id))
            }
        }
        let changes = broker.cancel(step)
        if !changes.isEmpty { record(changes) }
    }

    mutating func processEnded(_ id: JobID, _ result: ProcessResult, at now: Instant) {
        guard let job = jobs.programEnded(id) else { return }
        let process = job.action
        let arguments = process.isShell ? Array(process.arguments.dropFirst(2).prefix(1)) : process.arguments
        let standardOutput = String(decoding: result.standardOutput, as: UTF8.self)
        let standardError = String(decoding: result.standardError, as: UTF8.self)
        broadcast([
            "kind": "process", "rule": .string(job.rule), "command": .array(arguments.map(JSONValue.string)),
            "shell": .bool(process.isShell), "status": .integer(result.exitStatus),
            "stdout": .string(standardOutput), "stderr": .string(standardError),
            "duration_ms": .number(Double(result.duration.nanoseconds / 10_000) / 100),
        ])
        guard let step = job.step else { return }
        var facts = ResultFacts()
        facts.isOK = result.status == .exited(0)
        facts.status = result.exitStatus
        facts.stdout = standardOutput.withoutLastNewline
        facts.stderr = standardError.withoutLastNewline
        facts.duration = result.duration
        let outcome: StepOutcome
        switch result.status {
        case .exited(0): outcome = .completed(facts)
        case .exited(let status):
            let reason = standardError.prefix { !$0.isNewline }
            outcome = .failed(
                code: "R822", message: "exit status \(status)" + (reason.isEmpty ? "" : ": \(reason)"), facts)
        case .signalled(let signal): outcome = .failed(code: "R822", message: "ended by signal \(signal)", facts)
        case .couldNotStart(let reason): outcome = .failed(code: "R822", message: reason, facts)
        }
        ruleTopics.exitStatus = result.exitStatus
        advanceRules(.stepFinished(step, outcome), at: now)
        ruleTopics.exitStatus = nil
    }

    mutating func webAnswered(_ id: JobID, _ result: HTTPResult, at now: Instant) {
        guard let job = jobs.webRequestEnded(id) else { return }
        let request = job.action
        var line: [JSONValue.Member] = [
            .init("kind", "http"), .init("rule", .string(job.rule)), .init("method", .string(request.method)),
            .init("url", .string(request.url)),
            .init("duration_ms", .number(Double(result.duration.nanoseconds / 10_000) / 100)),
        ]
        var facts = ResultFacts()
        facts.duration = result.duration
        let outcome: StepOutcome
        switch result.outcome {
        case .answered(let status):
            facts.status = Int64(status)
            facts.isOK = true
            facts.body = String(decoding: result.body, as: UTF8.self)
            line.append(.init("status", .integer(Int64(status))))
            outcome = .completed(facts)
        case .failed(let reason):
            line.append(.init("reason", .string(reason)))
            outcome = .failed(code: "R823", message: reason, facts)
        }
        if let note = result.note { log(.warning, "rule \(job.rule): \(note)") }
        broadcast(.object(line))
        guard let step = job.step else { return }
        advanceRules(.stepFinished(step, outcome), at: now)
    }

    /// The run ends on file when the broker has the report: a process that dies once more before that leaves it to the next.
    mutating func reportInterrupted(_ run: StoredRun, at now: Instant) {
        log(.warning, "rule \(run.rule) was interrupted by a crash, a power cut or a restart; it is not repeated")
        let data: JSONValue = [
            "rule": .string(run.rule), "run": .integer(Int64(clamping: run.id)),
            "button": run.button.map { .string($0.description) } ?? .null,
            "started_at": .string(run.startedAt.description),
        ]
        publishEvent("interrupted", data, timeToLive: .seconds(3600), as: .press, for: .interruptedRun(run.id), at: now)
        publishLastRun(of: run.rule, result: .interrupted, startedAt: run.startedAt, button: run.button)
    }

    /// What the engine has to know of a button from the start.
    mutating func restoreRuleFacts(of record: ButtonRecord, at now: Instant) {
        let id = record.identity.id
        engine.restoreTrain(of: id, record.restoredTrain, at: now)
        if let mode = record.triggerMode { advanceRules(.requested(.setTriggerMode(id, mode)), at: now) }
        if let percentage = record.batteryPercentage { advanceRules(.battery(id, Int64(percentage)), at: now) }
    }

    private func ruleLine(
        _ rule: String, _ cause: RunCause, outcome: String, run: RunID? = nil, reason: String = ""
    ) -> JSONValue {
        var line: [JSONValue.Member] = [
            .init("kind", "rule"), .init("rule", .string(rule)),
            .init("button", cause.button.map { .string(label(of: $0)) } ?? .null),
            .init("event", .string(cause.facts.event)), .init("outcome", .string(outcome)),
        ]
        if let run { line.append(.init("run", .integer(Int64(clamping: run.rawValue)))) }
        if !reason.isEmpty { line.append(.init("reason", .string(reason))) }
        return .object(line)
    }
}

extension String {
    fileprivate var withoutLastNewline: String {
        guard utf8.last == UInt8(ascii: "\n") else { return self }
        return String(Substring(utf8.dropLast(utf8.dropLast().last == UInt8(ascii: "\r") ? 2 : 1)))
    }
}
