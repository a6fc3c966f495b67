package import ButtonModel
import Expressions
import Gestures

// Starting, resuming and ending runs.
extension RuleEngine {
    /// True if a run waits for the result of this action.
    package func awaits(_ step: ActionID) -> Bool {
        guard case .result(let attempt, _) = scheduler.runs[step.run]?.waiting else { return false }
        return attempt.step == step
    }

    /// When the time limit of this action ends; `nil` if no run waits for its result, or if it has no time limit.
    package func deadline(of step: ActionID) -> Instant? {
        guard case .result(let attempt, let deadline) = scheduler.runs[step.run]?.waiting, attempt.step == step else {
            return nil
        }
        return deadline
    }

    /// The number of runs that are in progress or wait for their turn.
    package var runCount: Int { scheduler.count }

    /// Starts a run of a rule that passed its gates. It begins with the next `advance`, or is queued.
    mutating func enqueue(
        _ rule: Int, _ cause: RunCause, isDryRun: Bool = false, at now: Instant, _ effects: inout [Effect]
    ) {
        let declared = set.rules[rule]
        let group = concurrencyGroup(of: rule, cause.button)
        if let reason = scheduler.busyReason(declared, in: group) {
            return stop(rule, .mode, cause, reason, &effects)
        }
        var cause = cause
        if declared.mode == .restart, let running = scheduler.groups[group]?.running, !running.isEmpty {
            cause.facts.isInterrupting = true
            let reason = CancelReason.restarted(byButton: cause.button != nil)
            for run in running { cancel(run, because: reason, at: now, &effects) }
        }
        let run = scheduler.enqueue(
            declared, in: group, cause, isDryRun: isDryRun || declared.isDryRun, at: now)
        records[rule].note(.started)
        effects.append(.started(run, rule: declared.id, cause))
        guard declared.cooldown > .zero else { return }
        let end = world.wallClock(at: now) + declared.cooldown
        effects.append(.store(.cooldown(Cooldown(rule: declared.id, button: group.button, endsAt: end))))
    }

    /// Starts a requested dry run, which is independent of all other runs.
    mutating func enqueueApart(_ rule: Int, _ cause: RunCause, at now: Instant, _ effects: inout [Effect]) {
        if let reason = scheduler.busyReason { return stop(rule, .mode, cause, reason, &effects) }
        let run = scheduler.enqueueApart(rule, cause, at: now)
        records[rule].note(.started)
        effects.append(.started(run, rule: set.rules[rule].id, cause))
    }

    /// Begins the runs whose turn has come, delivers rotations that were added up, and resumes the runs that wait for a
    /// change of the world, until all runs wait. This ends, because runs end, and nothing here triggers further rules.
    mutating func advance(at now: Instant, _ effects: inout [Effect]) {
        while true {
            if let start = scheduler.takeStart() {
                begin(start, at: now, &effects)
            } else if let (group, turned) = scheduler.takeTurns() {
                deliver(turned, to: group, at: now, &effects)
            } else if worldHasChanged {
                worldHasChanged = false
                for id in scheduler.runsWaitingForWorld.sorted() where !isWaitingForEvent(id) {
                    resume(id, at: now, &effects) { $0.worldChanged(in: &$1, at: now, &$2) }
                }
            } else {
                return
            }
        }
    }

    private mutating func begin(_ start: RunScheduler.Start, at now: Instant, _ effects: inout [Effect]) {
        var run = Run(start.run, rule: start.rule, start.cause, isDryRun: start.isDryRun, in: world, at: now)
        run.addedAt = start.addedAt
        scheduler.add(run, in: start.group)
        if start.group != nil {
            world.rules[start.rule].running += 1
            world.rules[start.rule].lastRunAge = .zero
            world.ruleStarts[start.rule] = now
            worldHasChanged = true
        }
        resume(run.id, at: now, &effects) { $0.begin(in: &$1, at: now, &$2) }
    }
}

// MARK: - Runs in progress

extension RuleEngine {
    /// Lets a run continue, and carries out what it changed. Without effect if the run has ended.
    mutating func resume(
        _ id: RunID, at now: Instant, _ effects: inout [Effect],
        _ body: (inout Run, inout World, inout [Effect]) -> Void
    ) {
        guard var resumed = scheduler.take(id) else { return }
        let (waitEnd, wasBetweenTicks) = (resumed.waitEnd, resumed.isBetweenTicks)
        body(&resumed, &world, &effects)
        // The times of a repetition with every: are counted from its beginning, so an iteration that begins late delays none.
        if resumed.waitEnd != waitEnd, !wasBetweenTicks || !resumed.isBetweenTicks { resumed.lateness = world.lateness }
        scheduler.putBack(resumed)
        carryOutChanges(by: id, at: now, &effects)
        // A run that has disabled its own rule was resumed once more by that, and may have ended there.
        guard let run = scheduler.runs[id] else { return }
        if let result = run.result { return finish(run, result, &effects) }
        if run.isWaitingForEvent, !mayWaitForEvent(run) { return cancel(id, because: .ruleDisabled, at: now, &effects) }
        scheduler.reschedule(id)
        storeWait(of: run, at: now, &effects)
    }

