import ButtonModel
import Expressions

extension Run {
    /// Does step after step until the run waits or has ended.
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
        // To look at the whole world takes longer than to send a message that asks nothing of it.
        let environment = step.action.isLiteral ? Environment() : environment(in: &world, at: now)
        let values = StepValues(environment: environment, rule: trace.rule)
        switch step.action {
        case .perform(let action): try attempt(action.action(values), of: step, in: world, at: now, &effects)
        case .delay(let template):
            let duration = try values.delay(template)
            guard let deadline = pause(duration, at: now) else { throw StepValues.tooLong }
            note(step, "waits \(DurationText.text(milliseconds: duration.milliseconds))", at: now)
            waiting = .delay(until: deadline)
        case .wait(let until, let timeout):
            note(step, "waits until \(until.source)", at: now)
            let looksAt = until.readsTheTime ? now + Run.lookInterval : nil
            waiting = .condition(since: now, until: now + timeout, looksAt: looksAt)
            look(in: &world, at: now, &effects)
        case .set(let assignments):
            try set(assignments, of: step, values, in: &world, at: now)
        case .cycle(let entries, let resetAfter):
            cycle(entries, resetAfter, of: step, in: &world, at: now)
        case .repeat(let repetition):
            enter(repetition, of: step, in: world, at: now)
        case .choose(let branches, let otherwise, let isIf):
            choose(branches, otherwise, isIf: isIf, of: step, values, in: world, at: now)
        case .script(let place, let given):
            try call(place, given, of: step, values, in: world, at: now)
        case .enable(let rules, let isEnabling):
            enable(rules, isEnabling, of: step, in: &world, at: now)
        case .log(let level, let template):
            let text = try values.text(template)
            note(step, "\(level.rawValue): \(Run.shown(text))", at: now)
            if !isDryRun {
                effects.append(.perform(takeStepID(), .log(level, text), rule: trace.rule, cause))
            }
            advance()
        case .stop(let template):
            let text = try values.text(template)
            note(step, text.isEmpty ? "stops the run" : "stops the run: \(Run.shown(text))", at: now)
            end(endOfSteps, at: now)
        }
    }
}

// MARK: - Steps that are over at once

extension Run {
    /// All values first, then all assignments; if one of them does not fit, none is made.
    private mutating func set(
        _ assignments: [Assignment], of step: Step, _ values: StepValues, in world: inout World, at now: Instant
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
            let text = "\(world.set.variables[assignment.variable].name) = \(Run.shown(value))"
            note(step, isDryRun ? "\(text), not assigned" : text, at: now)
        }
        if isDryRun { (world.variables, world.changed) = (variables, changed) }
        advance()
    }

    /// The entry counts as done when it begins: a run that is cancelled in it does not do it again.
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
            // What was wanted last is what counts.
            world.changed.remove(.enable(rule, !isEnabling))
            world.changed.insert(.enable(rule, isEnabling))
        }
        advance()
    }
}

// MARK: - Steps with steps inside

extension Run {
    private mutating func choose(
        _ branches: [Branch], _ otherwise: [Step], isIf: Bool, of step: Step, _ values: StepValues, in world: World,
        at now: Instant
    ) {
        for (index, branch) in branches.enumerated() {
            let verdict = world.verdict(
                on: branch.conditions, in: values.environment, time: world.wallClock(at: now), isExplaining: true)
            let name = isIf ? "if" : "branch \(index + 1)"
            let reasons = verdict.reasons.joined(separator: "; ")
            note(step, "\(name) \(verdict.holds)" + (reasons.isEmpty ? "" : ": \(reasons)"), at: now)
            if verdict.holds { return enter(.branch(index)) }
        }
        if !otherwise.isEmpty { note(step, isIf ? "else" : "default", at: now) }
        enter(.otherwise)
    }

    private mutating func call(
        _ place: Int, _ given: [ValueTemplate?], of step: Step, _ values: StepValues, in world: World, at now: Instant
    ) throws(StepFailure) {
        guard world.set.scripts.indices.contains(place) else { return advance() }
        guard frames.count < Run.maximumDepth else {
            throw StepFailure("R804", "more than \(Run.maximumDepth) nested steps")
        }
        let script = world.set.scripts[place]
        var inputs: [Value] = []
        for (index, input) in script.inputs.enumerated() {
            if given.indices.contains(index), let template = given[index] {
                inputs.append(try values.value(template))
            } else {
                inputs.append(input.fallback ?? .unknown)
            }
        }
        note(step, "script \(script.name)", at: now)
        locals.append(Locals(resultCount: script.resultCount, inputs: inputs))
        enter(.script)
    }

    /// The innermost list is done, or there is no such list.
    private mutating func listEnded(in world: World, at now: Instant) {
        guard let frame = frames.last else { return }
        if case .iteration(let repetition) = frame.part {
            return iterationEnded(repetition, in: world, at: now)
        }
        leave()
    }

    mutating func enter(_ part: Frame.Part) { frames.append(Frame(part: part)) }

    /// Goes on behind the step that the innermost list belongs to.
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
    /// A message without an expression in it.
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
