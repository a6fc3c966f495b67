import ButtonModel
import Gestures

/// Finds the rules that an event of a button triggers. It is built when rules or buttons change, so that the cost of an
/// event does not depend on the number of rules.
struct RuleIndex: Sendable {
    /// A trigger of a rule that matches an event.
    struct Match: Hashable, Sendable {
        /// An index in `RuleSet.rules`.
        var rule: Int
        /// An index in the rule's `triggers`.
        var trigger: Int
        /// The parts of the trigger; if empty, any part.
        var parts: Set<ButtonPart> = []

        static func comesFirst(_ left: Match, _ right: Match) -> Bool {
            (left.rule, left.trigger) < (right.rule, right.trigger)
        }
    }

    typealias Table = [EventKey: [Match]]

    /// The rules and the vocabulary for a button.
    struct Entry: Sendable {
        var identity: ButtonIdentity
        /// The indices in `RuleSet.buttons` of the declarations that apply to the button. The first gives its name.
        var declared: [Int] = []
        var triggers: TriggerTable.Triggers
        var vocabulary: Vocabulary
    }

    private let triggerTable: TriggerTable
    private(set) var entries: [Entry] = []
    private var entryIndices: [ButtonID: Int] = [:]
    /// The button to which each declaration applies, of several that with the lowest id; by index in `RuleSet.buttons`.
    private(set) var buttonByDeclaration: [ButtonID?] = []
    private(set) var chords: [Chord] = []
    private var rulesOfChords: [[Match]] = []
    /// The first rule of each chord, which may only wait for it in a step.
    private var firstRulesOfChords: [Int] = []
    #if DEBUG
        /// How often a button was resolved, for tests that count the work.
        private(set) var resolvedCount = 0
    #endif

    init(_ triggerTable: TriggerTable) { self.triggerTable = triggerTable }

    subscript(button: ButtonID) -> Entry? { entryIndices[button].map { entries[$0] } }

    func entryIndex(of button: ButtonID) -> Int? { entryIndices[button] }
}

// MARK: - Look-up

extension RuleIndex {
    /// The rules that this event triggers, in document order, each with its first matching trigger.
    func matches(_ event: RecognisedEvent) -> [Match] {
        let key = EventKey(event.kind)
        if case .chord(let chord) = key { return rulesOfChords.indices.contains(chord) ? rulesOfChords[chord] : [] }
        let index = entryIndices[event.button]
        guard case .hold(let nanoseconds) = key, nanoseconds == holdAfter(index).nanoseconds else {
            return matches([key], index, event.part)
        }
        return matches([key, .standardHold], index, event.part)
    }

    /// The rules that this event of a button triggers. `connected`, `disconnected` and `battery_low` have no part.
    func matches(_ key: EventKey, of button: ButtonID, part: ButtonPart? = nil) -> [Match] {
        matches([key], entryIndices[button], part)
    }

    /// The rules that wait for rotation in this direction, for any duration of `collect`.
    func matches(turnedClockwise isClockwise: Bool, of button: ButtonID, part: ButtonPart?) -> [Match] {
        let tables = [entryIndices[button].map { entries[$0].triggers.table }, triggerTable.any.table].compactMap(
            \.self)
        let keys = Set(
            tables.joined().map(\.key).filter { if case .rotate(isClockwise, _) = $0 { true } else { false } })
        return matches(Array(keys), entryIndices[button], part)
    }

    private func matches(_ keys: [EventKey], _ index: Int?, _ part: ButtonPart?) -> [Match] {
        var found: [Match] = []
        var lists = 0
        func add(_ list: [Match]?) {
            guard let list else { return }
            lists += 1
            found += list.lazy.filter { $0.parts.isEmpty || part.map($0.parts.contains) ?? false }
        }
        for key in keys {
            if let index { add(entries[index].triggers.table[key]) }
            add(triggerTable.any.table[key])
        }
        guard found.count > 1 else { return found }
        if lists > 1 { found.sort(by: Match.comesFirst) }
        var last: Int?
        return found.filter { match in
            defer { last = match.rule }
            return match.rule != last
        }
    }

    /// The events that trigger rules for this button or for any button, without chords, each with the first of these rules. An
    /// event is listed twice if it has rules of both kinds.
    func events(of button: ButtonID) -> [(event: TriggerEvent, rule: Int)] {
        (entryIndices[button].map { entries[$0].triggers.uses } ?? []) + triggerTable.any.uses
    }

    /// True if a rule waits for events of this declaration, an index in `RuleSet.buttons`, alone or in a chord.
    func isUsed(_ declaration: Int) -> Bool {
        !triggerTable.declared[declaration].uses.isEmpty
            || triggerTable.chords.contains { $0.members.contains(declaration) }
    }

    func turnedParts(of button: ButtonID) -> Set<ButtonPart> {
        let triggers = [entryIndices[button].map { entries[$0].triggers }, triggerTable.any].compactMap(\.self)
        let tables = triggers.map(\.table) + triggers.map(\.awaited)
        var parts: Set<ButtonPart> = []
        for (key, matches) in tables.joined() {
            guard case .rotate = key else { continue }
            for match in matches { parts.formUnion(match.parts.isEmpty ? Set(ButtonPart.allCases) : match.parts) }
        }
        return parts
    }

