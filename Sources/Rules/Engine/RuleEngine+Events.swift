import ButtonModel
import Expressions
import Gestures

// Events of buttons, and the rules that they trigger.
extension RuleEngine {
    mutating func recognised(_ recognised: [RecognisedEvent], at now: Instant, _ effects: inout [Effect]) {
        for event in recognised { self.recognised(event, at: now, &effects) }
    }

    mutating func recognised(_ recognised: RecognisedEvent, at now: Instant, _ effects: inout [Effect]) {
        effects.append(.recognised(recognised))
        let wasReleased = follow(recognised)
        var matches = index.matches(recognised)
        let isKept = !kept.isEmpty(for: recognised.button)
        var waiting = runs(waitingFor: recognised)
        if let claimant = claims.claimant(of: recognised) {
            matches = []
            waiting.removeAll { $0.run != claimant }
        }
        if !matches.isEmpty || isKept || !waiting.isEmpty {
            let event = event(recognised, at: now)
            if isKept {
                decideBefore(event, at: now, &effects)
                // A stored event that is decided now can end a run that waits.
                waiting.removeAll { !isWaitingForEvent($0.run) }
            }
            if waiting.isEmpty {
                judgeAndStart(event, matches, .all, at: now, &effects)
            } else {
                judgeAndStart(event, matches, continuing: waiting, at: now, &effects)
            }
            if isKept || recognised.wasQueued { decideAfter(event, at: now, &effects) }
        }
        note(recognised)
        if wasReleased { release(recognised.button, at: now, &effects) }
        advance(at: now, &effects)
    }

    /// Handles `connected`, `disconnected` and `battery_low`.
    mutating func occurred(
        _ what: TriggerEvent, of button: ButtonID, at now: Instant, _ effects: inout [Effect]
    ) {
        let matches = index.matches(EventKey(what), of: button)
        let waiting = runs(waitingFor: what, of: button, at: now)
        if !waiting.isEmpty {
            judgeAndStart(event(what.name, of: button, at: now), matches, continuing: waiting, at: now, &effects)
        } else if !matches.isEmpty {
            judgeAndStart(event(what.name, of: button, at: now), matches, .all, at: now, &effects)
        }
        advance(at: now, &effects)
    }
}

// MARK: - Rules

extension RuleEngine {
    /// Judges the matching rules, then starts or stops each. Rules with `fallback` are judged only if no ordinary rule
    /// passed its conditions, now or earlier in the same press.
    mutating func judgeAndStart(
        _ event: Event, _ matches: [RuleIndex.Match], _ gates: GateSet, at now: Instant, _ effects: inout [Effect]
    ) {
        let verdicts = judgeAll(event, matches, gates, at: now)
        for verdict in verdicts { carryOut(verdict, event, at: now, &effects) }
        guard let presses = event.presses, let source = event.source else { return }
        if verdicts.contains(where: { $0.judgement.stoppedBy == nil }) { claims.wasSeen(event) }
        if verdicts.contains(where: { !set.rules[$0.match.rule].isFallback && $0.judgement.handlesPress }) {
            handledPresses[source, default: RecentPresses()].insert(presses)
        }
    }

    struct Judged {
        var match: RuleIndex.Match
        var cause: RunCause
        var judgement: Judgement
    }

