import Rules

/// What a script does to the steps that call it.
struct ScriptEffect {
    /// With those of the scripts it calls.
    var stepCount = 0
    /// Nothing behind a call of it can run.
    var alwaysStops = false
    /// It needs a rule whose button is held.
    var repeatsWhileHeld = false
}

/// What can be told of a whole list of steps, with those of the scripts they call, which are read before.
extension RuleReader {
    func effect(of steps: [Step]) -> ScriptEffect {
        ScriptEffect(
            stepCount: stepCount(of: steps), alwaysStops: alwaysStops(steps), repeatsWhileHeld: repeatsWhileHeld(steps))
    }

    /// Of all steps, on whatever way; those of a script count wherever it is called.
    func stepCount(of steps: [Step]) -> Int {
        steps.reduce(0) { count, step in
            var count = count + 1
            for steps in step.inner { count += stepCount(of: steps) }
            if case .script(let script, _) = step.action { count += scriptEffects[script].stepCount }
            return count
        }
    }

    /// No way through the steps goes on behind them.
    private func alwaysStops(_ steps: [Step]) -> Bool {
        steps.contains { step in
            guard step.isEnabled else { return false }
            return switch step.action {
            case .stop: true
            case .cycle, .choose: step.inner.allSatisfy(alwaysStops)
            case .repeat(let repetition): repetition.extent != .whileHeld && alwaysStops(repetition.steps)
            case .script(let script, _): scriptEffects[script].alwaysStops
            case .publish, .process, .http, .delay, .wait, .set, .enable, .log: false
            }
        }
    }

    private func repeatsWhileHeld(_ steps: [Step]) -> Bool {
        steps.contains { step in
            switch step.action {
            case .repeat(let repetition) where repetition.extent == .whileHeld: true
            case .script(let script, _): scriptEffects[script].repeatsWhileHeld
            case .repeat, .cycle, .choose, .publish, .process, .http, .delay, .wait, .set, .enable, .log, .stop:
                step.inner.contains(where: repeatsWhileHeld)
            }
        }
    }
}
