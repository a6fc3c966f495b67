import ButtonModel
import Gestures

/// What the rules wait for, by the ways in which they mean buttons: all that can be known of it without the buttons.
struct Interests: Sendable {
    /// The rules for one button, or for all that are described in one way.
    struct Interest: Sendable {
        /// Without the rules for `any`; so is `uses`.
        var table: RuleIndex.Table = [:]
        /// The events some rule waits for, each with the first that does.
        var uses: [(event: TriggerEvent, rule: Int)] = []

        /// In document order.
        fileprivate mutating func add(_ match: RuleIndex.Match, for events: [TriggerEvent]) {
            for event in events where table.add(match, for: event) { uses.append((event, match.rule)) }
        }

        /// The rules of both, in document order.
        mutating func merge(_ other: Interest) {
            for (key, matches) in other.table {
                let all = (table[key, default: []] + matches).sorted(by: RuleIndex.Match.comesFirst)
                table[key] = all.enumerated().filter { place, match in
                    place == 0 || all[place - 1].rule != match.rule || all[place - 1].trigger != match.trigger
                }.map(\.element)
            }
            for use in other.uses {
                if let place = uses.firstIndex(where: { $0.event == use.event }) {
                    uses[place].rule = min(uses[place].rule, use.rule)
                } else {
                    uses.append(use)
                }
            }
        }
    }

    struct ChordTrigger: Sendable {
        var match: RuleIndex.Match
        /// Places in `RuleSet.buttons`.
        var members: [Int]
        var within: Duration
        var event: ChordEvent
        var holdAfter: Duration
    }

    /// By the places of `RuleSet.buttons`.
    private(set) var declared: [Interest]
    /// What a button is listened for that is meant by the declaration at that place and by nothing else.
    private(set) var vocabularies: [Vocabulary] = []
    /// The declarations that describe a button in one way.
    private(set) var declarations: [DeclaredButton.Hardware: [Int]]
    /// Described in the trigger itself.
    private(set) var described: [DeclaredButton.Hardware: Interest] = [:]
    /// Rules for `any` concern buttons nobody has declared as well.
    private(set) var any = Interest()
    private(set) var chords: [ChordTrigger] = []

    init(_ set: RuleSet) {
        declared = Array(repeating: Interest(), count: set.buttons.count)
        declarations = Dictionary(grouping: set.buttons.indices) { set.buttons[$0].hardware }
        for number in set.rules.indices {
            for (place, trigger) in set.rules[number].triggers.enumerated() {
                add(trigger.source, RuleIndex.Match(rule: number, trigger: place), of: set)
            }
        }
        vocabularies = set.buttons.indices.map { vocabulary(of: declared[$0], set.buttons[$0]) }
    }

    private mutating func add(_ source: Trigger.Source, _ match: RuleIndex.Match, of set: RuleSet) {
        switch source {
        case .buttons(let selectors, let events, let parts):
            var match = match
            match.parts = parts
            for selector in selectors {
                switch selector {
                case .any: any.add(match, for: events)
                case .declared(let place):
                    if declared.indices.contains(place) { declared[place].add(match, for: events) }
                case .hardware(let description): described[description, default: Interest()].add(match, for: events)
                }
            }
        case .chord(let members, let within, let event):
            guard members.allSatisfy(set.buttons.indices.contains) else { return }
            let holdAfter = members.map { set.buttons[$0].holdAfter }.max() ?? DeclaredButton.standardHoldAfter
            chords.append(
                ChordTrigger(match: match, members: members, within: within, event: event, holdAfter: holdAfter))
        }
    }

    /// - Parameter button: the declaration whose times count.
    func vocabulary(of interest: Interest, _ button: DeclaredButton? = nil) -> Vocabulary {
        // Turns are told to others in this time, whatever rules wait for.
        var vocabulary = Vocabulary(collects: [TriggerEvent.standardCollect])
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
    /// A trigger that says an event twice stands there once.
    ///
    /// - Returns: whether it is the first rule that waits for the event.
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
        case .rotate(_, let collect): collects.insert(collect)
        case .down, .up, .swipe, .connected, .disconnected, .batteryLow: break
        }
    }
}