    /// Judges the matching rules in document order, fallback rules after the others.
    mutating func judgeAll(
        _ event: Event, _ matches: [RuleIndex.Match], _ gates: GateSet, isExplaining: Bool = false,
        at now: Instant
    ) -> [Judged] {
        guard isActing || isExplaining || actsOnEarlier else { return [] }
        let hasConditions = matches.contains { !set.rules[$0.rule].conditions.isEmpty }
        var snapshot = hasConditions ? snapshot(for: event, at: now) : EvaluationContext()
        var verdicts: [Judged] = []
        func judge(_ match: RuleIndex.Match) {
            let triggers = set.rules[match.rule].triggers
            let trigger = triggers.indices.contains(match.trigger) ? triggers[match.trigger] : nil
            let cause = event.cause(for: trigger)
            let judgement = self.judge(
                match.rule, cause, gates, endOf: event.hold, in: &snapshot, isExplaining: isExplaining, at: now)
            verdicts.append(Judged(match: match, cause: cause, judgement: judgement))
        }
        for match in matches where !set.rules[match.rule].isFallback { judge(match) }
        if !verdicts.contains(where: { $0.judgement.handlesPress }), !isHandled(event) {
            for match in matches where set.rules[match.rule].isFallback { judge(match) }
        }
        if hasConditions { world.draws = snapshot.draws }
        return verdicts
    }

    private func isHandled(_ event: Event) -> Bool {
        guard let presses = event.presses, let source = event.source else { return false }
        return handledPresses[source]?.contains(presses) ?? false
    }

    mutating func carryOut(
        _ verdict: Judged, _ event: Event, at now: Instant, _ effects: inout [Effect]
    ) {
        let (match, cause, judgement) = (verdict.match, verdict.cause, verdict.judgement)
        if judgement.hasConditionError { records[match.rule].statistics.conditionErrors += 1 }
        if judgement.isKept {
            keep(event, match, at: now, &effects)
        } else if let gate = judgement.stoppedBy, gate != .mode {
            stop(match.rule, gate, cause, judgement.reason, &effects)
        } else if event.isRotation, addTurn(event, match, at: now) {
            return
        } else if let gate = judgement.stoppedBy {
            stop(match.rule, gate, cause, judgement.reason, &effects)
        } else {
            enqueue(match.rule, cause, at: now, &effects)
        }
    }

    mutating func stop(
        _ rule: Int, _ gate: Gate, _ cause: RunCause, _ reason: String, _ effects: inout [Effect]
    ) {
        if let outcome = Outcome(rawValue: gate.rawValue) { records[rule].note(outcome) }
        let match = StoppedMatch(
            gate: gate, reason: reason, button: cause.button, event: cause.facts.event, at: cause.at)
        stoppedMatches.note(match, of: set.rules[rule].id)
        effects.append(.stopped(rule: set.rules[rule].id, gate, cause, reason: reason))
    }
}

extension Judgement {
    /// True if fallback rules do not apply any more, even if the rule cannot run now. A kept event is judged later.
    fileprivate var handlesPress: Bool { conditionsHold || isKept }
}

// MARK: - Stored events with `keep: last`

extension RuleEngine {
    private mutating func keep(
        _ event: Event, _ match: RuleIndex.Match, at now: Instant, _ effects: inout [Effect]
    ) {
        guard let button = event.cause.button else { return }
        let rule = set.rules[match.rule]
        let stored = KeptEvent(
            rule: rule.id, fingerprint: rule.fingerprint, trigger: match.trigger, button: button, number: keptCount,
            cause: event.cause, hold: event.hold)
        effects.append(.store(.kept(rule: rule.id, button, stored)))
        guard let earlier = kept.keep(event, of: button, number: keptCount, for: match, at: now) else { return }
        stop(
            match.rule, .queued, cause(of: earlier), "a later stored event arrived, and only the last one is used",
            &effects)
    }

    private mutating func decideBefore(_ event: Event, at now: Instant, _ effects: inout [Effect]) {
        guard let button = event.cause.button else { return }
        if event.cause.facts.wasQueued {
            kept.extend(button, at: now)
        } else {
            // A live event shows that all stored events have arrived, but their gesture may still be undecided.
            let rules = set.rules
            decide(kept.take(of: button) { !event.isRawPress || !rules[$0].waitsForGestures }, at: now, &effects)
        }
    }

    private mutating func decideAfter(_ event: Event, at now: Instant, _ effects: inout [Effect]) {
        keptCount += 1
        guard event.cause.facts.wasQueuedLast, let button = event.cause.button else { return }
        // The last `up` precedes the gesture that it completes, so rules that wait for gestures are decided later.
        let rules = set.rules
        decide(kept.take(of: button) { !event.isRawPress || !rules[$0].waitsForGestures }, at: now, &effects)
    }

