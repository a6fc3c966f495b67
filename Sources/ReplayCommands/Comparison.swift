import ButtonModel
import CommandSupport
import Hub
import JSON
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
        /// The number of events, without `down` and `up`, and without those before the beginning.
        var eventCount = 0
        var differences: [Difference] = []
        /// Steps of the other rules that failed, where those that ran did not fail in the same way. Each error is there once.
        var errors: [RuleLedger.StepError] = []
        /// Sentences about parts of the history that could not be compared.
        var notes: [String] = []
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
            case .gap(let reason):
                note(reason)
                isInterrupted = true
            case .begin(let header):
                before.ledger.begin()
                after.ledger.begin()
                before.house = ReplayedHouse(header, rules: try cache.set(header.rules))
                after.house = ReplayedHouse(restored(header), rules: rules)
                noteUnknownStates()
            case .input(let input):
                let set = try input.rulesToLoad.map { (recorded) throws(Failure) in try cache.set(recorded) }
                take(try before.house?.take(input, rules: set) ?? [], of: input, into: \.before)
                take(try after.house?.take(input, rules: nil) ?? [], of: input, into: \.after)
            case .end(let next):
                take(try before.house?.finish(before: next) ?? [], of: nil, into: \.before)
                take(try after.house?.finish(before: next) ?? [], of: nil, into: \.after)
                stored = before.house.flatMap { before in after.house.map { (before.stored, $0.stored) } }
                (before.house, after.house) = (nil, nil)
            }
            return true
        } catch {
            if let failure = error as? Failure { note(failure.sentence) }
            if error is ReplayedHouse.Failure { note("the history cannot be replayed from \(time) on (\(error))") }
            (before.house, after.house) = (nil, nil)
            return false
        }
    }

    /// The header of a start as it would have been with the other rules: what they have stored replaces what the rules of
    /// that time have stored, where the two differ.
    private mutating func restored(_ header: RecordingHeader) -> RecordingHeader {
        defer { (stored, isInterrupted) = (nil, false) }
        guard let stored, !isInterrupted, !header.continues else { return header }
        var header = header
        let (before, after) = stored
        header.stored.rules.variables.replace(before.variables, after.variables)
        header.stored.rules.cycles.replace(before.cycles, after.cycles)
        header.stored.rules.dailyTimes.replace(before.dailyTimes, after.dailyTimes)
        return header
    }

    private var time: String { before.house.map { "\($0.time)" } ?? "its beginning" }

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

    /// States that only the other rules read are unknown, because their messages were not received.
    private mutating func noteUnknownStates() {
        guard let house = before.house else { return }
        for state in rules.states where !house.isState(state.topicName) {
            note("state \(state.name): messages on \(state.topicName) were not received then, so it is unknown")
        }
    }

    // MARK: Result

    func result() -> Result {
        var result = Result(errors: errors, notes: notes)
        if let button, !before.ledger.names.contains(where: { $0.key == button || $0.value == button }),
            !after.ledger.names.values.contains(button)
        {
            result.notes.append(HistoryOptions.noEvents(of: button, known: Set(before.ledger.names.values)))
        }
        let events = Set(before.ledger.accounts.keys).union(after.ledger.accounts.keys)
        for event in events.sorted(by: RuleLedger.Event.areInOrder) where isShown(event) {
            let (old, new) = (account(of: event, in: before.ledger), account(of: event, in: after.ledger))
            if !old.isMinor || !old.deeds.allSatisfy({ !$0.counts }) { result.eventCount += 1 }
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
        return Difference(
            event: event, button: after.ledger.names[event.button] ?? before.ledger.names[event.button] ?? event.button,
            lateness: old.lateness ?? new.lateness,
            before: Self.shown(old.deeds.filter { differing.contains($0.rule) }),
            after: Self.shown(new.deeds.filter { differing.contains($0.rule) }))
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
