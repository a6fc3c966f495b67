import ButtonModel
import Feed
import JSON

/// The journals of the buttons whose presses go to an engine. An entry is in its journal until an engine has claimed it.
struct UplinkJournals: Sendable {
    /// The age at which an entry is dropped, as if the journal were full.
    static let longestAge = Duration.seconds(7 * 86_400)
    /// The maximum length in octets of all entries that are in the reserve, because the disk is full. It is half of the reserve,
    /// which also has to take the presses for rules of this machine. If it is exceeded, the oldest of these entries is dropped,
    /// with all earlier ones of its button.
    static let maximumReserved = 16 * 1024

    /// What the owner has to do after a change of the journals.
    struct Outcome: Hashable, Sendable {
        /// The changes to record.
        var changes: [UplinkChange] = []
        /// The buttons that have lost entries, with the numbers of their first remaining entries.
        var trimmed: [ButtonID: Int] = [:]
    }

    /// An entry whose record may not survive a power cut yet.
    private struct Unsynced: Sendable {
        var token: RecordToken
        var button: ButtonID
        var entry: FeedEntry
    }

    /// An entry that was recorded while the disk was full.
    private struct Reserved: Sendable {
        var button: ButtonID
        var number: Int
        var octets: Int
    }

    /// The maximum number of entries of a button.
    private let maximumLength: Int
    /// The entries in the store; empty once they are in `entries`.
    private var storedEntries: [ButtonID: [Int: StoredUplink.Entry]]
    private var positions: [ButtonID: StoredUplink.Position]
    /// The entries of each button that no engine has claimed, in the order of their numbers.
    private var entries: [ButtonID: [FeedEntry]] = [:]
    /// Entries that may not survive a power cut yet, in the order of their records.
    private var unsynced: [Unsynced] = []
    /// Entries that are in the reserve, in the order of their records.
    private var reserved: [Reserved] = []
    /// The number of entries that were dropped before they were claimed.
    private(set) var droppedCount = 0

    init(maximumLength: Int, stored: StoredUplink) {
        self.maximumLength = maximumLength
        positions = stored.positions
        storedEntries = stored.entries
        for (button, entries) in stored.entries {
            guard let newest = entries.keys.max() else { continue }
            var position = positions[button] ?? .init()
            position.last = max(position.last, newest)
            positions[button] = position
        }
    }

    // MARK: Looking up

    /// The buttons that have entries in the store; empty after `load`.
    var buttonsWithEntries: Set<ButtonID> { Set(storedEntries.filter { !$0.value.isEmpty }.keys) }

    /// The number of entries that no engine has claimed.
    var waitingCount: Int { entries.values.reduce(0) { $0 + $1.count } }

    /// When the oldest entry was received; `nil` if there is none.
    var oldest: Instant? { entries.values.compactMap(\.first?.receivedAt).min() }

    /// The first entries with numbers above `number` that would survive a power cut, at most `count`.
    func entries(of button: ButtonID, after number: Int, count: Int) -> [FeedEntry] {
        let waiting = Set(unsynced.lazy.filter { $0.button == button }.map(\.entry.number))
        return Array(
            (entries[button] ?? []).lazy.filter { $0.number > number && !waiting.contains($0.number) }.prefix(count))
    }

    /// The journal of a button as the feed needs it.
    func journal(of button: ButtonID, _ facts: FeedHello.Button) -> FeedJournal {
        var facts = facts
        let position = positions[button] ?? .init()
        (facts.last, facts.claimed, facts.done) = (position.last, position.claimed, position.done)
        facts.former = position.former
        return FeedJournal(facts, first: entries[button]?.first?.number ?? position.last + 1)
    }

    // MARK: Entries

