import ButtonModel
import Gestures

/// The triggers of all rules by button declaration, hardware description, or `any`. It depends only on the rule set,
/// and not on the buttons that exist.
struct TriggerTable: Sendable {
    /// The rules for a button, or for all buttons that match a description.
    struct Triggers: Sendable {
        /// The triggers by event, without those for `any`. The same applies to `uses`.
        var table: RuleIndex.Table = [:]
        /// The events for which `wait_for` steps of rules wait. They start no rule.
        var awaited: RuleIndex.Table = [:]
        /// The events for which rules wait, also in steps, each with the first of these rules.
        var uses: [(event: TriggerEvent, rule: Int)] = []

        /// Must be called in document order.
        fileprivate mutating func add(_ match: RuleIndex.Match, for events: [TriggerEvent], isAwaited: Bool) {
            guard !isAwaited else { return addAwaited(match, for: events) }
            for event in events where table.add(match, for: event) { uses.append((event, match.rule)) }
        }

        /// Adds an event for which a `wait_for` step waits.
        private mutating func addAwaited(_ match: RuleIndex.Match, for events: [TriggerEvent]) {
            for event in events where awaited.add(match, for: event) {
                if !uses.contains(where: { $0.event == event }) { uses.append((event, match.rule)) }
            }
        }

        /// Adds the rules of another interest, in document order.
        mutating func merge(_ other: Triggers) {
            for (key, matches) in other.table {
                let all = (table[key, default: []] + matches).sorted(by: RuleIndex.Match.comesFirst)
                table[key] = all.enumerated().filter { index, match in
                    index == 0 || all[index - 1].rule != match.rule || all[index - 1].trigger != match.trigger
                }.map(\.element)
            }
            for (key, matches) in other.awaited { awaited[key, default: []] += matches }
            for use in other.uses {
                if let index = uses.firstIndex(where: { $0.event == use.event }) {
                    uses[index].rule = min(uses[index].rule, use.rule)
                } else {
                    uses.append(use)
                }
            }
        }
    }

    struct ChordTrigger: Sendable {
        var match: RuleIndex.Match
        /// True if a `wait_for` step waits for the chord, which starts no rule.
        var isAwaited: Bool
        /// Indices in `RuleSet.buttons`.
        var members: [Int]
        var within: Duration
        var event: ChordEvent
        var holdAfter: Duration
    }

    /// The triggers of each declaration, by index in `RuleSet.buttons`.
    private(set) var declared: [Triggers]
    /// The vocabulary for a button to which only this declaration applies, by index in `RuleSet.buttons`.
    private(set) var vocabularies: [Vocabulary] = []
    /// The indices of all declarations with a description of hardware.
    private(set) var declarations: [DeclaredButton.Hardware: [Int]]
    /// The interests of triggers that describe the hardware themselves.
    private(set) var described: [DeclaredButton.Hardware: Triggers] = [:]
    /// The interest of rules for `any`, which apply to undeclared buttons, too.
    private(set) var any = Triggers()
    private(set) var chords: [ChordTrigger] = []

    init(_ set: RuleSet) {
        declared = Array(repeating: Triggers(), count: set.buttons.count)
        declarations = Dictionary(grouping: set.buttons.indices) { set.buttons[$0].hardware }
        var awaited = AwaitedTriggers(set)
        for number in set.rules.indices {
            for (index, trigger) in set.rules[number].triggers.enumerated() {
                add(trigger.origin, RuleIndex.Match(rule: number, trigger: index), isAwaited: false, of: set)
            }
            for (index, trigger) in awaited.triggers(of: set.rules[number]).enumerated() {
                add(trigger.origin, RuleIndex.Match(rule: number, trigger: index), isAwaited: true, of: set)
            }
        }
        vocabularies = set.buttons.indices.map { vocabulary(of: declared[$0], set.buttons[$0]) }
    }

    private mutating func add(
        _ source: Trigger.Origin, _ match: RuleIndex.Match, isAwaited: Bool, of set: RuleSet
    ) {
        switch source {
        case .buttons(let selectors, let events, let parts):
            var match = match
            match.parts = parts
            for selector in selectors {
                switch selector {
                case .any: any.add(match, for: events, isAwaited: isAwaited)
                case .declared(let index):
                    if declared.indices.contains(index) {
                        declared[index].add(match, for: events, isAwaited: isAwaited)
                    }
                case .hardware(let description):
                    described[description, default: Triggers()].add(match, for: events, isAwaited: isAwaited)
                }
            }
        case .chord(let members, let within, let event):
            guard members.allSatisfy(set.buttons.indices.contains) else { return }
            let holdAfter = members.map { set.buttons[$0].holdAfter }.max() ?? DeclaredButton.standardHoldAfter
            chords.append(
                ChordTrigger(
                    match: match, isAwaited: isAwaited, members: members, within: within, event: event,
                    holdAfter: holdAfter))
        case .times, .states: break
        }
    }

    /// - Parameter button: the declaration that determines the times.
    func vocabulary(of interest: Triggers, _ button: DeclaredButton? = nil) -> Vocabulary {
        // Rotation is always reported outside the rules, for example over MQTT, with this `collect`, whatever the rules
        // wait for.
        var vocabulary = Vocabulary(rotationDurations: [TriggerEvent.standardCollect])
        if let button {
            vocabulary.holdAfter = button.holdAfter
            vocabulary.clickGap = button.clickGap
            vocabulary.fixedMode = button.triggerMode
        }
        for use in interest.uses { vocabulary.add(use.event) }
        for use in any.uses { vocabulary.add(use.event) }
        return vocabulary
    }
}

extension RuleIndex.Table {
    /// Adds a match. An event that is repeated in a trigger is added only once.
    ///
    /// - Returns: whether it is the first match for the event.
    fileprivate mutating func add(_ match: RuleIndex.Match, for event: TriggerEvent) -> Bool {
        let key = EventKey(event)
        guard let last = self[key]?.last else {
            self[key] = [match]
            return true
        }
        if last.rule != match.rule || last.trigger != match.trigger { self[key]?.append(match) }
        return false
    }
}

extension Vocabulary {
    fileprivate mutating func add(_ event: TriggerEvent) {
        switch event {
        case .pattern(let presses): patterns.insert(presses)
        case .hold(let after): holdStages.insert(after ?? holdAfter)
        case .holdRelease: usesHoldRelease = true
        case .rotate(_, let collect): rotationDurations.insert(collect)
        case .down, .up, .swipe, .connected, .disconnected, .batteryLow: break
        }
    }
}
