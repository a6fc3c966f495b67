import ButtonModel
import Gestures

/// Which rules an event of a button concerns: built when the rules or the buttons change, so that an event costs a
/// look-up however many rules there are.
struct RuleIndex: Sendable {
    /// One trigger of one rule.
    struct Match: Sendable {
        /// A place in `RuleSet.rules`.
        var rule: Int
        /// A place in its triggers.
        var trigger: Int
        /// Empty: any.
        var parts: Set<ButtonPart> = []

        static func comesFirst(_ left: Match, _ right: Match) -> Bool {
            (left.rule, left.trigger) < (right.rule, right.trigger)
        }
    }

    typealias Table = [EventKey: [Match]]

    /// What the rules have to do with one button.
    struct Entry: Sendable {
        var identity: ButtonIdentity
        /// The declarations that mean it, by their places in `RuleSet.buttons`; the first gives it its name.
        var declared: [Int] = []
        /// Without the rules for `any`; so is `uses`.
        var table: Table = [:]
        /// The events some rule waits for, each with the first that does.
        var uses: [(event: TriggerEvent, rule: Int)] = []
        var vocabulary: Vocabulary
    }

    private(set) var entries: [Entry] = []
    private var places: [ButtonID: Int] = [:]
    /// By the places of `RuleSet.buttons`: the first button each means.
    private(set) var meant: [ButtonID?] = []
    private(set) var chords: [Chord] = []
    private var rulesOfChords: [[Match]] = []

    /// Rules for `any` concern buttons nobody has declared as well.
    private var anyTable: Table = [:]
    private var usesOfAny: [(event: TriggerEvent, rule: Int)] = []

    init(_ set: RuleSet) {
        for number in set.rules.indices {
            for (place, trigger) in set.rules[number].triggers.enumerated() {
                guard case .buttons(let selectors, let events, let parts) = trigger.source, selectors.contains(.any)
                else { continue }
                let match = Match(rule: number, trigger: place, parts: parts)
                for event in events where anyTable.add(match, for: event) { usesOfAny.append((event, number)) }
            }
        }
    }

    subscript(button: ButtonID) -> Entry? { places[button].map { entries[$0] } }

    func place(of button: ButtonID) -> Int? { places[button] }
}

// MARK: - Look-up

extension RuleIndex {
    /// The rules that wait for this, in document order, each with the first of its triggers that does.
    func matches(_ event: Recognised) -> [Match] {
        let key = EventKey(event.what)
        if case .chord(let chord) = key { return rulesOfChords.indices.contains(chord) ? rulesOfChords[chord] : [] }
        let place = places[event.button]
        guard case .hold(let nanoseconds) = key, nanoseconds == holdAfter(place).nanoseconds else {
            return matches([key], place, event.part)
        }
        return matches([key, .standardHold], place, event.part)
    }

    /// The rules that wait for what is no gesture: `connected`, `disconnected`, `battery_low`.
    func matches(_ key: EventKey, of button: ButtonID) -> [Match] { matches([key], places[button], nil) }

    private func matches(_ keys: [EventKey], _ place: Int?, _ part: ButtonPart?) -> [Match] {
        var found: [Match] = []
        var lists = 0
        func add(_ list: [Match]?) {
            guard let list else { return }
            lists += 1
            found += list.lazy.filter { $0.parts.isEmpty || part.map($0.parts.contains) ?? false }
        }
        for key in keys {
            if let place { add(entries[place].table[key]) }
            add(anyTable[key])
        }
        guard found.count > 1 else { return found }
        if lists > 1 { found.sort(by: Match.comesFirst) }
        var last: Int?
        return found.filter { match in
            defer { last = match.rule }
            return match.rule != last
        }
    }

    /// All that rules wait for on a button, each event with the first rule that does, of those for it and of those for any
    /// button. Chords have no part in it.
    func events(of button: ButtonID) -> [(event: TriggerEvent, rule: Int)] {
        (places[button].map { entries[$0].uses } ?? []) + usesOfAny
    }

    /// The chord that makes this button's gestures wait longest, and its first rule.
    func firstChord(of button: ButtonID) -> (Chord, rule: Int)? {
        chords.indices.filter { chords[$0].members.contains(button) }
            .max { chords[$0].within < chords[$1].within }
            .flatMap { chord in rulesOfChords[chord].first.map { (chords[chord], $0.rule) } }
    }

    private func holdAfter(_ place: Int?) -> Duration {
        place.map { entries[$0].vocabulary.holdAfter } ?? DeclaredButton.standardHoldAfter
    }
}

// MARK: - Buttons

