import ButtonModel
import Expressions

extension Run {
    /// Executes steps until the run waits or has ended.
    mutating func proceed(in world: inout World, at now: Instant, _ effects: inout [Effect]) {
        var stepsLeft = Run.maximumStepsAtOnce
        handedOverCount = 0
        while result == nil, waiting == nil {
            guard let frame = frames.last else { return end(endOfSteps, at: now) }
            let steps = world.set.steps(in: rule, at: frames)
            guard steps.indices.contains(frame.position) else {
                listEnded(in: world, at: now)
                continue
            }
            let step = steps[frame.position]
            stepsLeft -= 1
            guard stepsLeft >= 0 else {
                let failure = StepFailure("R804", "more than \(Run.maximumStepsAtOnce) steps without a wait")
                report(failure, of: step, isFinal: true, &effects)
                note(step, "\(failure.code) \(failure.message)", at: now)
                return end(.failed, at: now)
            }
            guard step.isEnabled else {
                note(step, "not enabled", at: now)
                advance()
                continue
            }
            do {
                try begin(step, in: &world, at: now, &effects)
            } catch {
                failed(step, error, in: world, at: now, &effects)
            }
        }
    }

    private mutating func begin(
        _ step: Step, in world: inout World, at now: Instant, _ effects: inout [Effect]
    ) throws(StepFailure) {
        // Fast path: computing the environment takes longer than sending a message without expressions.
        let isLiteral = step.action.isLiteral
        let environment = isLiteral ? EvaluationContext() : environment(in: &world, at: now)
        var values = StepValues(environment: environment, rule: trace.rule)
        defer { if !isLiteral { world.draws = values.environment.draws } }
        switch step.action {
        case .perform(let action): try attempt(action.action(&values), of: step, in: world, at: now, &effects)
        case .delay(let template):
            let duration = try values.delay(template)
            guard let deadline = pause(duration, at: now) else { throw StepValues.tooLong }
            note(step, "waits \(DurationText.text(milliseconds: duration.milliseconds))", at: now)
            waiting = .delay(until: deadline)
        case .wait(let until, let timeout, _):
            note(step, "waits until \(until.source)", at: now)
            let nextEvaluation = until.readsTheTime ? now + Run.evaluationInterval : nil
            waiting = .condition(since: now, until: now + timeout, nextEvaluation: nextEvaluation)
            evaluateWait(in: &world, at: now, &effects)
        case .waitFor(let wait): waitForEvent(wait, of: step, in: world, at: now)
        case .set(let assignments):
            try set(assignments, of: step, &values, in: &world, at: now)
        case .cycle(let entries, let resetAfter):
            cycle(entries, resetAfter, of: step, in: &world, at: now)
        case .repeat(let repetition):
            enter(repetition, of: step, in: world, at: now)
        case .choose(let branches, let otherwise, let isIf):
            choose(branches, otherwise, isIf: isIf, of: step, &values, in: world, at: now)
        case .script(let script, let given):
            try call(script, given, of: step, &values, in: world, at: now)
        case .enable(let rules, let isEnabling):
            enable(rules, isEnabling, of: step, in: &world, at: now)
        case .cancel(let rules): cancelRuns(of: rules, of: step, in: &world, at: now)
        case .log(let level, let template):
            let text = try values.text(template)
            note(step, "\(level.rawValue): \(Run.traceText(text))", at: now)
            if !isDryRun {
                effects.append(.perform(takeStepID(), .log(level, text), rule: trace.rule, cause))
            }
            advance()
        case .stop(let template):
            let text = try values.text(template)
            note(step, text.isEmpty ? "stops the run" : "stops the run: \(Run.traceText(text))", at: now)
            end(endOfSteps, at: now)
        }
    }
}

// MARK: - Steps that do not wait

extension Run {
    /// Evaluates all values before the first assignment. If one of them does not fit, no variable is assigned.
    private mutating func set(
        _ assignments: [Assignment], of step: Step, _ values: inout StepValues, in world: inout World, at now: Instant
    ) throws(StepFailure) {
        var given: [Value] = []
        for assignment in assignments { given.append(try values.value(assignment.value)) }
        let (variables, changed) = (world.variables, world.changed)
        do {
            for (assignment, value) in zip(assignments, given) { try world.assign(value, to: assignment.variable) }
        } catch {
            (world.variables, world.changed) = (variables, changed)
            throw StepFailure(error)
        }
        for assignment in assignments where world.set.variables.indices.contains(assignment.variable) {
            let value = world.variables[assignment.variable].text ?? ""
            let text = "\(world.set.variables[assignment.variable].name) = \(Run.traceText(value))"
            note(step, isDryRun ? "\(text), not assigned" : text, at: now)
        }
        if isDryRun { (world.variables, world.changed) = (variables, changed) }
        advance()
    }

