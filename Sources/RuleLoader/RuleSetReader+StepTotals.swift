import Rules

/// The properties of a script's steps that matter to its callers.
struct ScriptEffect {
    /// The number of steps, including those of the scripts that are called.
    var stepCount = 0
    /// True if no step after a call of the script can run.
    var alwaysStops = false
    /// True if the script has a `repeat: while: held`, which needs a rule that is triggered by a held button.
    var repeatsWhileHeld = false
}

/// Properties of a list of steps, including the scripts they call, which must have been read before.
extension RuleSetReader {
    func effect(of steps: [Step]) -> ScriptEffect {
        ScriptEffect(
            stepCount: stepCount(of: steps), alwaysStops: alwaysStops(steps), repeatsWhileHeld: repeatsWhileHeld(steps))
    }

    /// Counts the steps in all branches. The steps of a script count at each call.
    func stepCount(of steps: [Step]) -> Int {
        steps.reduce(0) { count, step in
            var count = count + 1
            for steps in step.inner { count += stepCount(of: steps) }
            if case .script(let script, _) = step.action { count += scriptEffects[script].stepCount }
            return count
        }
    }

    /// True if every path through the steps stops, so that no step after them can run.
    private func alwaysStops(_ steps: [Step]) -> Bool {
        steps.contains { step in
            guard step.isEnabled else { return false }
            return switch step.action {
            case .stop: true
            case .cycle, .choose, .waitFor: step.inner.allSatisfy(alwaysStops)
            case .repeat(let repetition): repetition.extent != .whileHeld && alwaysStops(repetition.steps)
            case .script(let script, _): scriptEffects[script].alwaysStops
            case .perform, .delay, .wait, .set, .enable, .cancel, .log: false
            }
        }
    }

    private func repeatsWhileHeld(_ steps: [Step]) -> Bool {
        steps.contains { step in
            switch step.action {
            case .repeat(let repetition) where repetition.extent == .whileHeld: true
            case .script(let script, _): scriptEffects[script].repeatsWhileHeld
            case .repeat, .cycle, .choose, .perform, .delay, .wait, .waitFor, .set, .enable, .cancel, .log, .stop:
                step.inner.contains(where: repeatsWhileHeld)
            }
        }
    }
}
