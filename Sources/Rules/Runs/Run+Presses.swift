import ButtonModel
import Expressions

// The step `wait_for`.
extension Run {
    /// True if the run is in a `wait_for`.
    var isWaitingForPress: Bool {
        if case .press = waiting { true } else { false }
    }

    /// Begins to wait for an event.
    mutating func waitForPress(_ wait: WaitForStep, of step: Step, at now: Instant) {
        note(step, "waits for a press, at most \(wait.timeout.text)", at: now)
        waiting = .press(since: now, until: now + wait.timeout)
    }

    /// Continues after the event that the run waits for.
    ///
    /// - Parameter facts: the facts of the event, with the id of the trigger that matches.
    mutating func pressed(_ facts: TriggerFacts, in world: inout World, at now: Instant, _ effects: inout [Effect]) {
        guard case .press(let since, _) = waiting, let step = currentStep(in: world) else { return }
        waiting = nil
        var result = ResultFacts()
        result.isOK = true
        result.happened = true
        result.event = facts.event
        result.button = facts.button
        result.triggerID = facts.id
        result.duration = now - since
        save(result, of: step)
        note(step, "\(facts.event) of \(facts.button) after \(result.duration.text)", at: now)
        enter(.branch(0))
        proceed(in: &world, at: now, &effects)
    }

    /// Continues with `else`, because the time is over.
    mutating func pressDidNotHappen(in world: World, at now: Instant) {
        guard case .press(let since, _) = waiting, let step = currentStep(in: world),
            case .waitFor(let wait) = step.action
        else {
            waiting = nil
            return
        }
        waiting = nil
        var result = ResultFacts()
        result.isOK = true
        result.duration = now - since
        save(result, of: step)
        note(step, "else: \(wait.timeout.text) is over", at: now)
        enter(.otherwise)
    }
}
