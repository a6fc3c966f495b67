import ButtonModel
import Expressions
import Gestures

// Runs in a `wait_for` step, and the events of buttons that continue them.
extension RuleEngine {
    /// A run that an event continues.
    struct AwaitingRun {
        var run: RunID
        /// Where the run waits, and since when. If it is elsewhere when its turn comes, it does not continue.
        var place: [Frame]
        var since: Instant
        /// The id of the trigger that matches.
        var triggerID: String
        var claims: Bool

        init(_ run: Run, _ trigger: Trigger, since: Instant, claims: Bool = false) {
            self.run = run.id
            place = run.frames
            self.since = since
            triggerID = trigger.id ?? ""
            self.claims = claims
        }
    }

    /// An event that may continue runs.
    struct AwaitedEvent {
        var button: ButtonID
        var part: ButtonPart?
        var keys: [EventKey]
        var name: String
        /// When the press began.
        var began: Instant
        /// When the event was done: for the end of a hold, when the button was released.
        var done: Instant
    }

    func runs(waitingFor recognised: RecognisedEvent) -> [AwaitingRun] {
        guard !scheduler.runsWaitingForWorld.isEmpty else { return [] }
        let after: Duration =
            switch recognised.kind {
            case .up, .holdRelease: recognised.heldFor
            case .hold(let after): after
            case .down, .pattern, .chord, .swipe, .rotation: .zero
            }
        return runs(
            waitingFor: AwaitedEvent(
                button: recognised.button, part: recognised.part, keys: index.keys(of: recognised),
                name: recognised.kind.name, began: recognised.at, done: recognised.at + after))
    }

    /// The runs that wait for `connected`, `disconnected` or `battery_low`.
    func runs(waitingFor what: TriggerEvent, of button: ButtonID, at now: Instant) -> [AwaitingRun] {
        guard !scheduler.runsWaitingForWorld.isEmpty else { return [] }
        return runs(
            waitingFor: AwaitedEvent(
                button: button, keys: [EventKey(what)], name: what.name, began: now, done: now))
    }

    /// The runs that an event continues: those that claim it, then the others, each from the oldest.
    private func runs(waitingFor event: AwaitedEvent) -> [AwaitingRun] {
        var claiming: [AwaitingRun] = []
        var others: [AwaitingRun] = []
        for id in runsWaitingForEvents {
            guard let run = scheduler.runs[id], case .event(let awaited) = run.waiting,
                isLater(event, than: awaited.since, run),
                case .waitFor(let wait)? = run.currentStep(in: world)?.action,
                let trigger = wait.triggers.first(where: {
                    index.matches($0, event.keys, of: event.button, part: event.part)
                })
            else { continue }
            let found = AwaitingRun(run, trigger, since: awaited.since, claims: wait.claims)
            if wait.claims { claiming.append(found) } else { others.append(found) }
        }
        return claiming + others
    }

    /// True if the event was done after the step began. At the same instant, a gesture of the press that started the run
    /// is not later.
    private func isLater(_ event: AwaitedEvent, than since: Instant, _ run: Run) -> Bool {
        guard event.done == since else { return event.done > since }
        return run.cause.button != event.button || run.cause.at != world.wallClock(at: event.began)
            || run.cause.facts.event == event.name
    }

    /// The runs in a `wait_for`, from the oldest.
    var runsWaitingForEvents: [RunID] { scheduler.runsWaitingForWorld.filter(isWaitingForEvent).sorted() }

    /// Continues the runs that wait for an event, and then starts or stops the rules that it triggers. The rules are judged
    /// first, so that a run does not change whether a rule matches the same event.
    ///
    /// A run that claims the event is the only one that sees it, and the rest of its press. A press for which a run waited
    /// does not restart this run, and rules with `fallback` do not see it.
    mutating func judgeAndStart(
        _ event: Event, _ matches: [RuleIndex.Match], continuing runs: [AwaitingRun], at now: Instant,
        _ effects: inout [Effect]
    ) {
        guard !runs.isEmpty else { return judgeAndStart(event, matches, .all, at: now, &effects) }
        if let presses = event.presses, let source = event.source {
            handledPresses[source, default: RecentPresses()].insert(presses)
        }
        if let first = runs.first, first.claims {
            claims.claim(event, for: first.run)
            return `continue`(first, event, at: now, &effects)
        }
        claims.wasSeen(event)
        let rules = set.rules
        let verdicts = judgeAll(event, matches.filter { !rules[$0.rule].isFallback }, .all, at: now)
        let groups = Set(runs.compactMap { scheduler.groupOfRun[$0.run] })
        for run in runs { `continue`(run, event, at: now, &effects) }
        for verdict in verdicts {
            let rule = verdict.match.rule
            let mode = rules[rule].mode
            if groups.contains(concurrencyGroup(of: rule, event.cause.button)),
                isBusy(verdict, mode, isRotation: event.isRotation)
            {
                let what = event.cause.button == nil ? "event" : "press"
                stop(rule, .mode, verdict.cause, "\(mode.rawValue): its run waited for this \(what)", &effects)
            } else {
                carryOut(verdict, event, at: now, &effects)
            }
        }
    }