extension RuleIndex {
    /// Finds out which buttons the names and descriptions in the rules mean now.
    ///
    /// - Parameter modes: set at run time; what the file fixes goes before them.
    mutating func resolve(_ set: RuleSet, against identities: [ButtonIdentity], modes: [ButtonID: TriggerMode]) {
        let hardware = HardwareIndex(identities)
        entries = identities.map { Entry(identity: $0, vocabulary: Vocabulary(collects: [])) }
        places = [:]
        for (place, identity) in identities.enumerated() { places[identity.id] = place }
        meant = set.buttons.map { hardware[$0.hardware].first }
        for (number, declared) in set.buttons.enumerated() {
            for id in hardware[declared.hardware] {
                guard let place = places[id] else { continue }
                entries[place].declare(number, declared)
            }
        }
        for (id, mode) in modes {
            guard let place = places[id], entries[place].vocabulary.fixedMode == nil else { continue }
            entries[place].vocabulary.fixedMode = mode
        }
        addTriggers(of: set, hardware)
        for place in entries.indices { entries[place].vocabulary.finish(with: usesOfAny) }
        addChords(of: set)
    }

    private mutating func addTriggers(of set: RuleSet, _ hardware: HardwareIndex) {
        func existing(_ description: DeclaredButton.Hardware) -> [Int] {
            hardware[description].compactMap { places[$0] }
        }
        let declared = set.buttons.map { existing($0.hardware) }
        for number in set.rules.indices {
            for (trigger, described) in set.rules[number].triggers.enumerated() {
                guard case .buttons(let selectors, let events, let parts) = described.source else { continue }
                let match = Match(rule: number, trigger: trigger, parts: parts)
                for selector in selectors {
                    switch selector {
                    // Those are in a table of their own.
                    case .any: break
                    case .declared(let place):
                        guard declared.indices.contains(place) else { continue }
                        for place in declared[place] { entries[place].add(match, for: events) }
                    case .hardware(let description):
                        for place in existing(description) { entries[place].add(match, for: events) }
                    }
                }
            }
        }
    }

    /// Equal chords of several rules are one. A chord some of whose buttons do not exist, or are one button, cannot happen.
    private mutating func addChords(of set: RuleSet) {
        chords = []
        rulesOfChords = []
        var known: [Chord: Int] = [:]
        for number in set.rules.indices {
            for (place, trigger) in set.rules[number].triggers.enumerated() {
                guard case .chord(let declared, let within, let event) = trigger.source else { continue }
                let members = declared.compactMap { meant.indices.contains($0) ? meant[$0] : nil }
                guard members.count == declared.count, Set(members).count == members.count else { continue }
                let holdAfter = declared.map { set.buttons[$0].holdAfter }.max() ?? DeclaredButton.standardHoldAfter
                let chord = Chord(members: members.sorted(), within: within, event: event, holdAfter: holdAfter)
                if known[chord] == nil {
                    known[chord] = chords.count
                    chords.append(chord)
                    rulesOfChords.append([])
                }
                guard let index = known[chord], rulesOfChords[index].last?.rule != number else { continue }
                rulesOfChords[index].append(Match(rule: number, trigger: place))
            }
        }
    }

    /// By button; of buttons that do not exist yet, `vocabularyOfOthers`.
    var vocabularies: [ButtonID: Vocabulary] { places.mapValues { entries[$0].vocabulary } }

    var vocabularyOfOthers: Vocabulary {
        var vocabulary = Vocabulary(collects: [])
        vocabulary.finish(with: usesOfAny)
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

extension RuleIndex.Entry {
    fileprivate mutating func declare(_ place: Int, _ button: DeclaredButton) {
        if declared.isEmpty {
            vocabulary.holdAfter = button.holdAfter
            vocabulary.clickGap = button.clickGap
            vocabulary.fixedMode = button.triggerMode
        }
        declared.append(place)
    }

    fileprivate mutating func add(_ match: RuleIndex.Match, for events: [TriggerEvent]) {
        for event in events where table.add(match, for: event) {
            vocabulary.add(event)
            uses.append((event, match.rule))
        }
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

    /// Turns that no rule waits for are told all the same.
    fileprivate mutating func finish(with usesOfAny: [(event: TriggerEvent, rule: Int)]) {
        for (event, _) in usesOfAny { add(event) }
        if collects.isEmpty { collects = [TriggerEvent.standardCollect] }
    }
}

/// The existing buttons by each of the ways to describe one, so that ten thousand descriptions are found quickly.
private struct HardwareIndex {
    private var buttons: [DeclaredButton.Hardware: [ButtonID]] = [:]

    init(_ identities: [ButtonIdentity]) {
        for identity in identities {
            for description in [
                DeclaredButton.Hardware.uuid(identity.uuid), .serial(identity.serial), .address(identity.id),
                .nickname(identity.nickname),
            ] {
                buttons[description, default: []].append(identity.id)
            }
        }
    }

    subscript(hardware: DeclaredButton.Hardware) -> [ButtonID] { buttons[hardware] ?? [] }
}