    /// Judges kept events. All rules that kept the same event are judged together.
    mutating func decide(_ events: [KeptEvents.Kept], at now: Instant, _ effects: inout [Effect]) {
        var remaining = events[...]
        while let first = remaining.first {
            let together = remaining.prefix { $0.number == first.number }
            remaining = remaining.dropFirst(together.count)
            let matches = together.map(\.match).sorted(by: RuleIndex.Match.comesFirst)
            for match in matches { forgetKept(set.rules[match.rule].id, first.event.cause.button, &effects) }
            judgeAndStart(first.event, matches, .forKeptEvent, at: now, &effects)
            advance(at: now, &effects)
        }
    }

    /// Removes a decided event from what is stored. The runs that it starts are recorded together with this.
    private func forgetKept(_ rule: String, _ button: ButtonID?, _ effects: inout [Effect]) {
        if let button { effects.append(.store(.kept(rule: rule, button, nil))) }
    }

    /// Drops kept events that are not decided any more.
    mutating func drop(_ events: [KeptEvents.Kept], because reason: String, _ effects: inout [Effect]) {
        for kept in events {
            forgetKept(set.rules[kept.match.rule].id, kept.event.cause.button, &effects)
            stop(kept.match.rule, .queued, cause(of: kept), reason, &effects)
        }
    }

    private func cause(of kept: KeptEvents.Kept) -> RunCause {
        let triggers = set.rules.indices.contains(kept.match.rule) ? set.rules[kept.match.rule].triggers : []
        return kept.event.cause(
            for: triggers.indices.contains(kept.match.trigger) ? triggers[kept.match.trigger] : nil)
    }
}

extension Rule {
    /// True if a trigger of the rule waits for more than `down` or `up`.
    fileprivate var waitsForGestures: Bool {
        triggers.contains { trigger in
            switch trigger.origin {
            case .chord: true
            case .times, .states: false
            case .buttons(_, let events, _): events.contains { $0 != .down && $0 != .up }
            }
        }
    }
}

// MARK: - State of buttons

extension RuleEngine {
    /// Updates which buttons are down.
    ///
    /// - Returns: whether a button was released.
    mutating func follow(_ recognised: RecognisedEvent) -> Bool {
        let source = PressSource(button: recognised.button, part: recognised.part)
        switch recognised.kind {
        case .down, .hold:
            guard world.held.insert(source).inserted else { return false }
        case .up, .holdRelease:
            guard world.held.remove(source) != nil else { return false }
        case .pattern, .chord, .swipe, .rotation: return false
        }
        let isHeld = world.isHeld(recognised.button)
        for declaration in declarations(of: recognised.button) { world.buttons[declaration].isHeld = isHeld }
        worldHasChanged = true
        return recognised.kind == .up || recognised.kind == .holdRelease
    }

    /// Updates `last_event` of a button. `down` and `up` do not count, because they are parts of gestures.
    private mutating func note(_ recognised: RecognisedEvent) {
        guard recognised.kind != .down, recognised.kind != .up, index.entryIndex(of: recognised.button) != nil else {
            return
        }
        devices[recognised.button, default: Device()].lastEvent = recognised.kind.name
        devices[recognised.button, default: Device()].lastEventAt = recognised.at
        updateButtonFacts(recognised.button)
    }

    /// Ends `repeat: while: held` in the runs that this button caused.
    mutating func release(_ button: ButtonID, at now: Instant, _ effects: inout [Effect]) {
        for id in scheduler.ids {
            guard let run = scheduler.runs[id], run.isRepeatingWhileHeld, run.cause.button == button,
                !world.isHeld(run.cause)
            else { continue }
            resume(id, at: now, &effects) { $0.released(in: &$1, at: now, &$2) }
        }
    }
}
