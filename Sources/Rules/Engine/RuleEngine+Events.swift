import ButtonModel
import Expressions
import Gestures

// What a button did, met by the rules that wait for it.
extension RuleEngine {
    mutating func recognised(_ recognised: [Recognised], at now: Instant, _ effects: inout [Effect]) {
        for event in recognised { self.recognised(event, at: now, &effects) }
    }

    mutating func recognised(_ recognised: Recognised, at now: Instant, _ effects: inout [Effect]) {
        effects.append(.recognised(recognised))
        let wasLetGo = follow(recognised)
        let matches = index.matches(recognised)
        let isKept = !kept.isEmpty(for: recognised.button)
        if !matches.isEmpty || isKept {
            let event = event(recognised, at: now)
            if isKept { decideBefore(event, at: now, &effects) }
            meet(event, matches, .all, at: now, &effects)
            if isKept || recognised.wasQueued { decideAfter(event, at: now, &effects) }
        }
        note(recognised)
        if wasLetGo { release(recognised.button, at: now, &effects) }
        advance(at: now, &effects)
    }

    /// `connected`, `disconnected`, `battery_low`.
    mutating func occurred(
        _ what: TriggerEvent, of button: ButtonID, at now: Instant, _ effects: inout [Effect]
    ) {
        let matches = index.matches(EventKey(what), of: button)
        if !matches.isEmpty { meet(event(what.name, of: button, at: now), matches, .all, at: now, &effects) }
        advance(at: now, &effects)
    }
}

// MARK: - Rules

extension RuleEngine {
    /// Ordinary rules first; those with `fallback` only if none of them, now or earlier in the same press, got past its
    /// conditions. All are judged before any begins.
    mutating func meet(
        _ event: Event, _ matches: [RuleIndex.Match], _ gates: GatesToAsk, at now: Instant, _ effects: inout [Effect]
    ) {
        let verdicts = judgeAll(event, matches, gates, at: now)
        for verdict in verdicts { carryOut(verdict, event, at: now, &effects) }
        guard let presses = event.presses, let button = event.cause.button else { return }
        if verdicts.contains(where: { !set.rules[$0.match.rule].isFallback && $0.judgement.takesPress }) {
            taken[PressSource(button: button, part: event.part), default: HandledPresses()].insert(presses)
        }
    }

    struct Verdict {
        var match: RuleIndex.Match
        var cause: RunCause
        var judgement: Judgement
    }

    /// In the order in which they are told: document order, fallback rules after the others.
    func judgeAll(
        _ event: Event, _ matches: [RuleIndex.Match], _ gates: GatesToAsk, isExplaining: Bool = false,
        at now: Instant
    ) -> [Verdict] {
        let someAsk = matches.contains { !set.rules[$0.rule].conditions.isEmpty }
        var snapshot = someAsk ? snapshot(for: event, at: now) : Environment()
        var verdicts: [Verdict] = []
        func judge(_ match: RuleIndex.Match) {
            let triggers = set.rules[match.rule].triggers
            let trigger = triggers.indices.contains(match.trigger) ? triggers[match.trigger] : nil
            let cause = event.cause(for: trigger)
            let judgement = self.judge(
                match.rule, cause, gates, endOf: event.hold, in: &snapshot, isExplaining: isExplaining, at: now)
            verdicts.append(Verdict(match: match, cause: cause, judgement: judgement))
        }
        for match in matches where !set.rules[match.rule].isFallback { judge(match) }
        if !verdicts.contains(where: { $0.judgement.takesPress }), !isTaken(event) {
            for match in matches where set.rules[match.rule].isFallback { judge(match) }
        }
        return verdicts
    }

    private func isTaken(_ event: Event) -> Bool {
        guard let presses = event.presses, let button = event.cause.button else { return false }
        return taken[PressSource(button: button, part: event.part)]?.contains(presses) ?? false
    }