    /// Takes the entries of these buttons from the store; the others are left out.
    ///
    /// - Parameters:
    ///   - asked: the latest session in which an earlier process has sent entries.
    ///   - receivedAt: converts a stored time to this boot's clock.
    /// - Returns: the journals as the feed needs them.
    mutating func load(
        _ facts: [ButtonID: FeedHello.Button], asked: Int, receivedAt: (UTCTime) -> Instant
    ) -> [ButtonID: FeedJournal] {
        var unsent: [ButtonID: (number: Int, session: Int)] = [:]
        for (button, stored) in storedEntries where facts[button] != nil {
            let gone = positions[button]?.gone ?? 0
            let first = stored.filter { $0.key > gone && $0.value.session > asked }.min { $0.key < $1.key }
            unsent[button] = first.map { ($0.key, $0.value.session) }
            entries[button] = stored.sorted { $0.key < $1.key }.filter { $0.key > gone }.map { number, entry in
                // The press has waited for this process, whatever its age.
                let steps = entry.steps.map { step in
                    var step = step
                    step.wasQueued = true
                    return step
                }
                return FeedEntry(number: number, receivedAt: receivedAt(entry.receivedAt), steps: steps)
            }
        }
        storedEntries = [:]
        return Dictionary(
            uniqueKeysWithValues: facts.map { button, facts in
                var journal = journal(of: button, facts)
                if let (number, session) = unsent[button] {
                    (journal.sent, journal.unsentSession) = (number - 1, session)
                }
                return (button, journal)
            })
    }

    /// Adds a notification to the journal of its button. If that makes a journal, or all journals together, too long, the
    /// oldest entries are dropped.
    ///
    /// - Parameters:
    ///   - session: the first session in which the entries can be sent.
    ///   - token: the token of the record that will contain the changes.
    ///   - isDiskFull: true if the record goes into the reserve.
    mutating func add(
        _ steps: [FeedStep], of button: ButtonID, at wallClock: UTCTime, session: Int, as token: RecordToken,
        isDiskFull: Bool, now: Instant
    ) -> Outcome {
        var outcome = Outcome()
        for start in stride(from: 0, to: steps.count, by: FeedMessage.maximumSteps) {
            let part = Array(steps[start..<min(start + FeedMessage.maximumSteps, steps.count)])
            positions[button, default: .init()].last += 1
            let entry = FeedEntry(number: positions[button]?.last ?? 1, receivedAt: now, steps: part)
            entries[button, default: []].append(entry)
            unsynced.append(Unsynced(token: token, button: button, entry: entry))
            let change = UplinkChange.entry(
                button, entry.number, .init(receivedAt: wallClock, steps: part, session: session))
            outcome.changes.append(change)
            guard isDiskFull else { continue }
            let octets = change.key.utf8.count + (change.value?.encoded().count ?? 0)
            reserved.append(Reserved(button: button, number: entry.number, octets: octets))
        }
        dropReserved(&outcome)
        let excess = (entries[button]?.count ?? 0) - maximumLength
        if excess > 0 { drop(excess, from: button, &outcome) }
        dropOld(at: now, &outcome)
        var total = waitingCount
        while total > UplinkConfiguration.maximumEntries,
            let longest = entries.max(by: { ($0.value.count, $1.key) < ($1.value.count, $0.key) })?.key
        {
            drop(1, from: longest, &outcome)
            total -= 1
        }
        return outcome
    }

    /// Drops entries that are older than `longestAge`.
    mutating func dropOld(at now: Instant) -> Outcome {
        var outcome = Outcome()
        dropOld(at: now, &outcome)
        return outcome
    }

    private mutating func dropReserved(_ outcome: inout Outcome) {
        while let oldest = reserved.first, reserved.count > 1,
            reserved.reduce(0, { $0 + $1.octets }) > Self.maximumReserved
        {
            let count = (entries[oldest.button] ?? []).prefix { $0.number <= oldest.number }.count
            drop(count, from: oldest.button, &outcome)
        }
    }

    private mutating func dropOld(at now: Instant, _ outcome: inout Outcome) {
        for button in entries.keys.sorted() {
            let count = (entries[button] ?? []).prefix { $0.receivedAt + Self.longestAge < now }.count
            if count > 0 { drop(count, from: button, &outcome) }
        }
    }

    /// Drops the oldest entries of a button.
    private mutating func drop(_ count: Int, from button: ButtonID, _ outcome: inout Outcome) {
        guard let last = entries[button]?.prefix(count).last?.number else { return }
        entries[button]?.removeAll { $0.number <= last }
        droppedCount += count
        unsynced.removeAll { $0.button == button && $0.entry.number <= last }
        reserved.removeAll { $0.button == button && $0.number <= last }
        var position = positions[button] ?? .init()
        position.first = last + 1
        positions[button] = position
        outcome.changes.append(.position(button, position))
        outcome.trimmed[button] = position.first
    }

    /// Everything that was recorded is in the database.
    mutating func storeMended() { reserved = [] }

