import ButtonModel
import Expressions

// MARK: Wait

extension Run {
    /// How often a `wait` whose expression reads the time is evaluated, because no event announces the passing of time.
    static let evaluationInterval = Duration.seconds(1)

    /// Evaluates the condition of a `wait`: continues if it is true. After the timeout, the steps of `else` are executed;
    /// without them, the step fails. An evaluation error counts as false.
    mutating func evaluateWait(in world: inout World, at now: Instant, _ effects: inout [Effect]) {
        guard case .condition(let since, let until, let nextEvaluation) = waiting, let step = currentStep(in: world),
            case .wait(let expression, let timeout, let otherwise) = step.action
        else {
            waiting = nil
            return
        }
        var environment = environment(in: &world, at: now)
        let condition = Condition(.expression(expression), text: expression.source, location: step.location)
        let verdict = world.evaluate(on: condition, in: &environment, time: world.wallClock(at: now))
        world.draws = environment.draws
        if verdict.holds {
            waiting = nil
            note(step, verdict.reason, at: now)
            completed(in: world, at: now, after: now - since)
        } else if until <= now {
            waiting = nil
            note(step, verdict.reason, at: now)
            let time = DurationText.text(milliseconds: timeout.milliseconds)
            if otherwise != nil {
                note(step, "else: \(time) is over", at: now)
                return enter(.otherwise)
            }
            failed(
                step, StepFailure("R821", "\(expression.source) did not become true within \(time)"), in: world,
                at: now,
                &effects)
        } else if let nextEvaluation, nextEvaluation <= now {
            waiting = .condition(
                since: since, until: until, nextEvaluation: expression.readsTheTime ? now + Run.evaluationInterval : nil
            )
        }
    }
}

extension Expression {
    /// True if the value can change just because time passes.
    var readsTheTime: Bool {
        hasTimeWindow
            || reads.contains {
                switch $0 {
                case .now, .sun, .button(_, .lastEventAge), .rule(_, .lastRunAge), .repeat(.elapsed): true
                case .trigger, .state, .variable, .button, .rule, .result, .input, .error, .broker, .repeat, .change:
                    false
                }
            }
    }
}

// MARK: - Repeat

extension Run {
    /// Starts a `repeat` step. `while: held` has no iterations if the press has already ended or was queued.
    mutating func enter(_ step: RepeatStep, of outer: Step, in world: World, at now: Instant) {
        if step.extent == .whileHeld {
            guard !cause.facts.wasQueued else {
                note(outer, "nothing is repeated: the press was queued", at: now)
                return advance()
            }
            guard world.isHeld(cause) else {
                note(outer, "nothing is repeated: the button is not held", at: now)
                return advance()
            }
        }
        note(outer, "begins to repeat", at: now)
        enter(.iteration(Repetition(startedAt: now, isWhileHeld: step.extent == .whileHeld)))
    }

    /// Starts the next iteration, waits for its tick, or ends the `repeat` step. Ticks are multiples of `every` since
    /// the start; a tick that is due exactly when an iteration ends is not skipped.
    mutating func iterationEnded(_ repetition: Repetition, in world: World, at now: Instant) {
        guard let (outer, step) = repeatAround(in: world) else { return leave() }
        if repetition.isReleased { return leave(outer, "ends: released", at: now) }
        if case .count(let count) = step.extent, repetition.index + 1 >= count {
            return leave(outer, "ends after \(count)", at: now)
        }
        let limit = repetition.startedAt + step.limit
        guard now < limit else { return leave(outer, "ends at its limit", at: now) }
        let every = max(1, step.every.nanoseconds)
        let elapsed = max(0, (now - repetition.startedAt).nanoseconds)
        let tick = max(repetition.tick + 1, elapsed / every + (elapsed % every == 0 ? 0 : 1))
        let instant = repetition.startedAt + .nanoseconds(tick.multipliedSaturating(by: every))
        guard instant <= now else {
            waiting = .tick(at: min(instant, limit))
            return
        }
        beginIteration(repetition, tick: tick)
    }

    /// Handles the time of the next tick, or of the limit.
    mutating func tick(in world: World, at now: Instant) {
        waiting = nil
        guard case .iteration(let repetition)? = frames.last?.part, let (outer, step) = repeatAround(in: world) else {
            return leave()
        }
        guard now < repetition.startedAt + step.limit else { return leave(outer, "ends at its limit", at: now) }
        // If the timer fired late, missed ticks are skipped.
        let tick = max(0, (now - repetition.startedAt).nanoseconds) / max(1, step.every.nanoseconds)
        beginIteration(repetition, tick: max(tick, repetition.tick + 1))
    }

    private mutating func beginIteration(_ repetition: Repetition, tick: Int64) {
        var next = repetition
        next.index += 1
        next.tick = tick
        frames[frames.count - 1] = Frame(part: .iteration(next))
    }

    mutating func release() {
        for index in frames.indices {
            guard case .iteration(var repetition) = frames[index].part, repetition.isWhileHeld else { continue }
            repetition.isReleased = true
            frames[index].part = .iteration(repetition)
        }
    }

    /// Ends the innermost `repeat` immediately if its button was released while it waits between two iterations.
    ///
    /// - Returns: whether it ended.
    mutating func endReleasedRepeat(in world: World, at now: Instant) -> Bool {
        guard case .tick = waiting, case .iteration(let repetition)? = frames.last?.part, repetition.isReleased else {
            return false
        }
        waiting = nil
        if let (outer, _) = repeatAround(in: world) { note(outer, "ends: released", at: now) }
        leave()
        return true
    }

    /// The `repeat` step of the innermost frame, which is an iteration.
    private func repeatAround(in world: World) -> (Step, RepeatStep)? {
        guard let step = world.set.step(in: rule, at: frames.dropLast()), case .repeat(let repetition) = step.action
        else { return nil }
        return (step, repetition)
    }

    private mutating func leave(_ step: Step, _ text: String, at now: Instant) {
        note(step, text, at: now)
        leave()
    }
}

extension Int64 {
    fileprivate func multipliedSaturating(by other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }
}
