import ButtonModel
import HomeAssistant
import JSON
import Rules

/// Something under way for a step of a run, or for nobody.
struct Job: Hashable, Sendable {
    var step: StepID?
    var rule: String
    var action: Action?

    var isProcess: Bool {
        if case .process = action { true } else { false }
    }
}

// What the rule engine decided, carried out.
extension Hub {
    mutating func advanceRules(_ input: RuleEngine.Input, at now: Instant) {
        ruleInputs.append(input)
        if !isCarryingOutRules { carryOut([], at: now) }
    }

    /// Records the runs that start here (and `changes` with them) before the first of their steps is carried
    /// out, and those that ended once all of it is.
    mutating func carryOut(
        _ ruleEffects: [RuleEngine.Effect], recordedAs token: UInt64? = nil, with changes: [StoreChange] = [],
        before lines: [JSONValue] = [], at now: Instant
    ) {
        isCarryingOutRules = true
        carryOutOnce(ruleEffects, recordedAs: token, with: changes, before: lines, at: now)
        var next = 0
        while next < ruleInputs.count {
            carryOutOnce(engine.handle(ruleInputs[next], at: now), recordedAs: nil, with: [], before: [], at: now)
            next += 1
        }
        ruleInputs.removeAll(keepingCapacity: true)
        isCarryingOutRules = false
    }

    private mutating func carryOutOnce(
        _ ruleEffects: [RuleEngine.Effect], recordedAs token: UInt64?, with changes: [StoreChange],
        before lines: [JSONValue], at now: Instant
    ) {
        var begun = changes
        var ended: [StoreChange] = []
        for case .started(let run, let rule, let occurrence) in ruleEffects {
            begun.append(
                .runStarted(
                    StoredRun(
                        id: run.rawValue, rule: rule, button: occurrence.button,
                        event: buttons[occurrence.button]?.cursor ?? EventCursor(), startedAt: wallClock(at: now))))
        }
        if !begun.isEmpty { effects.append(.record(token ?? takeToken(), begun)) }
        for line in lines { tell(line) }

        for effect in ruleEffects {
            switch effect {
            case .started(let run, let rule, let occurrence):
                if isWatched { tell(ruleLine(rule, occurrence, outcome: "started", run: run)) }
            case .stopped(let rule, let gate, let occurrence):
                log(.debug, "rule \(rule) did not run: \(gate.rawValue)")
                if isWatched { tell(ruleLine(rule, occurrence, outcome: gate.rawValue, run: nil)) }
            case .perform(let step, let action, let rule, let occurrence):
                perform(step, action, rule: rule, occurrence, at: now)
            case .cancel(let step):
                for (id, job) in jobs where job.step == step {
                    if job.isProcess { effects.append(.cancelProcess(id)) } else { outbox.remove(id) }
                    jobs[id]?.step = nil
                }
            case .stepFailed(let step, let rule, let code, let message):
                log(.warning, "rule \(rule), action \(step.index + 1): \(code) \(message)")
                tell([
                    "kind": "rule", "rule": .string(rule), "run": .integer(Int64(clamping: step.run.rawValue)),
                    "outcome": "step_failed", "step": .integer(Int64(step.index)), "code": .string(code),
                    "reason": .string(message),
                ])
            case .finished(let run, let rule, let completed):
                ended.append(.runEnded(run.rawValue))
                guard isWatched else { break }
                tell([
                    "kind": "rule", "rule": .string(rule), "run": .integer(Int64(clamping: run.rawValue)),
                    "outcome": completed ? "completed" : "failed",
                ])
            case .setTimer(let deadline): deadlines.set(.rules, at: deadline)
            case .cancelTimer: deadlines.cancel(.rules)
            }
        }
        if !ended.isEmpty { record(ended) }
    }

    private mutating func perform(
        _ step: StepID, _ action: Action, rule: String, _ occurrence: Occurrence, at now: Instant
    ) {
        switch action {
        case .publish(let publish):
            let message = MQTTMessage(
                topicName: publish.topicName, payload: publish.payload, qos: publish.qos, retain: publish.retain)
            self.publish(
                message, patience: publish.maximumAge, for: Job(step: step, rule: rule, action: action), at: now)
        case .process(let process):
            let id = takeToken()
            jobs[id] = Job(step: step, rule: rule, action: action)
            let request = ProcessRequest(
                process, rule: rule, occurrence, of: buttons[occurrence.button], named: label(of: occurrence.button),
                in: configuration)
            effects.append(.startProcess(id, request))
        case .log(let level, let message):
            log(level, "rule \(rule): \(message)")
            tell(["kind": "log", "rule": .string(rule), "level": .string(level.rawValue), "message": .string(message)])
        }
    }

    mutating func processEnded(_ id: UInt64, _ result: ProcessResult, at now: Instant) {
        guard let job = jobs.removeValue(forKey: id), case .process(let process) = job.action else { return }
        let arguments = process.isShell ? Array(process.arguments.dropFirst(2).prefix(1)) : process.arguments
        let standardError = String(decoding: result.standardError, as: UTF8.self)
        tell([
            "kind": "process", "rule": .string(job.rule), "command": .array(arguments.map(JSONValue.string)),
            "shell": .bool(process.isShell), "status": .integer(result.exitStatus),
            "stdout": .string(String(decoding: result.standardOutput, as: UTF8.self)),
            "stderr": .string(standardError),
            "duration_ms": .number(Double(result.duration.nanoseconds / 10_000) / 100),
        ])
        guard let step = job.step else { return }
        let outcome: StepOutcome
        switch result.status {
        case .exited(0): outcome = .completed
        case .exited(let status):
            let reason = standardError.prefix { !$0.isNewline }
            outcome = .failed(code: "R822", message: "exit status \(status)" + (reason.isEmpty ? "" : ": \(reason)"))
        case .signalled(let signal): outcome = .failed(code: "R822", message: "ended by signal \(signal)")
        case .couldNotStart(let reason): outcome = .failed(code: "R822", message: reason)
        }
        advanceRules(.stepFinished(step, outcome), at: now)
    }

    private func ruleLine(_ rule: String, _ occurrence: Occurrence, outcome: String, run: RunID?) -> JSONValue {
        var line: [JSONValue.Member] = [
            .init("kind", "rule"), .init("rule", .string(rule)),
            .init("button", .string(label(of: occurrence.button))),
            .init("event", .string(occurrence.event.word)), .init("outcome", .string(outcome)),
        ]
        if let run { line.append(.init("run", .integer(Int64(clamping: run.rawValue)))) }
        return .object(line)
    }
}
