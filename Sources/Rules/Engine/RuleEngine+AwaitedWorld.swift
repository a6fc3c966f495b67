import ButtonModel
import Expressions

// Runs in a `wait_for` step, and the times of day and changes of states that continue them.
//
// Each run has its own next time and its own counts, which are part of its deadline, so that waiting runs cost nothing
// between their events.
extension RuleEngine {
    /// A run for which the value of a state has lasted long enough.
    struct LastingRun {
        var run: AwaitingRun
        /// An index in `RuleSet.states`.
        var state: Int
        /// The value before the change.
        var old: Value?
    }

    // MARK: Times of day

    /// The runs for which a time of day has come, by this time.
    func runsWithDueTimes(at now: Instant) -> [UTCTime: [AwaitingRun]] {
        var found: [UTCTime: [AwaitingRun]] = [:]
        for id in scheduler.due(at: now).sorted() {
            guard let run = scheduler.runs[id], case .event(let wait) = run.waiting,
                let time = wait.dueTime(at: now), let triggers = run.awaitedTriggers(in: world)
            else { continue }
            found[time.due, default: []].append(AwaitingRun(run, triggers[time.trigger], since: wait.since))
        }
        return found
    }

    /// True if the event of a `wait_for` step has occurred, so that the step does not time out.
    func isWaitingForDueEvent(_ id: RunID, at now: Instant) -> Bool {
        guard case .event(let wait) = scheduler.runs[id]?.waiting else { return false }
        return wait.dueTime(at: now) != nil || wait.dueCount(at: now) != nil
    }

    /// Finds the next times of all waiting runs again, because the clock was set.
    mutating func planAwaitedTimes(at now: Instant, _ effects: inout [Effect]) {
        changeWaits(at: now, &effects) { $0.plan($1, in: $2, at: now) }
    }

    /// Forgets which times are over, because a test sets its clock.
    mutating func forgetAwaitedTimes(at now: Instant, _ effects: inout [Effect]) {
        changeWaits(at: now, &effects) { wait, _, _ in wait.handled = nil }
    }

    /// Finds the next times again after a reload.
    ///
    /// - Parameter hasMoved: true if the time zone or the position of the house has changed. Times that came before are then
    ///   over, so that no run continues because of the reload.
    mutating func moveAwaitedTimes(hasMoved: Bool, at now: Instant, _ effects: inout [Effect]) {
        guard hasMoved else { return }
        changeWaits(at: now, &effects) { wait, triggers, world in
            wait.handled = nil
            wait.plan(triggers, in: world, at: now)
        }
    }

    // MARK: Changes of states

    /// Follows the value of a state in the runs that wait for it.
    ///
    /// - Parameters:
    ///   - old: the value until now; `nil` for unknown. The same applies to `new`.
    /// - Returns: the runs that the change continues.
    mutating func runs(
        waitingForChangeOf state: Int, from old: Value?, to new: Value?, isRetained: Bool, at now: Instant,
        _ effects: inout [Effect]
    ) -> [AwaitingRun] {
        guard prepared.awaitedStates.contains(state) else { return [] }
        let name = set.states[state].name
        var found: [AwaitingRun] = []
        for id in runsWaitingForEvents {
            guard let run = scheduler.runs[id], case .event(var wait) = run.waiting,
                let triggers = run.awaitedTriggers(in: world)
            else { continue }
            let before = wait.counts
            var matching: Trigger?
            for (index, trigger) in triggers.enumerated() {
                guard case .states(let use) = trigger.origin, use.states.contains(name) else { continue }
                let change = StateStep(state: name, old: old, new: new, isRetained: isRetained)
                if follow(change, use, index, in: &wait, at: now) { matching = matching ?? trigger }
            }
            if wait.counts != before { change(wait, of: id, at: now, &effects) }
            if let matching { found.append(AwaitingRun(run, matching, since: wait.since)) }
        }
        return found
    }

    /// A change of the received value of a state.
    private struct StateStep {
        var state: String
        var old, new: Value?
        var isRetained: Bool
    }

