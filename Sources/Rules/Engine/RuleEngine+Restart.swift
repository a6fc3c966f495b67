import ButtonModel
import Expressions
import Gestures
import JSON

// Persistence: restoring the state at the start, storing changes, and stopping.
extension RuleEngine {
    /// A run that is overdue for longer is not resumed.
    static let maximumOverdue = Duration.seconds(600)
    /// The maximum number of stored values of undeclared variables.
    static let maximumOrphanedValues = 1000

    /// Stored state that can be restored only when the wall clock is known.
    struct PendingRestoration: Sendable {
        var cooldowns: [Cooldown] = []
        /// Ordered by id.
        var waitingRuns: [WaitingRun] = []
        var keptEvents: [KeptEvent] = []
    }

    /// The part of a stored `WaitingRun` that shows whether the wait has changed.
    struct StoredWait: Sendable {
        var frames: [Frame]
        var endsAt: UTCTime
        /// The stored form of the events that a `wait_for` has seen.
        var seen: JSONValue?

        init(of run: Run, endsAt: UTCTime) {
            frames = run.frames
            self.endsAt = endsAt
            if case .event(let wait) = run.waiting { seen = wait.savedSeen }
        }

        /// True if it is the same wait. The end may differ slightly, because it is converted between two clocks.
        func isSame(as other: StoredWait) -> Bool {
            frames == other.frames && seen == other.seen
                && abs((other.endsAt.milliseconds).addingSaturating(-endsAt.milliseconds)) < 1000
        }
    }

    mutating func restore(_ state: RuleState) {
        daily = DailySchedule(prepared, handled: state.dailyTimes)
        let known = daily.storedKeys.union(restoreCounts(state.dailyTimes.keys))
        for key in state.dailyTimes.keys.sorted() where !known.contains(key) {
            initialEffects.append(.store(.daily(key, nil)))
        }
        restoreVariables(state.variables)
        for (id, override) in state.enabled.sorted(by: { $0.key < $1.key }) {
            if let ruleIndex = names.rules[id], override.inFile == set.rules[ruleIndex].isEnabled {
                overrides[id] = override
                world.rules[ruleIndex].isEnabled = override.isEnabled
            } else {
                initialEffects.append(.store(.enabled(rule: id, nil)))
            }
        }
        for (key, position) in state.cycles.sorted(by: { $0.key < $1.key }) {
            // The key of a cycle in a script is only its path, without a rule id.
            let owner = key.split(separator: "/", maxSplits: 1).first.map(String.init) ?? ""
            if !key.contains("/") || names.rules[owner] != nil {
                world.cycles[key] = position
            } else {
                initialEffects.append(.store(.cycle(key, nil)))
            }
        }
    }

    private mutating func restoreVariables(_ stored: [String: Value]) {
        var effects: [Effect] = []
        for (name, value) in stored.sorted(by: { $0.key < $1.key }) {
            guard let variableIndex = names.variables[name] else {
                if orphanedValues.count < RuleEngine.maximumOrphanedValues { orphanedValues[name] = value }
                continue
            }
            let variable = set.variables[variableIndex]
            guard variable.isPersisted else {
                effects.append(.store(.variable(name, nil)))
                continue
            }
            adopt(value, for: variableIndex, &effects)
        }
        initialEffects += effects
    }

    /// Assigns an earlier value to a variable, if its declaration still permits the value.
    mutating func adopt(_ value: Value, for variableIndex: Int, _ effects: inout [Effect]) {
        let variable = set.variables[variableIndex]
        guard let fitting = variable.permitted(value) else {
            let was = value.text ?? "unknown"
            let initial = variable.initial.text ?? ""
            effects.append(
                .log(.warning, "variable \(variable.name) cannot be \(was) any more and is reset to \(initial)"))
            assigned.remove(variable.name)
            if variable.isPersisted { effects.append(.store(.variable(variable.name, nil))) }
            return
        }
        world.variables[variableIndex] = fitting
        assigned.insert(variable.name)
        if fitting != value, variable.isPersisted { effects.append(.store(.variable(variable.name, fitting))) }
    }
}

// MARK: - The wall clock

