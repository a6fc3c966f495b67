import ButtonModel
import CommandSupport
import Hub
import JSON
import Platform
import Rules

/// Replays a history with the rules that ran and with other rules, and compares what rules did because of each event.
struct Comparison {
    struct Difference: Hashable, Sendable {
        var event: RuleLedger.Event
        /// The name of the button; empty for other causes.
        var button: String
        var lateness: Int64?
        var before: [RuleLedger.Deed]
        var after: [RuleLedger.Deed]
    }

    struct Result: Sendable {
        /// The number of events, without `down` and `up`, and without those before the beginning. An event counts, too,
        /// if it occurs only with one of the rule sets: two presses can be a double click with one, and two clicks with the other.
        var eventCount = 0
        var differences: [Difference] = []
        /// Steps of the other rules that failed, where those that ran did not fail in the same way. Each error is there once.
        var errors: [RuleLedger.StepError] = []
        /// Sentences about parts of the history that could not be compared.
        var notes: [String] = []
        /// True if a part of the history could not be replayed, so that its events are not counted.
        var hasGaps = false
        /// True if a part of the history is there and could not be read or replayed. So "nothing differs" is not known.
        var hasUnreadablePart = false
        /// True if a part of the history is of an engine with buttons of sites, whose presses it does not have.
        var hasSites = false

        /// True if all events are in parts of the history that could not be replayed, or are missing, so that the result says nothing.
        var comparesNothing: Bool { (hasGaps || hasSites) && eventCount == 0 }

        /// Why the result is not that nothing differs; `nil` if it is, or if something differs.
        var failure: Failure? {
            guard differences.isEmpty else { return nil }
            if comparesNothing { return Failure(.unavailable, "Nothing could be compared.") }
            guard hasUnreadablePart else { return nil }
            return Failure(.unavailable, "Nothing differs in what could be read, but a part of the history could not.")
        }
    }

    private let rules: RuleSet
    private let beginning: UTCTime?
    private let button: String?
    private var cache = RuleSetCache()
    private var before: (house: ReplayedHouse?, ledger: RuleLedger) = (nil, RuleLedger())
    private var after: (house: ReplayedHouse?, ledger: RuleLedger) = (nil, RuleLedger())
    /// The state that the rules of the two replays had stored when the daemon's process ended; `nil` before the first
    /// end, and after a header has used it.
    private var stored: (before: RuleState, after: RuleState)?
    /// True if a part of the history is missing before the next header.
    private var isInterrupted = false
    private var notes: [String] = []
    private var hasGaps = false
    private var hasUnreadablePart = false
    private var hasSites = false
    /// The states of the other rules whose messages were not received, by their names.
    private var unknownStates: [String: UnknownState] = [:]
    /// The maximum number of notes. Further notes are dropped, because a damaged history can cause one for each of its
    /// segments, and the first ones show what is wrong.
    private static let maximumNoteCount = 20

    /// - Parameters:
    ///   - rules: the other rules, with placeholders for secrets.
    ///   - beginning: events before this time are not compared.
    ///   - button: the name or id of the only button of interest.
    init(with rules: RuleSet, since beginning: UTCTime?, button: String?) {
        self.rules = rules
        self.beginning = beginning
        self.button = button
    }

    /// - Returns: false if the rest of the segment cannot be used.
    mutating func take(_ item: HistoryFiles.Item) -> Bool {
        do {
            switch item {
            case .gap(let reason, let isUnreadable):
                note(reason)
                (isInterrupted, hasGaps) = (true, true)
                if isUnreadable { hasUnreadablePart = true }
            case .begin(let header):
                if header.hasSites {
                    hasSites = true
                    note(HistoryRun.withoutSites)
                }
                let set = try cache.set(header.rules)
                let isRestored = isRestorable(header)
                let restored = restored(header)
                before.ledger.begin(set, header.stored.rules, isRestored: false)
                after.ledger.begin(rules, restored.stored.rules, isRestored: isRestored)
                before.house = ReplayedHouse(header, rules: set)
                after.house = ReplayedHouse(restored, rules: rules)
                noteUnknownStates()
            case .input(let input):
                let set = try input.rulesToLoad.map { try cache.set($0) }
                if let set { before.ledger.load(set) }
                if let (topicName, payload) = input.message {
                    let states =
                        before.ledger.received(topicName, payload) + after.ledger.received(topicName, payload)
                    for state in states {
                        note(
                            "state \(state): a message contained a secret, which a history leaves out, so what rules do with "
                                + "the state is uncertain")
                    }
                }
                take(try before.house?.take(input, rules: set) ?? [], of: input, into: \.before)
                take(try after.house?.take(input, rules: nil) ?? [], of: input, into: \.after)
                if set != nil { noteUnknownStates() }
            case .end(let end):
                take(try before.house?.finish(end) ?? [], of: nil, into: \.before)
                take(try after.house?.finish(end) ?? [], of: nil, into: \.after)
                stored = before.house.flatMap { before in after.house.map { (before.stored, $0.stored) } }
                (before.house, after.house) = (nil, nil)
            }
            return true
        } catch {
            note(item.gap(error, in: before.house))
            (hasGaps, hasUnreadablePart) = (true, true)
            (before.house, after.house) = (nil, nil)
            return false
        }
    }