    private mutating func carryOut(
        _ verdict: Verdict, _ event: Event, at now: Instant, _ effects: inout [Effect]
    ) {
        let (match, cause, judgement) = (verdict.match, verdict.cause, verdict.judgement)
        if judgement.hasConditionError { records[match.rule].statistics.conditionErrors += 1 }
        if judgement.isKept {
            keep(event, match, at: now, &effects)
        } else if let gate = judgement.stoppedBy, gate != .mode {
            stop(match.rule, gate, cause, judgement.reason, &effects)
        } else if event.isRotation, addTurn(event, match) {
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
        effects.append(.stopped(rule: set.rules[rule].id, gate, cause, reason: reason))
    }
}

extension Judgement {
    /// The press belongs to this rule, whether or not it is free to run. What is kept will be judged later.
    fileprivate var takesPress: Bool { conditionsHold || isKept }
}

// MARK: - The last of the stored events

extension RuleEngine {
    private mutating func keep(
        _ event: Event, _ match: RuleIndex.Match, at now: Instant, _ effects: inout [Effect]
    ) {
        guard let button = event.cause.button else { return }
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
            // A live event says that the stored ones have all come; a gesture of stored presses may still be undecided.
            let rules = set.rules
            decide(kept.take(of: button) { !event.isRawPress || !rules[$0].waitsForGestures }, at: now, &effects)
        }
    }

    private mutating func decideAfter(_ event: Event, at now: Instant, _ effects: inout [Effect]) {
        keptCount += 1
        guard event.cause.facts.wasQueuedLast, let button = event.cause.button else { return }
        // The gesture a last `up` completes comes after that `up`: only it ends the wait of a rule for gestures.
        let rules = set.rules
        decide(kept.take(of: button) { !event.isRawPress || !rules[$0].waitsForGestures }, at: now, &effects)
    }

    /// What one event brought to several rules meets them together.
    mutating func decide(_ events: [KeptEvents.Kept], at now: Instant, _ effects: inout [Effect]) {
        var rest = events[...]
        while let first = rest.first {
            let together = rest.prefix { $0.number == first.number }
            rest = rest.dropFirst(together.count)
            let matches = together.map(\.match).sorted(by: RuleIndex.Match.comesFirst)
            meet(first.event, matches, .ofKept, at: now, &effects)
            advance(at: now, &effects)
        }
    }

    func cause(of kept: KeptEvents.Kept) -> RunCause {
        let triggers = set.rules.indices.contains(kept.match.rule) ? set.rules[kept.match.rule].triggers : []
        return kept.event.cause(
            for: triggers.indices.contains(kept.match.trigger) ? triggers[kept.match.trigger] : nil)
    }
}

extension Rule {
    /// Some of its triggers is more than `down` or `up`.
    fileprivate var waitsForGestures: Bool {
        triggers.contains { trigger in
            switch trigger.source {
            case .chord: true
            case .buttons(_, let events, _): events.contains { $0 != .down && $0 != .up }
            }
        }
    }
}

// MARK: - What is known of buttons

extension RuleEngine {
    /// What is down now.
    ///
    /// - Returns: whether something was let go.
    private mutating func follow(_ recognised: Recognised) -> Bool {
        let source = PressSource(button: recognised.button, part: recognised.part)
        switch recognised.what {
        case .down, .hold:
            guard world.held.insert(source).inserted else { return false }
        case .up, .holdRelease:
            guard world.held.remove(source) != nil else { return false }
        case .pattern, .chord, .swipe, .rotation: return false
        }
        let isHeld = world.isHeld(recognised.button)
        for place in declarations(of: recognised.button) { world.buttons[place].isHeld = isHeld }
        worldMoved = true
        return recognised.what == .up || recognised.what == .holdRelease
    }

    /// `last_event`: what was done with the button last. `down` and `up` are parts of it.
    private mutating func note(_ recognised: Recognised) {
        guard recognised.what != .down, recognised.what != .up, index.place(of: recognised.button) != nil else {
            return
        }
        devices[recognised.button, default: Device()].lastEvent = recognised.what.name
        devices[recognised.button, default: Device()].lastEventAt = recognised.at
        showDevice(recognised.button)
    }

    /// `repeat: while: held` ends.
    mutating func release(_ button: ButtonID, at now: Instant, _ effects: inout [Effect]) {
        for id in scheduler.ids {
            guard let run = scheduler.runs[id], run.isRepeatingWhileHeld, run.cause.button == button,
                !world.isHeld(run.cause)
            else { continue }
            resume(id, at: now, &effects) { $0.released(in: &$1, at: now, &$2) }
        }
    }
}