extension RuleEngine {
    /// If the clock was set by at most this, it has been corrected, and has not jumped over a time.
    private static let longestCorrection = 2000

    mutating func clockWasSet(to time: UTCTime, isBelievable: Bool, at now: Instant, _ effects: inout [Effect]) {
        let step = world.plausibleClock.map { _ in
            time.milliseconds.addingSaturating(-world.wallClock(at: now).milliseconds)
        }
        let isContinuous = step.map { abs($0) <= RuleEngine.longestCorrection } ?? false
        let before = world.clock.map { _ in world.wallClock(at: now) }
        world.clock = (time, now)
        world.clockIsPlausible = isBelievable
        worldHasChanged = true
        if before == nil { resumeCooldowns(at: now) }
        let due = carryOutDailyTimes(isContinuous: isContinuous, isStart: step == nil, at: now, &effects)
        planAwaitedTimes(at: now, &effects)
        if isBelievable {
            resumeRuns(at: now, &effects)
            judgeRestoredEvents(at: now, &effects)
        }
        fire(due, continuing: runsWithDueTimes(at: now), at: now, &effects)
        guard let before, abs(time.milliseconds.addingSaturating(-before.milliseconds)) >= 1000 else { return }
        // Waits and cooldowns are stored with the wall clock time of their end, which has changed.
        for id in scheduler.ids {
            if let run = scheduler.runs[id] { storeWait(of: run, at: now, &effects) }
        }
        for (id, group) in scheduler.groups.sorted(by: { $0.key < $1.key }) {
            guard let end = group.cooldownEnd, end > now else { continue }
            effects.append(
                .store(.cooldown(Cooldown(rule: set.rules[id.rule].id, button: id.button, endsAt: time + (end - now)))))
        }
    }

    /// Restores cooldowns, limited to the rule's present `cooldown`: after the wall clock was set back, the stored end
    /// may be far in the future.
    private mutating func resumeCooldowns(at now: Instant) {
        for cooldown in restored.cooldowns {
            guard let ruleIndex = names.rules[cooldown.rule] else { continue }
            let left = Duration.milliseconds(
                cooldown.endsAt.milliseconds.addingSaturating(-world.wallClock(at: now).milliseconds))
            guard left > .zero else { continue }
            scheduler.resumeCooldown(
                of: concurrencyGroup(of: ruleIndex, cooldown.button),
                until: now + min(left, set.rules[ruleIndex].cooldown))
        }
        restored.cooldowns = []
    }

    private mutating func resumeRuns(at now: Instant, _ effects: inout [Effect]) {
        let waiting = restored.waitingRuns
        restored.waitingRuns = []
        for waiting in waiting {
            if let reason = resume(waiting, at: now) {
                effects.append(
                    .log(.warning, "run \(waiting.run.rawValue) of \(waiting.rule) is not resumed: \(reason)"))
                effects.append(.store(.waiting(waiting.run, nil)))
                effects.append(.interrupted(waiting.run, rule: waiting.rule, waiting.cause))
                guard let ruleIndex = names.rules[waiting.rule] else { continue }
                records[ruleIndex].note(.interrupted)
                world.rules[ruleIndex].lastResult = RunResult.interrupted.rawValue
            } else {
                effects.append(.log(.info, "run \(waiting.run.rawValue) of \(waiting.rule) continues"))
            }
        }
    }

    /// Judges the events that an earlier process kept, as if they arrived now with their true age. Those that a rule accepts are
    /// kept again, because the button may have stored later ones.
    private mutating func judgeRestoredEvents(at now: Instant, _ effects: inout [Effect]) {
        var remaining = restored.keptEvents[...]
        restored.keptEvents = []
        while let first = remaining.first {
            let together = remaining.prefix { $0.button == first.button && $0.number == first.number }
            remaining = remaining.dropFirst(together.count)
            let event = Event(restored: first, age: age(of: first, at: now), at: now)
            var matches: [RuleIndex.Match] = []
            for kept in together {
                effects.append(.store(.kept(rule: kept.rule, kept.button, nil)))
                guard let ruleIndex = names.rules[kept.rule], set.rules[ruleIndex].fingerprint == kept.fingerprint,
                    set.rules[ruleIndex].triggers.indices.contains(kept.trigger)
                else {
                    effects.append(
                        .log(
                            .warning,
                            "rule \(kept.rule) does not run for \(kept.cause.facts.event) of \(kept.cause.facts.button), "
                                + "which it had kept: it was changed or removed"))
                    continue
                }
                matches.append(RuleIndex.Match(rule: ruleIndex, trigger: kept.trigger))
            }
            judgeAndStart(event, matches.sorted(by: RuleIndex.Match.comesFirst), .all, at: now, &effects)
            keptCount += 1
        }
    }

