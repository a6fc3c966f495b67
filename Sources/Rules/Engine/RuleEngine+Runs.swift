import ButtonModel
import Expressions
import Gestures

// Runs from the moment a rule may have one to its end.
extension RuleEngine {
    /// Whether a run waits for the end of this step.
    package func awaits(_ step: StepID) -> Bool {
        guard case .answer(let attempt, _) = runs[step.run]?.waiting else { return false }
        return attempt.step == step
    }

    /// Going on and waiting for their turn.
    package var runCount: Int { runs.count + queue.count + waitingCount }

    /// A rule passed its gates: its run begins with the next `advance`, or waits its turn.
    mutating func admit(
        _ rule: Int, _ occurrence: Occurrence, isDryRun: Bool = false, at now: Instant, _ effects: inout [Effect]
    ) {
        let declared = set.rules[rule]
        let laneID = lane(of: rule, occurrence.button)
        var lane = lanes[laneID] ?? Lane()
        if let reason = RuleEngine.busy(declared, lane, runCount) {
            return stop(rule, .mode, occurrence, reason, &effects)
        }
        if declared.mode == .restart, !lane.running.isEmpty {
            for run in lane.running { cancel(run, at: now, &effects) }
            lane = lanes[laneID] ?? Lane()
        }
        let run = takeRunID()
        let waiting = Lane.Waiting(run: run, occurrence: occurrence, isDryRun: isDryRun || declared.isDryRun)
        if declared.mode == .queued, !lane.running.isEmpty {
            lane.waiting.append(waiting)
            waitingCount += 1
        } else {
            lane.running.append(run)
            queue.append(Queued(rule: rule, lane: laneID, waiting: waiting))
        }
        lane.rate.record(declared.rateLimit, at: now)
        if declared.cooldown > .zero { lane.cooldownEnd = now + declared.cooldown }
        lanes[laneID] = lane
        records[rule].note(.started)
        effects.append(.started(run, rule: declared.id, occurrence))
        guard declared.cooldown > .zero else { return }
        let end = world.wallClock(at: now) + declared.cooldown
        effects.append(.keep(.cooldown(Cooldown(rule: declared.id, button: laneID.button, endsAt: end))))
    }

    /// A dry run that somebody asked for: it meets no other run, and holds none back.
    mutating func admitApart(_ rule: Int, _ occurrence: Occurrence, at now: Instant, _ effects: inout [Effect]) {
        guard runCount < RuleEngine.maximumRuns else {
            return stop(rule, .mode, occurrence, "\(RuleEngine.maximumRuns) runs go on", &effects)
        }
        let waiting = Lane.Waiting(run: takeRunID(), occurrence: occurrence, isDryRun: true)
        queue.append(Queued(rule: rule, lane: nil, waiting: waiting))
        records[rule].note(.started)
        effects.append(.started(waiting.run, rule: set.rules[rule].id, occurrence))
    }

    private mutating func takeRunID() -> RunID {
        defer { nextRun.rawValue &+= 1 }
        return nextRun
    }

    /// A run that begins with the next `advance`.
    struct Queued: Sendable {
        var rule: Int
        /// `nil`: in none.
        var lane: LaneID?
        var waiting: Lane.Waiting
    }

    /// Begins what is to begin, delivers what dials were turned by meanwhile, and wakes who waits for the world, until all
    /// wait. It comes to an end: runs have an end, and nothing here makes rules match.
    mutating func advance(at now: Instant, _ effects: inout [Effect]) {
        while true {
            if !queue.isEmpty {
                begin(queue.removeFirst(), at: now, &effects)
            } else if !turnedLanes.isEmpty {
                deliverTurns(in: turnedLanes.removeFirst(), at: now, &effects)
            } else if worldMoved {
                worldMoved = false
                for id in runsWaitingForWorld.sorted() {
                    drive(id, at: now, &effects) { $0.worldChanged(in: &$1, at: now, &$2) }
                }
            } else {
                return
            }
        }
    }

    private mutating func begin(_ queued: Queued, at now: Instant, _ effects: inout [Effect]) {
        let waiting = queued.waiting
        let run = Run(
            waiting.run, rule: queued.rule, waiting.occurrence, isDryRun: waiting.isDryRun, in: world, at: now)
        runs[run.id] = run
        lanesOfRuns[run.id] = queued.lane
        if queued.lane != nil {
            world.rules[queued.rule].running += 1
            world.rules[queued.rule].lastRunAge = .zero
            world.ruleStarts[queued.rule] = now
            worldMoved = true
        }
        drive(run.id, at: now, &effects) { $0.begin(in: &$1, at: now, &$2) }
    }
}

// MARK: - Going on

extension RuleEngine {
    /// Lets a run go on, and carries out what it changed. One that has ended already stays as it is.
    mutating func drive(
        _ id: RunID, at now: Instant, _ effects: inout [Effect],
        _ body: (inout Run, inout World, inout [Effect]) -> Void
    ) {
        // Taken out, so that it is changed in place.
        guard var run = runs.removeValue(forKey: id) else { return }
        body(&run, &world, &effects)
        runs[id] = run
        carryOutChanges(at: now, &effects)
        if let result = run.result { return finish(run, result, &effects) }
        runDeadlines.set(id, run.deadline)
        keepWait(of: run, at: now, &effects)
        if run.isWaitingForWorld { runsWaitingForWorld.insert(id) } else { runsWaitingForWorld.remove(id) }
    }