    /// True if a rule does not start because a run of its own waited for the event. A kept event is stopped at once, because the
    /// run may be over when it is judged again. With `single`, a rule that is busy is stopped for this reason, too. Turns of a dial
    /// are not: they are added up while a run is in progress, whether or not it waited for them.
    private func isBusy(_ verdict: Judged, _ mode: Rule.Mode, isRotation: Bool) -> Bool {
        switch mode {
        case .restart: verdict.judgement.stoppedBy == nil
        case .single: verdict.judgement.isKept || verdict.judgement.stoppedBy == .mode && !isRotation
        case .queued, .parallel: false
        }
    }

    private mutating func `continue`(
        _ awaiting: AwaitingRun, _ event: Event, at now: Instant, _ effects: inout [Effect]
    ) {
        // An earlier run, or an earlier event of the same input, may have ended the wait.
        guard let run = scheduler.runs[awaiting.run], run.frames == awaiting.place,
            case .event(let wait) = run.waiting, wait.since == awaiting.since
        else { return }
        var facts = event.cause.facts
        facts.id = awaiting.triggerID
        let button = event.presses != nil || event.isRotation ? event.cause.button : nil
        resume(awaiting.run, at: now, &effects) { run, world, effects in
            if let button { run.continued[button] = now }
            run.happened(facts, in: &world, at: now, &effects)
        }
    }

    /// Cancels the runs of a rule that wait for an event, because the rule was disabled.
    mutating func endWaitsForEvents(of rule: Int, at now: Instant, _ effects: inout [Effect]) {
        guard !scheduler.runsWaitingForWorld.isEmpty else { return }
        for id in scheduler.ids where scheduler.runs[id]?.rule == rule && isWaitingForEvent(id) {
            cancel(id, because: .ruleDisabled, at: now, &effects)
        }
    }

    func isWaitingForEvent(_ id: RunID) -> Bool { scheduler.runs[id]?.isWaitingForEvent ?? false }

    /// True if the run may wait for an event: its rule is enabled, or the run was requested.
    func mayWaitForEvent(_ run: Run) -> Bool { world.rules[run.rule].isEnabled || run.cause.facts.isManual }
}

extension RuleIndex {
    /// The keys under which triggers wait for an event.
    func keys(of recognised: RecognisedEvent) -> [EventKey] {
        let key = EventKey(recognised.kind)
        guard case .hold(let nanoseconds) = key else { return [key] }
        let holdAfter = self[recognised.button]?.vocabulary.holdAfter ?? DeclaredButton.standardHoldAfter
        return nanoseconds == holdAfter.nanoseconds ? [key, .standardHold] : [key]
    }

    /// True if the trigger of a `wait_for` step waits for an event with one of the keys.
    func matches(_ trigger: Trigger, _ keys: [EventKey], of button: ButtonID, part: ButtonPart?) -> Bool {
        switch trigger.origin {
        case .buttons(let selectors, let events, let parts):
            return (parts.isEmpty || part.map(parts.contains) ?? false)
                && events.contains { keys.contains(EventKey($0)) } && selectors.contains { covers($0, button) }
        case .chord(let members, let within, let event):
            let buttons = Set(
                members.compactMap { buttonByDeclaration.indices.contains($0) ? buttonByDeclaration[$0] : nil })
            return keys.contains { key in
                guard case .chord(let chord) = key, chords.indices.contains(chord) else { return false }
                return Set(chords[chord].members) == buttons && chords[chord].within == within
                    && chords[chord].event == event
            }
        case .times, .states: return false
        }
    }

    /// True if the selector of a trigger applies to the button.
    func covers(_ selector: ButtonSelector, _ button: ButtonID) -> Bool {
        switch selector {
        case .any: true
        case .declared(let declaration): self[button]?.declared.contains(declaration) ?? false
        case .hardware(let hardware): self[button].map { hardware.matches($0.identity) } ?? false
        }
    }
}
