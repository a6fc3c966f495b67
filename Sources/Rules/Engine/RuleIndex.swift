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
        var interest: Interests.Interest
        var vocabulary: Vocabulary
    }

    private let interests: Interests
    private(set) var entries: [Entry] = []
    private var places: [ButtonID: Int] = [:]
    /// By the places of `RuleSet.buttons`: the first button each means.
    private(set) var meant: [ButtonID?] = []
    private(set) var chords: [Chord] = []
    private var rulesOfChords: [[Match]] = []

    init(_ interests: Interests) { self.interests = interests }

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

    /// The rules that wait for this of one button: without a part for `connected`, `disconnected`, `battery_low`.
    func matches(_ key: EventKey, of button: ButtonID, part: ButtonPart? = nil) -> [Match] {
        matches([key], places[button], part)
    }

    /// The rules that wait for a turn in this direction, however long each collects it.
    func matches(turnedClockwise isClockwise: Bool, of button: ButtonID, part: ButtonPart?) -> [Match] {
        let tables = [places[button].map { entries[$0].interest.table }, interests.any.table].compactMap(\.self)
        let keys = Set(
            tables.joined().map(\.key).filter { if case .rotate(isClockwise, _) = $0 { true } else { false } })
        return matches(Array(keys), places[button], part)
    }

    private func matches(_ keys: [EventKey], _ place: Int?, _ part: ButtonPart?) -> [Match] {
        var found: [Match] = []
        var lists = 0
        func add(_ list: [Match]?) {
            guard let list else { return }
            lists += 1
            found += list.lazy.filter { $0.parts.isEmpty || part.map($0.parts.contains) ?? false }
        }
        for key in keys {
            if let place { add(entries[place].interest.table[key]) }
            add(interests.any.table[key])
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
        (places[button].map { entries[$0].interest.uses } ?? []) + interests.any.uses
    }

    func turnedParts(of button: ButtonID) -> Set<ButtonPart> {
        let tables = [places[button].map { entries[$0].interest.table }, interests.any.table].compactMap(\.self)
        var parts: Set<ButtonPart> = []
        for (key, matches) in tables.joined() {
            guard case .rotate = key else { continue }
            for match in matches { parts.formUnion(match.parts.isEmpty ? Set(ButtonPart.allCases) : match.parts) }
        }
        return parts
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
        entries = []
        entries.reserveCapacity(identities.count)
        places = Dictionary(minimumCapacity: identities.count)
        meant = Array(repeating: nil, count: set.buttons.count)
        for identity in identities {
            var entry = entry(of: identity, in: set)
            for place in entry.declared where meant[place] == nil { meant[place] = identity.id }
            if entry.vocabulary.fixedMode == nil { entry.vocabulary.fixedMode = modes[identity.id] }
            places[identity.id] = entries.count
            entries.append(entry)
            entries[entries.count - 1].vocabulary.canBeMoved = canBeMoved(identity)
        }
        addChords()
    }

    /// Any press of a Duo can be a swipe. One of a Twist is a click until somebody wants it to be a turn.
    private func canBeMoved(_ identity: ButtonIdentity) -> Bool {
        switch identity.model {
        case .flic1, .flic2: false
        case .duo: true
        case .twist: turnedParts(of: identity.id).contains(.push)
        }
    }

    private func entry(of identity: ButtonIdentity, in set: RuleSet) -> Entry {
        let descriptions: [DeclaredButton.Hardware] = [
            .uuid(identity.uuid), .serial(identity.serial), .address(identity.id), .nickname(identity.nickname),
        ]
        let declared = descriptions.flatMap { interests.declarations[$0] ?? [] }.sorted()
        let described =
            interests.described.isEmpty ? [] : descriptions.compactMap { interests.described[$0] }
        // As good as always a button is meant in one way.
        if let only = declared.first, declared.count == 1, described.isEmpty {
            return Entry(
                identity: identity, declared: declared, interest: interests.declared[only],
                vocabulary: interests.vocabularies[only])
        }
        var interest = Interests.Interest()
        for place in declared { interest.merge(interests.declared[place]) }
        for other in described { interest.merge(other) }
        return Entry(
            identity: identity, declared: declared, interest: interest,
            vocabulary: interests.vocabulary(of: interest, declared.first.map { set.buttons[$0] }))
    }

    /// Equal chords of several rules are one. A chord some of whose buttons do not exist, or are one button, cannot happen.
    private mutating func addChords() {
        chords = []
        rulesOfChords = []
        var known: [Chord: Int] = [:]
        for trigger in interests.chords {
            let members = trigger.members.compactMap { meant[$0] }
            guard members.count == trigger.members.count, Set(members).count == members.count else { continue }
            let chord = Chord(
                members: members.sorted(), within: trigger.within, event: trigger.event, holdAfter: trigger.holdAfter)
            let index = known[chord] ?? chords.count
            if index == chords.count {
                known[chord] = index
                chords.append(chord)
                rulesOfChords.append([])
            }
            guard rulesOfChords[index].last?.rule != trigger.match.rule else { continue }
            rulesOfChords[index].append(trigger.match)
        }
    }

    /// By button; of buttons that do not exist yet, `vocabularyOfOthers`.
    var vocabularies: [ButtonID: Vocabulary] { places.mapValues { entries[$0].vocabulary } }

    var vocabularyOfOthers: Vocabulary { interests.vocabulary(of: Interests.Interest()) }
}