    private mutating func finish(_ run: Run, _ result: RunResult, _ effects: inout [Effect]) {
        if storedWaits.removeValue(forKey: run.id) != nil { effects.append(.store(.waiting(run.id, nil))) }
        records[run.rule].note(result.outcome)
        records[run.rule].statistics.add(duration: run.trace.duration)
        archive.add(run.trace)
        effects.append(.finished(run.id, rule: run.trace.rule, result))
        guard scheduler.remove(run.id, startsNext: !isStopped) else { return }
        world.rules[run.rule].running -= 1
        world.rules[run.rule].lastResult = result.rawValue
        worldHasChanged = true
    }

    /// Cancels a run, whether it has begun or not.
    mutating func cancel(
        _ id: RunID, because reason: CancelReason, at now: Instant, _ effects: inout [Effect]
    ) {
        if let start = scheduler.withdraw(id, startsNext: !isStopped) {
            records[start.rule].note(.cancelled)
            effects.append(.finished(id, rule: set.rules[start.rule].id, .cancelled))
        } else {
            resume(id, at: now, &effects) { $0.cancel(because: reason, in: &$1, at: now, &$2) }
        }
    }

    /// Cancels all runs of a rule, those in progress and those that wait for their turn.
    mutating func cancelRuns(
        of rule: Int, because reason: CancelReason, at now: Instant, _ effects: inout [Effect]
    ) {
        for group in scheduler.groups(ofRule: rule) { endQueued(in: group, as: .cancelled, &effects) }
        let running = scheduler.ids.filter { scheduler.runs[$0]?.rule == rule }
        for run in scheduler.starts.filter({ $0.rule == rule }).map(\.run) + running {
            cancel(run, because: reason, at: now, &effects)
        }
    }

    /// Ends the runs that wait for their turn in a concurrency group.
    mutating func endQueued(
        in group: ConcurrencyGroupID, as result: RunResult, _ effects: inout [Effect],
        where isEnded: (RunCause, _ addedAt: Instant) -> Bool = { _, _ in true }
    ) {
        for run in scheduler.dropQueued(in: group, where: isEnded) {
            records[group.rule].note(result.outcome)
            effects.append(.finished(run, rule: set.rules[group.rule].id, result))
        }
    }
}

extension RunResult {
    var outcome: Outcome {
        switch self {
        case .completed: .completed
        case .failed: .failed
        case .cancelled: .cancelled
        case .interrupted: .interrupted
        }
    }
}

// MARK: - Dials

extension RuleEngine {
    /// Adds up the rotation of a dial while its rule runs. The sum becomes one event when the run has ended.
    ///
    /// - Returns: whether the rotation was added up. A rule with `restart` or `parallel` takes each rotation by itself.
    mutating func addTurn(_ event: Event, _ match: RuleIndex.Match, at now: Instant) -> Bool {
        let rule = set.rules[match.rule]
        guard rule.mode == .single || rule.mode == .queued, let button = event.cause.button else { return false }
        let source = TurnSource(PressSource(button: button, part: event.part), slot: event.cause.facts.slot)
        return scheduler.addTurn(event, match, of: source, in: concurrencyGroup(of: match.rule, button), at: now)
    }

    private mutating func deliver(
        _ turned: [ConcurrencyGroup.AccumulatedRotation], to group: ConcurrencyGroupID, at now: Instant,
        _ effects: inout [Effect]
    ) {
        // Rotations back and forth by the same steps cancel each other out.
        let sums = turned.filter { $0.event.cause.facts.steps != 0 }.sorted { left, right in
            (left.event.at, left.event.part?.rawValue ?? "", left.event.cause.facts.slot)
                < (right.event.at, right.event.part?.rawValue ?? "", right.event.cause.facts.slot)
        }
        let wasActing = actsOnEarlier
        actsOnEarlier = isPaused
        defer { actsOnEarlier = wasActing }
        for sum in sums {
            var event = sum.event
            let steps = event.cause.facts.steps
            event.cause.facts.event = RotationDirection(steps: steps > 0 ? 1 : -1).rawValue
            // The sum may have the other direction, for which the rule may have another trigger.
            let matches = event.cause.button.map {
                index.matches(turnedClockwise: steps > 0, of: $0, part: event.part)
            }
            let match = matches?.first { $0.rule == group.rule } ?? sum.match
            judgeAndStart(event, [match], .forKeptEvent, at: now, &effects)
        }
    }
}
