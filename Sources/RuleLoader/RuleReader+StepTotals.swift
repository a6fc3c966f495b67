import Rules

/// What can be told of a whole list of steps, with those of the scripts they call.
extension RuleReader {
    /// Of all steps, on whatever way; those of a script count wherever it is called.
    func stepCount(of steps: [Step]) -> Int {
        steps.reduce(0) { count, step in
            var count = count + 1
            for steps in step.inner { count += stepCount(of: steps) }
            if case .script(let script, _) = step.action { count += stepCount(of: set.scripts[script].steps) }
            return count
        }
    }

    /// No way through the steps goes on behind them.
    func alwaysStops(_ steps: [Step]) -> Bool {
        steps.contains { step in
            guard step.isEnabled else { return false }
            return switch step.action {
            case .stop: true
            case .cycle, .choose: step.inner.allSatisfy(alwaysStops)
            case .repeat(let repetition): repetition.extent != .whileHeld && alwaysStops(repetition.steps)
            case .script(let script, _): alwaysStops(set.scripts[script].steps)
            case .publish, .process, .http, .delay, .wait, .set, .enable, .log: false
            }
        }
    }

    func repeatsWhileHeld(_ steps: [Step]) -> Bool {
        steps.contains { step in
            switch step.action {
            case .repeat(let repetition) where repetition.extent == .whileHeld: true
            case .script(let script, _): repeatsWhileHeld(set.scripts[script].steps)
            case .repeat, .cycle, .choose, .publish, .process, .http, .delay, .wait, .set, .enable, .log, .stop:
                step.inner.contains(where: repeatsWhileHeld)
            }
        }
    }
}
