import ButtonModel
import Expressions

// MARK: Actions and their results

extension Run {
    /// Begins the first attempt of a step.
    mutating func attempt(
        _ action: Action, of step: Step, in world: World, at now: Instant, _ effects: inout [Effect]
    ) {
        guard !isDryRun else {
            note(step, "\(action.summary), not performed", at: now)
            var facts = ResultFacts()
            facts.isOK = true
            save(facts, of: step)
            return advance()
        }
        note(step, action.summary, at: now)
        perform(action, failures: 0, in: world, at: now, &effects)
    }

    mutating func perform(
        _ action: Action, failures: Int, in world: World, at now: Instant, _ effects: inout [Effect]
    ) {
        let attempt = Attempt(step: takeStepID(), action: action, failures: failures, startedAt: now)
        effects.append(.perform(attempt.step, action, rule: trace.rule, cause))
        var deadline: Instant?
        switch action {
        case .message(let message)
        where message.qos == 0 && world.brokerIsConnected && !world.isPaused && handsOver():
            waiting = nil
            return attemptFinished(attempt, .completed(), in: world, at: now, &effects)
        case .message:
            // The time limit of a message begins when it is handed over. Until then, `max_age` applies.
            break
        case .external, .log:
            deadline = currentStep(in: world).map { now + timeout(of: $0) }
        }
        waiting = .result(attempt, deadline: deadline)
    }

    /// True if one more message may be handed over without waiting for the network to take it.
    private mutating func handsOver() -> Bool {
        handedOverCount += 1
        return handedOverCount <= Run.maximumHandedOverAtOnce
    }

    mutating func attemptFinished(
        _ attempt: Attempt, _ outcome: ActionResult, in world: World, at now: Instant, _ effects: inout [Effect]
    ) {
        guard let step = currentStep(in: world) else { return }
        switch outcome {
        case .completed(let facts):
            var facts = facts ?? ResultFacts()
            if let failure = step.failure(for: facts) {
                return attemptFailed(attempt, failure, of: step, in: world, at: now, &effects)
            }
            facts.isOK = true
            save(facts, of: step)
            completed(in: world, at: now, after: now - attempt.startedAt, with: facts)
        case .failed(let code, let message, let facts):
            attemptFailed(attempt, StepFailure(code, message, facts), of: step, in: world, at: now, &effects)
        }
    }

    mutating func timedOut(_ attempt: Attempt, in world: World, at now: Instant, _ effects: inout [Effect]) {
        guard let step = currentStep(in: world) else { return }
        var facts = ResultFacts()
        facts.duration = now - attempt.startedAt
        let time = DurationText.text(milliseconds: timeout(of: step).milliseconds)
        let failure = StepFailure("R821", "\(step.action.kind.rawValue) did not finish within \(time)", facts)
        attemptFailed(attempt, failure, of: step, in: world, at: now, &effects)
    }

    private mutating func attemptFailed(
        _ attempt: Attempt, _ failure: StepFailure, of step: Step, in world: World, at now: Instant,
        _ effects: inout [Effect]
    ) {
        if let retry = step.retry, attempt.failures < retry.count {
            let wait = Run.wait(before: attempt.failures + 1, by: retry)
            if let instant = pause(wait, at: now) {
                let time = DurationText.text(milliseconds: wait.milliseconds)
                note(step, "\(failure.code) \(failure.message); retried in \(time)", at: now)
                var next = attempt
                next.failures += 1
                waiting = .retry(next, at: instant)
                return
            }
        }
        failed(step, failure, in: world, at: now, &effects)
    }

    /// The delay before a further attempt, counted from 1.
    static func wait(before attempt: Int, by retry: Retry) -> Duration {
        var milliseconds = Double(retry.delay.milliseconds)
        for _ in 1..<max(1, attempt) { milliseconds *= retry.backOff }
        let longest = Double(StepValues.longestDelay.milliseconds)
        return .milliseconds(Int64(milliseconds.isFinite ? min(max(0, milliseconds), longest) : longest))
    }
}

// MARK: - How steps and runs end