    /// The header of a start as it would have been with the other rules: what they have stored replaces what the rules of
    /// that time have stored, where the two differ.
    private mutating func restored(_ header: RecordingHeader) -> RecordingHeader {
        defer { (stored, isInterrupted) = (nil, false) }
        guard let stored, isRestorable(header) else { return header }
        var header = header
        let (before, after) = stored
        header.stored.rules.variables.replace(before.variables, after.variables)
        header.stored.rules.cycles.replace(before.cycles, after.cycles)
        header.stored.rules.dailyTimes.replace(before.dailyTimes, after.dailyTimes)
        return header
    }

    /// True if what the other rules have stored is known at the beginning of a process.
    private func isRestorable(_ header: RecordingHeader) -> Bool {
        stored != nil && !isInterrupted && !header.continues
    }

    private mutating func take(
        _ moments: [ReplayedHouse.Moment], of input: RecordedInput?,
        into side: WritableKeyPath<Comparison, (house: ReplayedHouse?, ledger: RuleLedger)>
    ) {
        guard !moments.isEmpty, let house = self[keyPath: side].house else { return }
        for moment in moments {
            self[keyPath: side].ledger.take(moment, isIgnored: input?.isRepeated ?? false) { house.redacted($0) }
        }
    }

    private mutating func note(_ text: String) {
        if notes.count < Self.maximumNoteCount, !notes.contains(text) { notes.append(text) }
    }

    private struct UnknownState {
        var topicName: String
        /// When rules were loaded that read it; `nil` if none were yet.
        var knownFrom: UTCTime?
    }

    /// States that only the other rules read are unknown, because their messages were not received. A state that the rules that
    /// ran read later is known from then on.
    private mutating func noteUnknownStates() {
        guard let house = before.house else { return }
        for state in rules.states {
            if !house.isState(state.topicName) {
                unknownStates[state.name] = UnknownState(topicName: state.topicName)
            } else if let unknown = unknownStates[state.name], unknown.knownFrom == nil {
                unknownStates[state.name]?.knownFrom = house.time
            }
        }
    }

    private var notesAboutStates: [String] {
        unknownStates.sorted { $0.key < $1.key }.compactMap { name, state in
            let start = "state \(name): messages on \(state.topicName) were not received"
            guard let from = state.knownFrom else { return "\(start) then, so it is unknown" }
            return isShown(from) ? "\(start) before \(from), so until then it is unknown" : nil
        }
    }

    // MARK: Result

    func result() -> Result {
        var result = Result(
            errors: errors, notes: notes + notesAboutStates.prefix(Self.maximumNoteCount), hasGaps: hasGaps,
            hasUnreadablePart: hasUnreadablePart, hasSites: hasSites)
        if let button, !before.ledger.names.contains(where: { $0.key == button || $0.value == button }),
            !after.ledger.names.values.contains(button)
        {
            result.notes.append(HistoryOptions.noEvents(of: button, known: Set(before.ledger.names.values)))
        }
        let events = Set(before.ledger.accounts.keys).union(after.ledger.accounts.keys)
        for event in events.sorted(by: RuleLedger.Event.areInOrder) where isShown(event) {
            let (old, new) = (account(of: event, in: before.ledger), account(of: event, in: after.ledger))
            if old.isCounted || new.isCounted { result.eventCount += 1 }
            if let difference = difference(event, old, new) { result.differences.append(difference) }
        }
        return result
    }