    /// Enters the next entry of a `cycle`. The position is advanced at the start, so a cancelled entry is not repeated.
    private mutating func cycle(
        _ entries: [[Step]], _ resetAfter: Duration?, of step: Step, in world: inout World, at now: Instant
    ) {
        let isInScript = frames.contains { $0.part == .script }
        let key = isInScript ? step.path : "\(trace.rule)/\(step.path)"
        let time = world.wallClock(at: now)
        var entry = 0
        if let position = world.cycles[key], entries.indices.contains(position.next) {
            let isOver = resetAfter.map { position.at + $0 <= time } ?? false
            entry = isOver ? 0 : position.next
        }
        note(step, "entry \(entry + 1) of \(entries.count)", at: now)
        if !isDryRun, !entries.isEmpty {
            world.cycles[key] = CyclePosition(next: (entry + 1) % entries.count, at: time)
            world.changed.insert(.cycle(key))
        }
        enter(.entry(entry))
    }

    private mutating func enable(
        _ rules: [Int], _ isEnabling: Bool, of step: Step, in world: inout World, at now: Instant
    ) {
        for rule in rules where world.set.rules.indices.contains(rule) {
            note(step, world.set.rules[rule].id, at: now)
            guard !isDryRun else { continue }
            // The last `enable` or `disable` of a rule takes precedence.
            world.changed.remove(.enable(rule, !isEnabling))
            world.changed.insert(.enable(rule, isEnabling))
        }
        advance()
    }
}

extension Run {
    /// Asks the engine to cancel the runs of rules when this run waits or ends. A run of one of these rules ends here.
    private mutating func cancelRuns(of rules: [Int], of step: Step, in world: inout World, at now: Instant) {
        for rule in rules where world.set.rules.indices.contains(rule) {
            note(step, isDryRun ? "\(world.set.rules[rule].id), not cancelled" : world.set.rules[rule].id, at: now)
            if !isDryRun { world.changed.insert(.cancel(rule)) }
        }
        if rules.contains(rule) { end(.cancelled, at: now) } else { advance() }
    }
}

// MARK: - Steps that contain steps

extension Run {
    private mutating func choose(
        _ branches: [Branch], _ otherwise: [Step], isIf: Bool, of step: Step, _ values: inout StepValues,
        in world: World,
        at now: Instant
    ) {
        for (index, branch) in branches.enumerated() {
            let verdict = world.evaluate(
                on: branch.conditions, in: &values.environment, time: world.wallClock(at: now), isExplaining: true)
            let name = isIf ? "if" : "branch \(index + 1)"
            let reasons = verdict.reasons.joined(separator: "; ")
            note(step, "\(name) \(verdict.holds)" + (reasons.isEmpty ? "" : ": \(reasons)"), at: now)
            if verdict.holds { return enter(.branch(index)) }
        }
        if !otherwise.isEmpty { note(step, isIf ? "else" : "default", at: now) }
        enter(.otherwise)
    }

    private mutating func call(
        _ scriptIndex: Int, _ given: [ValueTemplate?], of step: Step, _ values: inout StepValues, in world: World,
        at now: Instant
    ) throws(StepFailure) {
        guard world.set.scripts.indices.contains(scriptIndex) else { return advance() }
        guard frames.count < Run.maximumDepth else {
            throw StepFailure("R804", "more than \(Run.maximumDepth) nested steps")
        }
        let script = world.set.scripts[scriptIndex]
        var inputs: [Value] = []
        for (index, input) in script.inputs.enumerated() {
            if given.indices.contains(index), let template = given[index] {
                inputs.append(try values.value(template))
            } else {
                inputs.append(input.defaultValue ?? .unknown)
            }
        }
        note(step, "script \(script.name)", at: now)
        locals.append(Locals(resultCount: script.resultCount, inputs: inputs))
        enter(.script)
    }

    /// Handles the end of the innermost list of steps, or a list that does not exist.
    private mutating func listEnded(in world: World, at now: Instant) {
        guard let frame = frames.last else { return }
        if case .iteration(let repetition) = frame.part {
            return iterationEnded(repetition, in: world, at: now)
        }
        leave()
    }

    mutating func enter(_ part: Frame.Part) { frames.append(Frame(part: part)) }

    /// Continues after the step that contains the innermost list.
    mutating func leave() {
        guard let frame = frames.popLast() else { return }
        if frame.part == .script { locals.removeLast() }
        advance()
    }

    mutating func advance() {
        guard !frames.isEmpty else { return }
        frames[frames.count - 1].position += 1
    }
}

extension StepAction {
    /// True if the step publishes a message without expressions.
    fileprivate var isLiteral: Bool {
        guard case .perform(.publish(let publish)) = self, publish.topicName.isLiteral else { return false }
        return switch publish.payload {
        case .nothing: true
        case .text(let template): template.isLiteral
        case .json: false
        }
    }
}

extension Template {
    fileprivate var isLiteral: Bool {
        parts.allSatisfy { if case .literal = $0 { true } else { false } }
    }
}
