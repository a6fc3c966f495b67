package import ButtonModel
package import Expressions

// The trigger `state`. It fires when the value of a state changes between two known values, by a message that is not
// retained: a start, a reload and a reconnection fire nothing. A `default` is no known value here.
extension RuleEngine {
    /// The separator in a stored key, such as `door_open/state/0/door/`. It is in no name.
    private static let separator = "/state/"
    /// The length to which a value is cut in a stored key.
    private static let keyLength = 64

    /// A change of a state that fires rules.
    private struct StateChange {
        var state: Int
        /// `nil` if the value was not known, because the count began in an earlier process.
        var old: Value?
        var new: Value
        var matches: [RuleIndex.Match] = []
        /// The runs that wait for it.
        var runs: [AwaitingRun] = []

        var firesNothing: Bool { matches.isEmpty && runs.isEmpty }
    }

    /// Follows the values that states have received.
    ///
    /// - Parameter before: the states that may have changed, and their received values until now; `nil` for unknown.
    mutating func statesReceived(
        _ before: [(state: Int, value: Value?)], isRetained: Bool, at now: Instant, _ effects: inout [Effect]
    ) {
        var changes: [StateChange] = []
        for (state, old) in before {
            let new = states.receivedValue(at: state)
            guard new != old || !counts.restored.isEmpty else { continue }
            var change = StateChange(state: state, old: old, new: new ?? .unknown)
            for use in prepared.stateUses[state] ?? [] {
                let key = StateCounts.Key(match: use.match, state: state)
                if let count = counts[key] {
                    // `old` is still the value before the change with which the count began.
                    let context = changeContext(use.trigger, from: count.old, to: new, at: now)
                    if let new, use.trigger.goesOn(new, since: count.first, in: context) { continue }
                    endCount(key, &effects)
                }
                guard let new else { continue }
                resumeCount(key, use.trigger, new, at: now, &effects)
                guard !isRetained, let old, old != new, counts[key] == nil else { continue }
                let context = changeContext(use.trigger, from: old, to: new, at: now)
                guard use.trigger.comes(from: old, in: context), use.trigger.goes(to: new, in: context) else {
                    continue
                }
                if use.trigger.duration == .zero {
                    if change.matches.last?.rule != use.match.rule { change.matches.append(use.match) }
                } else {
                    beginCount(key, use.trigger, from: old, to: new, at: now, &effects)
                }
            }
            if new != old {
                change.runs = runs(
                    waitingForChangeOf: state, from: old, to: new, isRetained: isRetained, at: now, &effects)
            }
            if !change.firesNothing { changes.append(change) }
        }
        for change in changes { fire(change, at: now, &effects) }
    }

    /// The states with `state` triggers among some, and their received values.
    func receivedValues(of indices: [Int]) -> [(state: Int, value: Value?)] {
        guard !prepared.stateUses.isEmpty || !prepared.awaitedStates.isEmpty else { return [] }
        return indices.filter { prepared.stateUses[$0] != nil || prepared.awaitedStates.contains($0) }
            .map { ($0, states.receivedValue(at: $0)) }
    }

    /// Fires the triggers whose values have lasted long enough, and continues the runs that waited for that.
    mutating func fireLastingStates(
        continuing runs: [LastingRun], at now: Instant, _ effects: inout [Effect]
    ) {
        guard !counts.isEmpty || !runs.isEmpty else { return }
        var changes: [StateChange] = []
        for (key, count) in counts.takeDue(at: now) {
            effects.append(.store(.daily(count.storedKey, nil)))
            guard let new = states.receivedValue(at: key.state) else { continue }
            if let last = changes.last, last.state == key.state, last.old == count.old {
                if last.matches.last?.rule != key.match.rule { changes[changes.count - 1].matches.append(key.match) }
            } else {
                changes.append(StateChange(state: key.state, old: count.old, new: new, matches: [key.match]))
            }
        }
        for lasting in runs {
            if let place = changes.firstIndex(where: { $0.state == lasting.state && $0.old == lasting.old }) {
                changes[place].runs.append(lasting.run)
            } else if let new = states.receivedValue(at: lasting.state) {
                changes.append(StateChange(state: lasting.state, old: lasting.old, new: new, runs: [lasting.run]))
            }
        }
        for change in changes { fire(change, at: now, &effects) }
    }

    /// The values for the expressions of a trigger. For a trigger without expressions they are not collected, to save time.
    func changeContext(
        _ trigger: StateTrigger, from old: Value?, to new: Value?, at now: Instant
    ) -> EvaluationContext {
        guard trigger.hasExpressions else { return EvaluationContext() }
        var context = world.environment(for: TriggerFacts(), time: world.wallClock(at: now), at: now)
        context.old = old ?? .unknown
        context.new = new ?? .unknown
        return context
    }

    private mutating func fire(_ change: StateChange, at now: Instant, _ effects: inout [Effect]) {
        let event = event(ofChange: change.state, from: change.old, to: change.new, at: now)
        judgeAndStart(event, change.matches, continuing: change.runs, at: now, &effects)
        advance(at: now, &effects)
    }

    /// The event for the change of a state.
    ///
    /// - Parameter state: an index in `RuleSet.states`.
    func event(ofChange state: Int, from old: Value?, to new: Value, at now: Instant) -> Event {
        let time = world.wallClock(at: now)
        var facts = TriggerFacts()
        facts.event = StateTrigger.eventName
        facts.at = world.timeStamp(time)
        facts.occasion = .state(name: set.states[state].name, old: old?.text ?? "", new: new.text ?? "")
        return Event(cause: RunCause(facts: facts, at: time), at: now)
    }