    private mutating func finish(_ run: Run, _ result: RunResult, _ effects: inout [Effect]) {
        remove(run.id)
        if keptWaits.removeValue(forKey: run.id) != nil { effects.append(.keep(.waiting(run.id, nil))) }
        records[run.rule].note(result.outcome)
        records[run.rule].statistics.add(duration: run.trace.duration)
        archive.add(run.trace)
        effects.append(.finished(run.id, rule: run.trace.rule, result))
        guard let lane = lanesOfRuns.removeValue(forKey: run.id) else { return }
        world.rules[run.rule].running -= 1
        world.rules[run.rule].lastResult = result.rawValue
        worldMoved = true
        leave(lane, run.id)
    }

    private mutating func remove(_ id: RunID) {
        runs[id] = nil
        runDeadlines.set(id, nil)
        runsWaitingForWorld.remove(id)
    }

    /// The next one of the lane has its turn.
    private mutating func leave(_ id: LaneID, _ run: RunID) {
        guard var lane = lanes[id] else { return }
        lane.running.removeAll { $0 == run }
        if !isStopped, lane.running.isEmpty, !lane.waiting.isEmpty {
            let next = lane.waiting.removeFirst()
            waitingCount -= 1
            lane.running.append(next.run)
            queue.append(Queued(rule: id.rule, lane: id, waiting: next))
        }
        lanes[id] = lane
        if lane.running.isEmpty, !lane.turned.isEmpty, !turnedLanes.contains(id) { turnedLanes.append(id) }
    }

    /// Ends a run of a lane, whether it has begun or not.
    mutating func cancel(_ id: RunID, at now: Instant, _ effects: inout [Effect]) {
        if let place = queue.firstIndex(where: { $0.waiting.run == id }) {
            let queued = queue.remove(at: place)
            records[queued.rule].note(.cancelled)
            effects.append(.finished(id, rule: set.rules[queued.rule].id, .cancelled))
            if let lane = queued.lane { leave(lane, id) }
        } else {
            drive(id, at: now, &effects) { $0.cancel(in: &$1, at: now, &$2) }
        }
    }

    /// Ends those that wait for their turn in a lane.
    mutating func cancelWaiting(in id: LaneID, as result: RunResult, _ effects: inout [Effect]) {
        guard var lane = lanes[id] else { return }
        let dropped = lane.waiting
        lane.waiting = []
        lane.turned = [:]
        lanes[id] = lane
        waitingCount -= dropped.count
        for waiting in dropped {
            records[id.rule].note(result.outcome)
            effects.append(.finished(waiting.run, rule: set.rules[id.rule].id, result))
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
    /// What a dial was turned by while its rule runs is told when the run has ended, in one.
    ///
    /// - Returns: whether the rule takes it that way; one that restarts or runs side by side takes each turn by itself.
    mutating func addTurn(_ event: Event, _ match: RuleIndex.Match) -> Bool {
        let rule = set.rules[match.rule]
        guard rule.mode == .single || rule.mode == .queued, let button = event.occurrence.button else { return false }
        let id = lane(of: match.rule, button)
        guard var lane = lanes[id], !lane.running.isEmpty else { return false }
        let source = TurnSource(
            PressSource(button: button, part: event.part), slot: event.occurrence.facts.slot)
        var event = event
        let before = lane.turned[source]?.event.occurrence.facts.steps ?? 0
        event.occurrence.facts.steps = event.occurrence.facts.steps.addingSaturating(before)
        lane.turned[source] = Lane.Turned(event: event, match: match)
        lanes[id] = lane
        return true
    }

    private mutating func deliverTurns(in id: LaneID, at now: Instant, _ effects: inout [Effect]) {
        guard let turned = lanes[id]?.turned, lanes[id]?.running.isEmpty ?? false else { return }
        lanes[id]?.turned = [:]
        // Back and forth by the same is nothing.
        let sums = turned.values.filter { $0.event.occurrence.facts.steps != 0 }.sorted { left, right in
            (left.event.at, left.event.part?.rawValue ?? "", left.event.occurrence.facts.slot)
                < (right.event.at, right.event.part?.rawValue ?? "", right.event.occurrence.facts.slot)
        }
        for sum in sums {
            var event = sum.event
            let steps = event.occurrence.facts.steps
            event.occurrence.facts.event = RotationDirection(steps: steps > 0 ? 1 : -1).rawValue
            // Together they may go the other way, for which the rule may have another trigger.
            let matches = event.occurrence.button.map {
                index.matches(turnedClockwise: steps > 0, of: $0, part: event.part)
            }
            let match = matches?.first { $0.rule == id.rule } ?? sum.match
            meet(event, [match], .ofKept, at: now, &effects)
        }
    }
}