    /// - Returns: whether the change ends the wait.
    private func follow(
        _ step: StateStep, _ use: StateTrigger, _ trigger: Int, in wait: inout EventWait, at now: Instant
    ) -> Bool {
        if let place = wait.counts.firstIndex(where: { $0.trigger == trigger && $0.state == step.state }) {
            let count = wait.counts[place]
            let context = changeContext(use, from: count.old, to: step.new, at: now)
            if let new = step.new, use.goesOn(new, since: count.first, in: context) {
                if count.until == nil { wait.counts[place].until = now + use.duration }
                return false
            }
            wait.counts.remove(at: place)
        }
        guard !step.isRetained, let old = step.old, let new = step.new, old != new else { return false }
        let context = changeContext(use, from: old, to: new, at: now)
        guard use.comes(from: old, in: context), use.goes(to: new, in: context) else { return false }
        guard use.duration > .zero else { return true }
        wait.counts.append(
            EventWait.Count(
                trigger: trigger, state: step.state, old: old, first: new, until: now + use.duration))
        return false
    }

    /// The runs for which the value of a state has lasted long enough.
    mutating func runsWithLastingStates(at now: Instant, _ effects: inout [Effect]) -> [LastingRun] {
        var found: [LastingRun] = []
        for id in scheduler.due(at: now).sorted() {
            guard let run = scheduler.runs[id], case .event(var wait) = run.waiting, wait.dueTime(at: now) == nil,
                let count = wait.dueCount(at: now), let triggers = run.awaitedTriggers(in: world)
            else { continue }
            guard let state = names.states[count.state], states.receivedValue(at: state) != nil else {
                // A reload has made the state unknown.
                wait.counts.removeAll { $0 == count }
                change(wait, of: id, at: now, &effects)
                continue
            }
            found.append(
                LastingRun(
                    run: AwaitingRun(run, triggers[count.trigger], since: wait.since), state: state, old: count.old))
        }
        return found
    }

    /// Begins the counts of a run of an earlier process again, as far as the states are known and still have the values.
    func resumeCounts(of run: inout Run, at now: Instant) {
        guard case .event(var wait) = run.waiting, let triggers = run.awaitedTriggers(in: world) else { return }
        wait.counts = wait.counts.compactMap { count in
            guard case .states(let use) = triggers[count.trigger].origin, let state = names.states[count.state] else {
                return nil
            }
            guard let value = states.receivedValue(at: state) else { return count }
            let context = changeContext(use, from: nil, to: value, at: now)
            guard use.goesOn(value, since: count.first, in: context) else { return nil }
            var count = count
            count.until = now + use.duration
            return count
        }
        run.waiting = .event(wait)
    }

    /// Ends the counts of states that a reload has changed.
    ///
    /// - Parameters:
    ///   - before: the states until now.
    ///   - indices: their indices by name.
    mutating func moveAwaitedCounts(
        from before: [DeclaredState], _ indices: [String: Int], at now: Instant, _ effects: inout [Effect]
    ) {
        let (set, names) = (set, names)
        changeWaits(at: now, &effects) { wait, _, _ in
            wait.counts.removeAll { count in
                guard let old = indices[count.state], let new = names.states[count.state] else { return true }
                return !before[old].isSameSource(as: set.states[new])
            }
        }
    }

    // MARK: Waits

    /// Changes the waits of all runs in a `wait_for`.
    private mutating func changeWaits(
        at now: Instant, _ effects: inout [Effect], _ body: (inout EventWait, [Trigger], World) -> Void
    ) {
        for id in runsWaitingForEvents {
            guard let run = scheduler.runs[id], case .event(var wait) = run.waiting,
                let triggers = run.awaitedTriggers(in: world)
            else { continue }
            let before = wait
            body(&wait, triggers, world)
            if wait != before { change(wait, of: id, at: now, &effects) }
        }
    }

    private mutating func change(_ wait: EventWait, of id: RunID, at now: Instant, _ effects: inout [Effect]) {
        guard var run = scheduler.take(id) else { return }
        run.waiting = .event(wait)
        scheduler.putBack(run)
        scheduler.reschedule(id)
        storeWait(of: run, at: now, &effects)
    }
}
