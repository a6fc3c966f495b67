import ButtonModel
import Expressions

/// The runs in progress, the queues of waiting runs, and the deadlines of runs.
///
/// The scheduler applies the modes and limits of rules. The engine decides which rules match, and carries out the
/// effects of runs: it checks `busyReason`, enqueues a run, takes each `Start` to begin it, and takes a run, resumes
/// it, and puts it back.
struct RunScheduler: Sendable {
    /// The maximum number of runs of all rules together. A match beyond that is dropped as busy.
    static let maximumRuns = 1000

    /// A run that was reported as started, and has not yet executed its first step.
    struct Start: Sendable {
        var run: RunID
        /// An index in `RuleSet.rules`.
        var rule: Int
        /// `nil` for a requested dry run, which is independent of all other runs.
        var group: ConcurrencyGroupID?
        var cause: RunCause
        var isDryRun: Bool
        /// When the run was added, perhaps to a queue.
        var addedAt: Instant
    }

    private(set) var groups: [ConcurrencyGroupID: ConcurrencyGroup] = [:]
    private(set) var runs: [RunID: Run] = [:]
    /// The groups of the runs that are in one.
    private(set) var groupOfRun: [RunID: ConcurrencyGroupID] = [:]
    private(set) var deadlines = Deadlines<RunID>()
    /// The runs that are in a `wait` or `wait_for` step.
    private(set) var runsWaitingForWorld: Set<RunID> = []
    /// The runs whose turn has come.
    private(set) var starts: [Start] = []
    /// The number of runs in the queues of all groups.
    private(set) var queuedCount = 0
    /// The groups whose runs have ended while a dial was turned.
    private(set) var turnedGroups: [ConcurrencyGroupID] = []
    private(set) var nextRun: RunID

    init(nextRun: RunID) { self.nextRun = nextRun }

    /// The number of runs that are in progress or wait for their turn.
    var count: Int { runs.count + starts.count + queuedCount }

    /// The ids of the runs in progress, in ascending order.
    var ids: [RunID] { runs.keys.sorted() }

    var earliestDeadline: Instant? { deadlines.earliest }

    func due(at now: Instant) -> [RunID] { deadlines.due(at: now) }

    func isInGroup(_ run: RunID) -> Bool { groupOfRun[run] != nil }

    /// The concurrency groups of a rule, in the order of the buttons.
    func groups(ofRule rule: Int) -> [ConcurrencyGroupID] { groups.keys.filter { $0.rule == rule }.sorted() }
}

// MARK: - From a match to a run

extension RunScheduler {
    /// Why no run of the rule can start or be queued; `nil` if one can.
    func busyReason(_ rule: Rule, in group: ConcurrencyGroupID) -> String? {
        let running = groups[group]?.running.count ?? 0
        let queued = groups[group]?.queued.count ?? 0
        switch rule.mode {
        case .single where running > 0: return "single: a run is in progress"
        case .queued where running + queued >= rule.maximumRuns:
            return "queued: \(rule.maximumRuns) runs are in progress or wait"
        case .parallel where running >= rule.maximumRuns: return "parallel: \(rule.maximumRuns) runs are in progress"
        case .restart where running > 0: return nil
        case .single, .restart, .queued, .parallel: return busyReason
        }
    }

    /// Why no further run of any rule can start.
    var busyReason: String? {
        count < RunScheduler.maximumRuns ? nil : "\(RunScheduler.maximumRuns) runs are in progress"
    }

    /// Adds a run, which begins next or, with `mode: queued`, after the earlier runs. With `mode: restart`, the engine
    /// must cancel the earlier run first.
    mutating func enqueue(
        _ rule: Rule, in id: ConcurrencyGroupID, _ cause: RunCause, isDryRun: Bool, at now: Instant
    ) -> RunID {
        let start = Start(run: takeID(), rule: id.rule, group: id, cause: cause, isDryRun: isDryRun, addedAt: now)
        var group = groups[id] ?? ConcurrencyGroup()
        if rule.mode == .queued, !group.running.isEmpty {
            group.queued.append(start)
            queuedCount += 1
        } else {
            group.running.append(start.run)
            starts.append(start)
        }
        group.rate.record(rule.rateLimit, at: now)
        if rule.cooldown > .zero { group.cooldownEnd = now + rule.cooldown }
        groups[id] = group
        return start.run
    }

    /// Adds a dry run that is in no group.
    mutating func enqueueApart(_ rule: Int, _ cause: RunCause, at now: Instant) -> RunID {
        let start = Start(run: takeID(), rule: rule, cause: cause, isDryRun: true, addedAt: now)
        starts.append(start)
        return start.run
    }

    private mutating func takeID() -> RunID {
        defer { nextRun.rawValue &+= 1 }
        return nextRun
    }

    /// Removes and returns the next run to begin. The engine makes a `Run` of it and adds it.
    mutating func takeStart() -> Start? { starts.isEmpty ? nil : starts.removeFirst() }

    mutating func add(_ run: Run, in group: ConcurrencyGroupID?) {
        runs[run.id] = run
        groupOfRun[run.id] = group
    }

    /// Adds a run that an earlier process stored.
    mutating func resume(_ run: Run, in group: ConcurrencyGroupID) {
        groups[group, default: ConcurrencyGroup()].running.append(run.id)
        add(run, in: group)
        reschedule(run.id)
    }

    mutating func resumeCooldown(of group: ConcurrencyGroupID, until end: Instant) {
        groups[group, default: ConcurrencyGroup()].cooldownEnd = end
    }
}

// MARK: - Runs in progress

