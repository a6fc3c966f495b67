import ButtonModel
import Expressions

// The step `wait_for`.
extension Run {
    /// True if the run is in a `wait_for`.
    var isWaitingForEvent: Bool {
        if case .event = waiting { true } else { false }
    }

    /// The triggers of the `wait_for` in which the run is; `nil` if it is in none.
    func awaitedTriggers(in world: World) -> [Trigger]? {
        guard isWaitingForEvent, case .waitFor(let wait)? = currentStep(in: world)?.action else { return nil }
        return wait.triggers
    }

    /// The time of day that the run waits for, if it comes before the time of the step is over.
    var awaitedTime: EventWait.Time? {
        guard case .event(let wait) = waiting, let next = wait.next, next.at <= wait.until else { return nil }
        return next
    }

    /// Begins to wait for an event.
    mutating func waitForEvent(_ wait: WaitForStep, of step: Step, in world: World, at now: Instant) {
        note(step, "waits for \(wait.triggers.awaitedText(in: world.set)), at most \(wait.timeout.text)", at: now)
        var waiting = EventWait(since: now, until: now + wait.timeout)
        waiting.plan(wait.triggers, in: world, at: now)
        self.waiting = .event(waiting)
    }

    /// Continues after the event that the run waits for.
    ///
    /// - Parameter facts: the facts of the event, with the id of the trigger that matches.
    mutating func happened(_ facts: TriggerFacts, in world: inout World, at now: Instant, _ effects: inout [Effect]) {
        guard case .event(let wait) = waiting, let step = currentStep(in: world) else { return }
        waiting = nil
        var result = ResultFacts()
        result.isOK = true
        result.happened = true
        result.event = facts.event
        result.button = facts.button
        result.triggerID = facts.id
        result.duration = now - wait.since
        save(result, of: step)
        note(step, "\(facts.words) after \(result.duration.text)", at: now)
        enter(.branch(0))
        proceed(in: &world, at: now, &effects)
    }

    /// Continues with `else`, because the time is over.
    mutating func eventDidNotHappen(in world: World, at now: Instant) {
        guard case .event(let awaited) = waiting, let step = currentStep(in: world),
            case .waitFor(let wait) = step.action
        else {
            waiting = nil
            return
        }
        waiting = nil
        var result = ResultFacts()
        result.isOK = true
        result.duration = now - awaited.since
        save(result, of: step)
        note(step, (wait.otherwise.isEmpty ? "" : "else: ") + "\(wait.timeout.text) is over", at: now)
        enter(.otherwise)
    }
}

extension TriggerFacts {
    /// The event in words, for a trace: `click of hall`, `door from closed to open`.
    fileprivate var words: String {
        switch occasion {
        case nil: "\(event) of \(button)"
        case .time: at
        case .state(let name, let old, let new):
            "\(name) from \(Run.traceText(old)) to \(Run.traceText(new))"
        }
    }
}