    /// The age of a kept event, which grows while no process runs.
    private func age(of kept: KeptEvent, at now: Instant) -> Duration {
        max(kept.cause.facts.age, world.wallClock(at: now).duration(since: kept.cause.at))
    }

    /// - Returns: why the run cannot be resumed; `nil` if it was.
    private mutating func resume(_ waiting: WaitingRun, at now: Instant) -> String? {
        guard let ruleIndex = names.rules[waiting.rule] else { return "there is no such rule any more" }
        guard set.rules[ruleIndex].fingerprint == waiting.fingerprint else { return "its rule was changed" }
        guard set.rules[ruleIndex].onRestart == .resume else { return "its rule does not resume" }
        let left = Duration.milliseconds(
            waiting.endsAt.milliseconds.addingSaturating(-world.wallClock(at: now).milliseconds))
        guard left >= .zero - RuleEngine.maximumOverdue else {
            return "it should have continued \((.zero - left).text) ago"
        }
        guard runCount < RuleEngine.maximumRuns else { return "\(RuleEngine.maximumRuns) runs are in progress" }
        guard var run = Run(waiting, rule: ruleIndex, remaining: left, in: world, at: now) else {
            return "its stored state cannot be read"
        }
        guard !run.isWaitingForEvent || mayWaitForEvent(run) else { return "its rule is disabled" }
        resumeCounts(of: &run, at: now)
        if let due = run.awaitedTime?.at, now - due > RuleEngine.maximumOverdue {
            return "it should have continued \((now - due).text) ago"
        }
        scheduler.resume(run, in: concurrencyGroup(of: ruleIndex, waiting.cause.button))
        world.rules[ruleIndex].running += 1
        world.ruleStarts[ruleIndex] = run.startedAt
        records[ruleIndex].latest = .started
        storedWaits[run.id] = StoredWait(of: run, endsAt: waiting.endsAt)
        return nil
    }
}

// MARK: - Storing

extension RuleEngine {
    /// Stores a run when it begins to wait, and removes it when it continues. A process can end at any time, so this
    /// does not wait for `stop`.
    mutating func storeWait(of run: Run, at now: Instant, _ effects: inout [Effect]) {
        // A requested dry run has no concurrency group, and is not stored.
        guard set.rules[run.rule].onRestart == .resume, scheduler.isInGroup(run.id) else { return }
        let before = storedWaits[run.id]
        guard let waiting = run.saved(in: world, at: now) else {
            guard before != nil else { return }
            storedWaits[run.id] = nil
            effects.append(.store(.waiting(run.id, nil)))
            return
        }
        let wait = StoredWait(of: run, endsAt: waiting.endsAt)
        if let before, before.isSame(as: wait) { return }
        storedWaits[run.id] = wait
        effects.append(.store(.waiting(run.id, waiting)))
    }

    /// Ends all runs except those that are stored for a resumption.
    mutating func stop(at now: Instant, _ effects: inout [Effect]) {
        isStopped = true
        for group in scheduler.groups.keys.sorted() { endQueued(in: group, as: .interrupted, &effects) }
        for id in scheduler.ids where storedWaits[id] == nil {
            resume(id, at: now, &effects) { run, world, effects in
                run.cancel(because: .programStops, in: &world, at: now, &effects)
                run.result = .interrupted
                run.trace.result = .interrupted
            }
        }
        // They are stored, and the next process decides them.
        kept = KeptEvents()
        scheduler.removeAll()
        worldHasChanged = false
        states = StateTable([])
    }