    /// All records up to this one would survive a power cut, so their entries may be sent.
    ///
    /// - Returns: the inputs for the feed.
    mutating func synced(upTo token: RecordToken) -> [FeedUplink.Input] {
        let count = unsynced.prefix { $0.token <= token }.count
        defer { unsynced.removeFirst(count) }
        return unsynced.prefix(count).map { .recorded($0.button, $0.entry) }
    }

    // MARK: Positions

    /// An engine has claimed the entries up to this number.
    ///
    /// - Returns: the changes to record.
    mutating func claimed(_ button: ButtonID, _ number: Int) -> [UplinkChange] {
        let count = (entries[button] ?? []).prefix { $0.number <= number }.count
        entries[button]?.removeFirst(count)
        reserved.removeAll { $0.button == button && $0.number <= number }
        var position = positions[button] ?? .init()
        position.claimed = number
        position.last = max(position.last, number)
        if let former = position.former, former.last <= number { position.former = nil }
        positions[button] = position
        return [.position(button, position)]
    }

    /// An engine has done everything up to this number.
    ///
    /// - Returns: the changes to record.
    mutating func done(_ button: ButtonID, _ number: Int) -> [UplinkChange] {
        guard var position = positions[button] else { return [] }
        position.done = min(number, position.claimed)
        positions[button] = position
        return [.position(button, position)]
    }

    /// The button was removed.
    ///
    /// - Returns: the changes to record.
    mutating func removed(_ button: ButtonID) -> [UplinkChange] {
        unsynced.removeAll { $0.button == button }
        reserved.removeAll { $0.button == button }
        droppedCount += entries[button]?.count ?? 0
        entries[button] = nil
        var position = positions[button] ?? .init()
        // The user has removed the button with its unclaimed entries, so they are not reported as lost when the button is
        // paired again.
        (position.claimed, position.done) = (position.last, position.last)
        position.former = nil
        positions[button] = position
        return [.position(button, position)]
    }

    /// A new life of the site begins after these former lives of its buttons.
    ///
    /// - Returns: the changes to record.
    mutating func beganLife(after formers: [ButtonID: FeedFormer], of buttons: Set<ButtonID>) -> [UplinkChange] {
        var changes: [UplinkChange] = []
        for button in buttons.sorted() {
            var position = positions[button] ?? .init()
            guard position.former != formers[button] else { continue }
            position.former = formers[button]
            positions[button] = position
            changes.append(.position(button, position))
        }
        return changes
    }

    #if DEBUG
        /// A sentence for each inconsistency after an input.
        ///
        /// - Parameter buttons: the buttons that the feed knows.
        func problems(buttons: Set<ButtonID>) -> [String] {
            var problems: [String] = []
            func expect(_ holds: Bool, _ problem: @autoclosure () -> String) {
                if !holds { problems.append("uplink: \(problem())") }
            }
            for (button, entries) in entries {
                let numbers = entries.map(\.number)
                let position = positions[button] ?? .init()
                expect(
                    zip(numbers, numbers.dropFirst()).allSatisfy { $0 + 1 == $1 }
                        && (numbers.first ?? .max) > position.gone && (numbers.last ?? 0) <= position.last,
                    "the journal of \(button) has the numbers \(numbers), and its position is \(position)")
                expect(entries.count <= maximumLength, "the journal of \(button) has \(entries.count) entries")
                expect(buttons.contains(button), "\(button) has a journal, and the feed does not know it")
            }
            for (button, position) in positions {
                expect(
                    position.claimed <= position.last && position.done <= position.claimed
                        && position.first <= position.last + 1,
                    "the position of \(button) is \(position)")
            }
            expect(waitingCount <= UplinkConfiguration.maximumEntries, "there are \(waitingCount) entries")
            expect(
                unsynced.allSatisfy { entry in entries[entry.button]?.contains(entry.entry) == true },
                "an entry waits for a sync and is in no journal")
            expect(
                reserved.allSatisfy { entry in
                    entries[entry.button]?.contains { $0.number == entry.number } == true
                },
                "an entry counts as one of the reserve and is in no journal")
            expect(zip(unsynced, unsynced.dropFirst()).allSatisfy { $0.token <= $1.token }, "records are out of order")
            expect(storedEntries.isEmpty || buttons.isEmpty, "entries of the store were left")
            return problems
        }
    #endif
}