    private var errors: [RuleLedger.StepError] {
        var errors: [RuleLedger.StepError] = []
        var seen: Set<String> = []
        for failure in after.ledger.failures where isShown(failure.event) {
            let isKnown = account(of: failure.event, in: before.ledger).deeds.contains(failure.deed)
            if !isKnown, seen.insert(failure.error.text).inserted { errors.append(failure.error) }
        }
        return errors
    }

    private func account(of event: RuleLedger.Event, in ledger: RuleLedger) -> RuleLedger.Account {
        ledger.accounts[event] ?? RuleLedger.Account()
    }

    private func difference(
        _ event: RuleLedger.Event, _ old: RuleLedger.Account, _ new: RuleLedger.Account
    ) -> Difference? {
        var differing: Set<String> = []
        for rule in Set((old.deeds + new.deeds).map(\.rule)) {
            func deeds(_ account: RuleLedger.Account) -> [RuleLedger.Deed] {
                account.deeds.filter { $0.rule == rule && $0.counts }
            }
            if deeds(old) != deeds(new) { differing.insert(rule) }
        }
        guard !differing.isEmpty else { return nil }
        var (before, after) = (
            Self.shown(old.deeds.filter { differing.contains($0.rule) }),
            Self.shown(new.deeds.filter { differing.contains($0.rule) })
        )
        Self.addRemarks(&before, &after)
        return Difference(
            event: event,
            button: self.after.ledger.names[event.button] ?? self.before.ledger.names[event.button] ?? event.button,
            lateness: old.lateness ?? new.lateness, before: before, after: after)
    }

    /// Says in what actions differ whose texts are equal: in a secret, a header, the quality of service.
    private static func addRemarks(_ before: inout [RuleLedger.Deed], _ after: inout [RuleLedger.Deed]) {
        let changes = after.difference(from: before)
        var inserted = changes.insertions.map(\.place)
        for old in changes.removals.map(\.place) {
            let (rule, kind, text) = (before[old].rule, before[old].kind, before[old].text)
            let match = inserted.firstIndex {
                after[$0].rule == rule && after[$0].kind == kind && after[$0].text == text
            }
            guard let match else { continue }
            let new = inserted.remove(at: match)
            let (oldAspects, newAspects) = (before[old].aspects, after[new].aspects)
            before[old].remark = remark(oldAspects, besides: newAspects)
            after[new].remark = remark(newAspects, besides: oldAspects)
        }
    }

    /// The maximum number of characters of a value in a remark.
    private static let maximumValueLength = 60

    /// The values that the other action does not have, and the names of those that only the other one has.
    private static func remark(_ aspects: [ActionAspect], besides others: [ActionAspect]) -> String {
        let own = aspects.filter { !others.contains($0) }
            .map { $0.value.isEmpty ? "no \($0.name)" : "\($0.name) \($0.value.prefix(maximumValueLength))" }
        let names = Set(aspects.map(\.name))
        return (own + others.filter { !names.contains($0.name) }.map { "no \($0.name)" }).joined(separator: ", ")
    }

    /// The deeds without the start of a run that did something else.
    private static func shown(_ deeds: [RuleLedger.Deed]) -> [RuleLedger.Deed] {
        let busy = Set(deeds.filter { $0.kind != "started" }.map(\.rule))
        return deeds.filter { $0.kind != "started" || !busy.contains($0.rule) }
    }

    private func isShown(_ time: UTCTime) -> Bool { beginning.map { $0 <= time } ?? true }

    private func isShown(_ event: RuleLedger.Event) -> Bool {
        guard isShown(event.at) else { return false }
        guard let button else { return true }
        return event.button == button || before.ledger.names[event.button] == button
            || after.ledger.names[event.button] == button
    }
}

extension CollectionDifference<RuleLedger.Deed>.Change {
    fileprivate var place: Int {
        switch self {
        case .insert(let offset, _, _), .remove(let offset, _, _): offset
        }
    }
}

extension Dictionary where Value: Equatable {
    /// Replaces the values of the keys whose values differ between `before` and `after` with those of `after`.
    fileprivate mutating func replace(_ before: Self, _ after: Self) {
        for key in Set(before.keys).union(after.keys) where before[key] != after[key] { self[key] = after[key] }
    }
}

extension RuleLedger.Event {
    fileprivate static func areInOrder(_ left: Self, _ right: Self) -> Bool {
        (left.at, left.button, left.name, left.rule) < (right.at, right.button, right.name, right.rule)
    }
}