    /// Handles the input `acting`.
    mutating func act(_ isActing: Bool, endingRuns endsRuns: Bool, at now: Instant, _ effects: inout [Effect]) {
        self.isActing = isActing
        world.isPaused = !isActing && !endsRuns
        guard endsRuns else { return }
        for group in scheduler.groups.keys.sorted() { endQueued(in: group, as: .interrupted, &effects) }
        for id in scheduler.ids { interrupt(id, because: .otherEngineLeads, at: now, &effects) }
        drop(kept.takeAll(), because: "another engine leads", &effects)
    }

    /// Handles the input `abandoned`.
    mutating func abandon(_ starts: [ButtonID: Instant], at now: Instant, _ effects: inout [Effect]) {
        func isGivenUp(_ button: ButtonID?, _ time: Instant) -> Bool {
            button.flatMap { starts[$0] }.map { time >= $0 } ?? false
        }
        // A chord that waited for one of these buttons may fail now, and release the presses of others.
        let released = recogniser.handle(.abandoned(starts.keys.sorted()), at: now)
        let (rules, index) = (set.rules, index)
        for group in scheduler.groups.keys.sorted() {
            endQueued(in: group, as: .interrupted, &effects) { cause, addedAt in
                index.buttons(of: cause, rules[group.rule]).contains { isGivenUp($0, addedAt) }
            }
        }
        for id in scheduler.ids {
            guard let run = scheduler.runs[id],
                index.buttons(of: run.cause, rules[run.rule]).contains(where: { isGivenUp($0, run.addedAt) })
                    || run.continued.contains(where: { isGivenUp($0, $1) })
            else { continue }
            interrupt(id, because: .givenUp, at: now, &effects)
        }
        for button in starts.keys.sorted() {
            guard let start = starts[button] else { continue }
            drop(kept.take(of: button, since: start), because: "its presses are reported as interrupted", &effects)
        }
        recognisedEarlier(released, at: now, &effects)
    }

    /// Handles events in which only presses from before a pause are recognised.
    mutating func recognisedEarlier(_ events: [RecognisedEvent], at now: Instant, _ effects: inout [Effect]) {
        actsOnEarlier = isPaused
        recognised(events, at: now, &effects)
        actsOnEarlier = false
    }

    /// Handles the input `inherited`.
    mutating func inherit(_ button: ButtonID, mayBeDown: Bool, at now: Instant, _ effects: inout [Effect]) {
        recognised(recogniser.handle(.inherited(button, mayBeDown: mayBeDown), at: now), at: now, &effects)
        forgetHeld(button, where: { _ in true }, at: now, &effects)
    }

    /// Parts of a button do not count as held any more.
    mutating func forgetHeld(
        _ button: ButtonID, where isForgotten: (ButtonPart?) -> Bool, at now: Instant, _ effects: inout [Effect]
    ) {
        let held = world.held.filter { $0.button != button || !isForgotten($0.part) }
        guard held.count < world.held.count else { return }
        world.held = held
        let isHeld = world.isHeld(button)
        for declaration in declarations(of: button) { world.buttons[declaration].isHeld = isHeld }
        worldHasChanged = true
        release(button, at: now, &effects)
    }

    private mutating func interrupt(
        _ id: RunID, because reason: CancelReason, at now: Instant, _ effects: inout [Effect]
    ) {
        resume(id, at: now, &effects) { run, world, effects in
            run.cancel(because: reason, in: &world, at: now, &effects)
            run.result = .interrupted
            run.trace.result = .interrupted
        }
    }
}

extension RuleIndex {
    /// The buttons whose presses have caused a run of a rule. Of a chord these are all, although the cause names only the last one that
    /// was pressed.
    fileprivate func buttons(of cause: RunCause, _ rule: Rule) -> Set<ButtonID?> {
        guard cause.facts.event == EventName.chord else { return [cause.button] }
        return rule.triggers.reduce(into: [cause.button]) { buttons, trigger in
            guard case .chord(let members, _, _) = trigger.origin else { return }
            let chord = members.map { buttonByDeclaration.indices.contains($0) ? buttonByDeclaration[$0] : nil }
            if chord.contains(cause.button) { buttons.formUnion(chord) }
        }
    }
}