extension RunScheduler {
    /// Removes and returns a run to resume it. This avoids a copy when the run changes.
    mutating func take(_ id: RunID) -> Run? { runs.removeValue(forKey: id) }

    mutating func putBack(_ run: Run) { runs[run.id] = run }

    /// Updates the deadline of a run, and whether it is in a `wait` or `wait_for`.
    mutating func reschedule(_ id: RunID) {
        guard let run = runs[id] else { return }
        deadlines.set(id, at: run.deadline)
        if run.isWaitingForWorld { runsWaitingForWorld.insert(id) } else { runsWaitingForWorld.remove(id) }
    }

    /// Removes a run that has ended, and lets the next run of its group begin.
    ///
    /// - Returns: whether it was in a group.
    mutating func remove(_ id: RunID, startsNext: Bool) -> Bool {
        runs[id] = nil
        deadlines.cancel(id)
        runsWaitingForWorld.remove(id)
        guard let group = groupOfRun.removeValue(forKey: id) else { return false }
        leave(group, id, startsNext: startsNext)
        return true
    }

    /// Removes a run that has not begun, although its turn had come; `nil` if it has begun.
    mutating func withdraw(_ id: RunID, startsNext: Bool) -> Start? {
        guard let index = starts.firstIndex(where: { $0.run == id }) else { return nil }
        let start = starts.remove(at: index)
        if let group = start.group { leave(group, id, startsNext: startsNext) }
        return start
    }

    private mutating func leave(_ id: ConcurrencyGroupID, _ run: RunID, startsNext: Bool) {
        guard var group = groups[id] else { return }
        group.running.removeAll { $0 == run }
        if startsNext, group.running.isEmpty, !group.queued.isEmpty {
            let next = group.queued.removeFirst()
            queuedCount -= 1
            group.running.append(next.run)
            starts.append(next)
        }
        groups[id] = group
        if group.running.isEmpty, !group.rotations.isEmpty, !turnedGroups.contains(id) { turnedGroups.append(id) }
    }

    /// Removes and returns the queued runs of a group that have such a cause, and discards such rotations.
    mutating func dropQueued(
        in id: ConcurrencyGroupID, where isDropped: (RunCause, _ addedAt: Instant) -> Bool = { _, _ in true }
    ) -> [RunID] {
        guard var group = groups[id] else { return [] }
        let dropped = group.queued.filter { isDropped($0.cause, $0.addedAt) }.map(\.run)
        group.queued.removeAll { isDropped($0.cause, $0.addedAt) }
        group.rotations = group.rotations.filter { !isDropped($0.value.event.cause, $0.value.addedAt) }
        groups[id] = group
        queuedCount -= dropped.count
        return dropped
    }

    /// Forgets all runs in progress, at the end of the process.
    mutating func removeAll() {
        runs = [:]
        deadlines = Deadlines()
        runsWaitingForWorld = []
    }

    /// Moves unchanged rules to their new indices after a reload. Changed rules have no runs any more.
    mutating func move(to moves: RuleIndexMap) {
        func moved(_ group: ConcurrencyGroupID) -> ConcurrencyGroupID? {
            moves[group.rule].map { ConcurrencyGroupID(rule: $0, button: group.button) }
        }
        var movedGroups: [ConcurrencyGroupID: ConcurrencyGroup] = [:]
        for (id, var group) in groups {
            guard let new = moved(id) else { continue }
            group.rotations = group.rotations.mapValues { turned in
                var turned = turned
                turned.match.rule = new.rule
                return turned
            }
            for index in group.queued.indices {
                group.queued[index].rule = new.rule
                group.queued[index].group = new
            }
            movedGroups[new] = group
        }
        groups = movedGroups
        groupOfRun = groupOfRun.compactMapValues(moved)
        turnedGroups = []
        for id in Array(runs.keys) {
            if let rule = runs[id].flatMap({ moves[$0.rule] }) { runs[id]?.rule = rule }
        }
    }
}

// MARK: - Dials

extension RunScheduler {
    /// Adds up the rotation of a dial while a run of the group is in progress.
    ///
    /// - Returns: whether a run is in progress.
    mutating func addTurn(
        _ event: Event, _ match: RuleIndex.Match, of source: TurnSource, in id: ConcurrencyGroupID, at now: Instant
    ) -> Bool {
        guard let group = groups[id], !group.running.isEmpty else { return false }
        var event = event
        let before = group.rotations[source]?.event.cause.facts.steps ?? 0
        event.cause.facts.steps = event.cause.facts.steps.addingSaturating(before)
        groups[id]?.rotations[source] = ConcurrencyGroup.AccumulatedRotation(
            event: event, match: match, addedAt: group.rotations[source]?.addedAt ?? now)
        return true
    }

    /// True if a rotation of the button waits for a run to end. While it does, its group has a run in progress.
    func hasTurns(of button: ButtonID) -> Bool {
        groupOfRun.values.contains { id in
            groups[id]?.rotations.values.contains { $0.event.cause.button == button } ?? false
        }
    }

    /// Removes and returns the rotations that were added up for a group whose runs have ended; `nil` if there is no such
    /// group. Rotations of a group that has a run again stay until that has ended.
    mutating func takeTurns() -> (group: ConcurrencyGroupID, turned: [ConcurrencyGroup.AccumulatedRotation])? {
        guard !turnedGroups.isEmpty else { return nil }
        let id = turnedGroups.removeFirst()
        guard let group = groups[id], group.running.isEmpty else { return (id, []) }
        groups[id]?.rotations = [:]
        return (id, Array(group.rotations.values))
    }
}