    /// Why a message that has just come did not start a rule with triggers for its state, for a test that fails; `nil` if the rule
    /// has no such trigger, or if one of them has fired.
    ///
    /// - Parameters:
    ///   - old: the value before the message; `nil` if it was unknown.
    ///   - new: the value since.
    package func reason(
        whyChangeOf state: String, from old: Value?, to new: Value?, didNotStart rule: String, at now: Instant
    ) -> String? {
        guard let rule = names.rules[rule], let index = names.states[state] else { return nil }
        var reason: String?
        for use in prepared.stateUses[index] ?? [] where use.match.rule == rule {
            guard let found = self.reason(whyNoChange: state, use.trigger, from: old, to: new, at: now) else {
                return nil
            }
            reason = found
        }
        return reason
    }

    private func reason(
        whyNoChange state: String, _ trigger: StateTrigger, from old: Value?, to new: Value?, at now: Instant
    ) -> String? {
        guard let new else { return "\(state) became unknown" }
        guard let old else {
            return "\(state) was unknown, and its first value is no change; give it a value in given: or by an earlier "
                + "step"
        }
        let (before, after) = (old.text ?? "", new.text ?? "")
        let context = changeContext(trigger, from: old, to: new, at: now)
        if old == new { return "\(state) was \(after) already" }
        if !trigger.comes(from: old, in: context) { return "\(state) was \(before), which from: does not accept" }
        if !trigger.goes(to: new, in: context) { return "\(state) became \(after), which to: does not accept" }
        guard trigger.duration > .zero else { return nil }
        let duration = DurationText.text(milliseconds: trigger.duration.milliseconds)
        return "\(state) became \(after), but was not so for \(duration)"
    }

    // MARK: Counts

    private mutating func beginCount(
        _ key: StateCounts.Key, _ trigger: StateTrigger, from old: Value?, to new: Value, at now: Instant,
        _ effects: inout [Effect]
    ) {
        let storedKey = storedPrefix(of: key) + (trigger.takesAny ? RuleEngine.shortText(of: new) : "")
        counts.begin(key, StateCounts.Count(storedKey: storedKey, old: old, first: new), until: now + trigger.duration)
        effects.append(.store(.daily(storedKey, world.wallClock(at: now))))
    }

    private mutating func endCount(_ key: StateCounts.Key, _ effects: inout [Effect]) {
        guard let count = counts.end(key) else { return }
        effects.append(.store(.daily(count.storedKey, nil)))
    }

    /// Begins a count of an earlier process again, if the state still has the value; it may have changed meanwhile.
    private mutating func resumeCount(
        _ key: StateCounts.Key, _ trigger: StateTrigger, _ value: Value, at now: Instant, _ effects: inout [Effect]
    ) {
        guard !counts.restored.isEmpty else { return }
        let prefix = storedPrefix(of: key)
        for storedKey in counts.restored.sorted() where storedKey.hasPrefix(prefix) {
            counts.restored.remove(storedKey)
            let context = changeContext(trigger, from: nil, to: value, at: now)
            let goesOn =
                trigger.takesAny
                ? storedKey == prefix + RuleEngine.shortText(of: value) : trigger.goes(to: value, in: context)
            if goesOn {
                beginCount(key, trigger, from: nil, to: value, at: now, &effects)
            } else {
                effects.append(.store(.daily(storedKey, nil)))
            }
        }
    }

    private func storedPrefix(of key: StateCounts.Key) -> String {
        "\(set.rules[key.match.rule].id)\(RuleEngine.separator)\(key.match.trigger)/\(set.states[key.state].name)/"
    }

    private static func shortText(of value: Value) -> String { String((value.text ?? "").prefix(keyLength)) }

    /// Takes the counts of an earlier process out of the stored times.
    ///
    /// - Returns: their keys.
    mutating func restoreCounts(_ stored: some Sequence<String>) -> Set<String> {
        let prefixes = prepared.stateUses.flatMap { state, uses in
            uses.filter { $0.trigger.duration > .zero }
                .map { storedPrefix(of: StateCounts.Key(match: $0.match, state: state)) }
        }
        counts.restored = Set(
            stored.filter { key in
                key.contains(RuleEngine.separator) && prefixes.contains { key.hasPrefix($0) }
            })
        return counts.restored
    }

    /// Keeps the counts of unchanged rules with unchanged states.
    ///
    /// - Parameter before: the states until now.
    mutating func moveCounts(_ moves: RuleIndexMap, from before: [DeclaredState], _ effects: inout [Effect]) {
        guard !counts.isEmpty else { return }
        let (set, names) = (set, names)
        let ended = counts.move { key in
            guard let rule = moves[key.match.rule], let state = names.states[before[key.state].name],
                before[key.state].isSameSource(as: set.states[state])
            else { return nil }
            return StateCounts.Key(match: RuleIndex.Match(rule: rule, trigger: key.match.trigger), state: state)
        }
        let restored = counts.restored
        let kept = restoreCounts(restored)
        for key in ended + restored.subtracting(kept).sorted() { effects.append(.store(.daily(key, nil))) }
    }
}

extension DeclaredState {
    /// True if the values of both come from the same messages.
    func isSameSource(as other: DeclaredState) -> Bool {
        topicName == other.topicName && pointer == other.pointer && type == other.type
            && combination == other.combination
    }
}