extension Run {
    /// Completes the current step. Its duration and its result are only shown in the trace.
    mutating func completed(
        in world: World, at now: Instant, after duration: Duration? = nil, with facts: ResultFacts = ResultFacts()
    ) {
        if let step = currentStep(in: world) {
            let time = duration.map { " in \(DurationText.text(milliseconds: $0.milliseconds))" } ?? ""
            note(step, "completed" + time + step.traceSuffix(for: facts), at: now)
        }
        advance()
    }

    /// Handles the failure of a step after its last attempt. The run continues after the innermost step around it that
    /// continues on errors, or else with `on_error`, or ends.
    mutating func failed(
        _ step: Step, _ failure: StepFailure, in world: World, at now: Instant, _ effects: inout [Effect]
    ) {
        var facts = failure.facts ?? ResultFacts()
        facts.isOK = false
        save(facts, of: step)
        let messageHasRemark = failure.message.contains(Run.firstLine(of: facts.stderr))
        note(
            step, "\(failure.code) \(failure.message)" + (messageHasRemark ? "" : step.traceSuffix(for: facts)), at: now
        )

        let continuing = frames.indices.reversed().first { depth in
            world.set.step(in: rule, at: frames[...depth])?.continuesOnError ?? false
        }
        report(failure, of: step, isFinal: continuing == nil, &effects)
        if let continuing {
            while frames.count > continuing + 1 { if frames.removeLast().part == .script { locals.removeLast() } }
            return advance()
        }
        guard error == nil, world.set.rules.indices.contains(rule), !world.set.rules[rule].onError.isEmpty else {
            return end(.failed, at: now)
        }
        error = ErrorFacts(code: failure.code, message: failure.message, step: step.name)
        frames = [Frame(part: .onError)]
        locals = Array(locals.prefix(1))
    }

    func report(_ failure: StepFailure, of step: Step, isFinal: Bool, _ effects: inout [Effect]) {
        effects.append(
            .stepFailed(
                id, rule: trace.rule, step: step.name, step.location, code: failure.code, message: failure.message,
                isFinal: isFinal))
    }

    /// The result of a run without further steps. A run that executed `on_error` has failed.
    var endOfSteps: RunResult { error == nil ? .completed : .failed }

    mutating func end(_ result: RunResult, at now: Instant) {
        self.result = result
        trace.result = result
        trace.duration = now - startedAt
        waiting = nil
        frames = []
        locals = []
    }
}

// MARK: - Context of steps

extension Run {
    /// The innermost step in progress; `nil` between the iterations of a repeat.
    func currentStep(in world: World) -> Step? { world.set.step(in: rule, at: frames) }

    /// The values that expressions of the next step read.
    func environment(in world: inout World, at now: Instant) -> EvaluationContext {
        world.refreshAges(at: now)
        var environment = world.environment(for: cause.facts, time: world.wallClock(at: now), at: now)
        if let locals = locals.last {
            environment.results = locals.results
            environment.inputs = locals.inputs
        }
        if let error { environment.error = error }
        for frame in frames.reversed() {
            guard case .iteration(let repetition) = frame.part else { continue }
            environment.repetition.index = repetition.index
            environment.repetition.elapsed = now - repetition.startedAt
            break
        }
        return environment
    }

    mutating func save(_ facts: ResultFacts, of step: Step) {
        guard let slot = step.savesAs, (0..<Locals.maximumResults).contains(slot), !locals.isEmpty else { return }
        let index = locals.count - 1
        while locals[index].results.count <= slot { locals[index].results.append(nil) }
        locals[index].results[slot] = facts
    }

    mutating func takeStepID() -> ActionID {
        defer { nextStep += 1 }
        return ActionID(run: id, index: nextStep)
    }

    /// The step's time limit. Steps that were not created by the loader may have no `timeout`.
    func timeout(of step: Step) -> Duration {
        step.timeout ?? step.action.kind.timeLimit ?? .seconds(30)
    }

    /// The end of a delay; `nil` if all delays of the run together are too long.
    mutating func pause(_ duration: Duration, at now: Instant) -> Instant? {
        guard delayed + duration <= StepValues.longestDelay else { return nil }
        delayed += duration
        return now + duration
    }
}

extension ErrorFacts {
    init(code: String, message: String, step: String) {
        self.init()
        self.code = code
        self.message = message
        self.step = step
    }
}
