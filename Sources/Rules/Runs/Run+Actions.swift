import ButtonModel
import Expressions

// MARK: What is performed, and its answer

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
        case .message(let message) where message.qos == 0 && world.brokerIsConnected && handsOver():
            waiting = nil
            return answered(attempt, .completed(), in: world, at: now, &effects)
        case .message:
            // The timeout of a message begins when it is handed over: until then its `max_age` counts.
            break
        case .external, .log:
            deadline = currentStep(in: world).map { now + timeout(of: $0) }
        }
        waiting = .answer(attempt, deadline: deadline)
    }

    /// Whether one more message may be handed over without waiting for the network to take it.
    private mutating func handsOver() -> Bool {
        handedOverCount += 1
        return handedOverCount <= Run.maximumHandedOverAtOnce
    }

    mutating func answered(
        _ attempt: Attempt, _ outcome: StepOutcome, in world: World, at now: Instant, _ effects: inout [Effect]
    ) {
        guard let step = currentStep(in: world) else { return }
        switch outcome {
        case .completed(let facts):
            var facts = facts ?? ResultFacts()
            if let failure = step.objection(to: facts) {
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

    /// - Parameter attempt: the first further one is 1.
    static func wait(before attempt: Int, by retry: Retry) -> Duration {
        var milliseconds = Double(retry.delay.milliseconds)
        for _ in 1..<max(1, attempt) { milliseconds *= retry.backOff }
        let longest = Double(StepValues.longestDelay.milliseconds)
        return .milliseconds(Int64(milliseconds.isFinite ? min(max(0, milliseconds), longest) : longest))
    }
}

// MARK: - How steps and runs end

extension Run {
    /// The step went well.
    ///
    /// - Parameters:
    ///   - duration: of what was waited for, for people.
    ///   - facts: what came of it, for people.
    mutating func completed(
        in world: World, at now: Instant, after duration: Duration? = nil, with facts: ResultFacts = ResultFacts()
    ) {
        if let step = currentStep(in: world) {
            let time = duration.map { " in \(DurationText.text(milliseconds: $0.milliseconds))" } ?? ""
            note(step, "completed" + time + step.remark(on: facts), at: now)
        }
        advance()
    }

    /// A step failed for good: its run goes on behind the innermost step around it that continues on errors, or
    /// answers with `on_error`, or ends.
    mutating func failed(
        _ step: Step, _ failure: StepFailure, in world: World, at now: Instant, _ effects: inout [Effect]
    ) {
        var facts = failure.facts ?? ResultFacts()
        facts.isOK = false
        save(facts, of: step)
        let isTold = failure.message.contains(Run.firstLine(of: facts.stderr))
        note(
            step, "\(failure.code) \(failure.message)" + (isTold ? "" : step.remark(on: facts)), at: now)

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
                id, rule: trace.rule, step: step.name, step.place, code: failure.code, message: failure.message,
                isFinal: isFinal))
    }

    /// What a run comes to that has nothing left to do. One that answered a failure has failed all the same.
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

// MARK: - What steps stand on

extension Run {
    /// The innermost step that goes on; `nil` between the iterations of a repeat.
    func currentStep(in world: World) -> Step? { world.set.step(in: rule, at: frames) }

    /// What the next step sees.
    func environment(in world: inout World, at now: Instant) -> Environment {
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

    private mutating func save(_ facts: ResultFacts, of step: Step) {
        guard let slot = step.savesAs, (0..<Locals.maximumResults).contains(slot), !locals.isEmpty else { return }
        let index = locals.count - 1
        while locals[index].results.count <= slot { locals[index].results.append(nil) }
        locals[index].results[slot] = facts
    }

    mutating func takeStepID() -> StepID {
        defer { nextStep += 1 }
        return StepID(run: id, index: nextStep)
    }

    /// The step's time limit. Steps that the loader did not make may have no `timeout`.
    func timeout(of step: Step) -> Duration {
        step.timeout ?? step.action.kind.timeLimit ?? .seconds(30)
    }

    /// When to go on; `nil` if the run has been told to wait for too long.
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