    /// The chord with the longest `within` of this button, and its first rule.
    func firstChord(of button: ButtonID) -> (Chord, rule: Int)? {
        chords.indices.filter { chords[$0].members.contains(button) }
            .max { chords[$0].within < chords[$1].within }
            .map { (chords[$0], firstRulesOfChords[$0]) }
    }

    private func holdAfter(_ index: Int?) -> Duration {
        index.map { entries[$0].vocabulary.holdAfter } ?? DeclaredButton.standardHoldAfter
    }
}

// MARK: - Buttons

extension RuleIndex {
    /// Resolves the names and descriptions in the rules to the buttons that exist now.
    ///
    /// - Parameter modes: trigger modes that were set at run time. Modes in the rule files have precedence.
    mutating func resolve(_ set: RuleSet, against identities: [ButtonIdentity], modes: [ButtonID: TriggerMode]) {
        entries = []
        entries.reserveCapacity(identities.count)
        entryIndices = Dictionary(minimumCapacity: identities.count)
        buttonByDeclaration = Array(repeating: nil, count: set.buttons.count)
        add(identities, to: set, modes: modes)
    }

    /// Resolves the names and descriptions in the rules to buttons that were not known before. The result is that of `resolve`
    /// against all buttons, and the time does not depend on the number of the others.
    mutating func add(_ identities: [ButtonIdentity], to set: RuleSet, modes: [ButtonID: TriggerMode]) {
        for identity in identities {
            var entry = entry(of: identity, in: set)
            for index in entry.declared where buttonByDeclaration[index].map({ identity.id < $0 }) ?? true {
                buttonByDeclaration[index] = identity.id
            }
            if entry.vocabulary.fixedMode == nil { entry.vocabulary.fixedMode = modes[identity.id] }
            entryIndices[identity.id] = entries.count
            entries.append(entry)
            entries[entries.count - 1].vocabulary.canSwipeOrTurn = canSwipeOrTurn(identity)
        }
        #if DEBUG
            resolvedCount += identities.count
        #endif
        addChords()
    }

    /// True if a press can become a swipe or a turn: always on a Duo, and on a Twist if a rule waits for rotation while
    /// it is pressed.
    private func canSwipeOrTurn(_ identity: ButtonIdentity) -> Bool {
        !identity.model.swipes.isEmpty
            || identity.model.parts.contains(.push) && turnedParts(of: identity.id).contains(.push)
    }

    private func entry(of identity: ButtonIdentity, in set: RuleSet) -> Entry {
        let descriptions: [DeclaredButton.Hardware] = [
            .uuid(identity.uuid), .serial(identity.serial), .address(identity.id), .nickname(identity.nickname),
        ]
        let declared = descriptions.flatMap { triggerTable.declarations[$0] ?? [] }.sorted()
        let described =
            triggerTable.described.isEmpty ? [] : descriptions.compactMap { triggerTable.described[$0] }
        // Fast path: almost always exactly one declaration applies to a button.
        if let only = declared.first, declared.count == 1, described.isEmpty {
            return Entry(
                identity: identity, declared: declared, triggers: triggerTable.declared[only],
                vocabulary: triggerTable.vocabularies[only])
        }
        var interest = TriggerTable.Triggers()
        for index in declared { interest.merge(triggerTable.declared[index]) }
        for other in described { interest.merge(other) }
        return Entry(
            identity: identity, declared: declared, triggers: interest,
            vocabulary: triggerTable.vocabulary(of: interest, declared.first.map { set.buttons[$0] }))
    }

    /// Resolves the chords. Equal chords of several rules are merged. Chords with missing buttons, or with two names of
    /// the same button, are omitted.
    private mutating func addChords() {
        chords = []
        rulesOfChords = []
        firstRulesOfChords = []
        var known: [Chord: Int] = [:]
        for trigger in triggerTable.chords {
            let members = trigger.members.compactMap { buttonByDeclaration[$0] }
            guard members.count == trigger.members.count, Set(members).count == members.count else { continue }
            let chord = Chord(
                members: members.sorted(), within: trigger.within, event: trigger.event, holdAfter: trigger.holdAfter)
            let index = known[chord] ?? chords.count
            if index == chords.count {
                known[chord] = index
                chords.append(chord)
                rulesOfChords.append([])
                firstRulesOfChords.append(trigger.match.rule)
            }
            guard !trigger.isAwaited, rulesOfChords[index].last?.rule != trigger.match.rule else { continue }
            rulesOfChords[index].append(trigger.match)
        }
    }

    /// The vocabularies by button. Other buttons have `vocabularyOfOthers`.
    var vocabularies: [ButtonID: Vocabulary] { entryIndices.mapValues { entries[$0].vocabulary } }

    var vocabularyOfOthers: Vocabulary { triggerTable.vocabulary(of: TriggerTable.Triggers()) }
}
