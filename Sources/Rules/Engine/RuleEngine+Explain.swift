import Almanac
package import ButtonModel
package import Expressions
package import Gestures

extension RuleEngine {
    /// Explains which rules would run for this event now. It performs nothing.
    package func explain(_ event: RecognisedEvent, at now: Instant) -> Explanation {
        var matches = index.matches(event)
        if case .rotation(let steps, _) = event.kind {
            matches = index.matches(turnedClockwise: steps > 0, of: event.button, part: event.part)
        }
        // In this copy the button is held or released, as it is when rules are judged.
        var engine = self
        _ = engine.follow(event)
        return engine.explain(engine.event(event, at: now), matches, at: now)
    }

    /// Explains which rules would run for `connected`, `disconnected` or `battery_low`; empty for other events.
    package func explain(_ event: TriggerEvent, of button: ButtonID, at now: Instant) -> Explanation {
        switch event {
        case .connected, .disconnected, .batteryLow:
            explain(
                self.event(event.name, of: button, at: now), index.matches(EventKey(event), of: button), at: now)
        case .down, .up, .pattern, .hold, .holdRelease, .swipe, .rotate: Explanation()
        }
    }

    /// The time of the `at` triggers that fire next, within a minute from a time on; `nil` if there are none.
    package func timeDue(from time: UTCTime) -> UTCTime? { due(from: time).map(\.due).min() }

    /// Explains which rules would run because of `at` triggers at exactly this time. It performs nothing.
    package func explain(timesAt time: UTCTime, at now: Instant) -> Explanation {
        let due = due(from: time).filter { $0.due == time }
        guard let first = due.first else { return Explanation() }
        return explain(event(due: first.due, late: first.late, at: now), due.map(\.match), at: now)
    }

    /// When each rule with `at` triggers is started next by one of them, from a time on. A rule whose times do not come, such as
    /// sunrise near a pole, is left out.
    package func nextTimes(from time: UTCTime) -> [Explanation.NextTime] {
        var earliest: [Int: UTCTime] = [:]
        for timed in prepared.timeTriggers {
            guard let next = next(timed.times, from: time) else { continue }
            earliest[timed.match.rule] = min(earliest[timed.match.rule] ?? next, next)
        }
        return earliest.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map { rule, time in
            Explanation.NextTime(rule: set.rules[rule].id, at: world.timeStamp(time))
        }
    }

    private func due(from time: UTCTime) -> [DueTrigger] {
        prepared.timeTriggers.compactMap { timed in
            guard let next = next(timed.times, from: time), next < time + .seconds(60) else { return nil }
            return DueTrigger(match: timed.match, due: next, late: .zero)
        }
    }

    private func next(_ times: TimesOfDay, from time: UTCTime) -> UTCTime? {
        times.times.compactMap {
            $0.next(after: time + .milliseconds(-1), in: set.timeZone, at: set.coordinates, on: times.weekdays)
        }.min()
    }

    /// Explains which rules would run if a state changed to this value now, or after the time of `for`. It performs nothing.
    ///
    /// - Returns: `nil` without such a state, or if its value is not known, so that no change of it fires.
    package func explain(change name: String, to new: Value, at now: Instant) -> Explanation? {
        guard let state = names.states[name], let old = states.receivedValue(at: state) else { return nil }
        var engine = self
        engine.states.set(new, state, nil, now)
        engine.copyStates([state])
        let matches = (prepared.stateUses[state] ?? []).filter { use in
            let context = engine.changeContext(use.trigger, from: old, to: new, at: now)
            return old != new && use.trigger.comes(from: old, in: context) && use.trigger.goes(to: new, in: context)
        }
        let event = engine.event(ofChange: state, from: old, to: new, at: now)
        var explanation = engine.explain(event, matches.map(\.match), at: now)
        for index in explanation.verdicts.indices {
            let own = matches.filter { set.rules[$0.match.rule].id == explanation.verdicts[index].rule }
            guard let duration = own.map(\.trigger.duration).min(), duration > .zero else { continue }
            explanation.verdicts[index].reasons.append("for: judged \(duration.text) later, if the state stays so")
        }
        return explanation
    }

    private func explain(_ event: Event, _ matches: [RuleIndex.Match], at now: Instant) -> Explanation {
        // A copy of the engine is changed: the ages of states are updated, and random numbers are drawn as for an event at this
        // time.
        var engine = self
        engine.world.refreshAges(at: now)
        engine.world.beginDraws(at: now)
        let verdicts = engine.judgeAll(event, matches, .all, isExplaining: true, at: now)
        let judgedRules = Set(verdicts.map(\.match.rule))
        return Explanation(
            verdicts: verdicts.map { engine.ruleVerdict($0, event, at: now) },
            notConsidered: matches.filter { !judgedRules.contains($0.rule) }.map { set.rules[$0.rule].id })
    }

    private func ruleVerdict(_ verdict: Judged, _ event: Event, at now: Instant) -> Explanation.RuleExplanation {
        let rule = set.rules[verdict.match.rule]
        var judgement = verdict.judgement
        if judgement.isKept {
            // The rule runs if this event is the last stored one, and passes the remaining gates.
            var snapshot = snapshot(for: event, at: now)
            let remaining = judge(
                verdict.match.rule, verdict.cause, .forKeptEvent, in: &snapshot, isExplaining: true, at: now)
            judgement.stoppedBy = remaining.stoppedBy
            judgement.reasons += remaining.reasons.filter { $0.gate != .enabled }
        }
        return Explanation.RuleExplanation(
            rule: rule.id, stoppedBy: judgement.stoppedBy,
            reasons: judgement.reasons.map { "\($0.gate.name): \($0.text)" }, location: rule.location)
    }
}
