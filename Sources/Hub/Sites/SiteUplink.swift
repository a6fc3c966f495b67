import ButtonModel
import Feed
import JSON
package import MQTTTopics

/// An event of the connection to the broker of `uplink:`.
package enum UplinkInput: Hashable, Sendable {
    /// - Parameter knowsExpiry: false with MQTT 3.1.1, which has no expiry intervals.
    case connected(knowsExpiry: Bool)
    /// The connection could not be made, or has ended; the reason is a sentence for users.
    case disconnected(String)
    /// A message of an engine.
    case received(topicName: String, payload: [UInt8])
    /// A message was not published, and the connection is still up. The reason is a few words for users.
    case refused(topicName: String, String)
    /// The broker does not deliver the messages of a topic filter; the reason is a few words for users.
    case subscriptionRefused(topicFilter: String, String)
    /// The broker delivers the messages of a topic filter that it has refused before on this connection.
    case subscriptionGranted(topicFilter: String)
}

/// A command to the connection to the broker of `uplink:`.
package enum UplinkEffect: Hashable, Sendable {
    /// Connect, and connect again whenever the connection is lost.
    case connect
    case subscribe([String])
    /// Publish on this connection, and never on a later one.
    case publish(MQTTMessage, expiry: Duration?)
}

/// The part of the hub that a site needs: the journals of the buttons whose presses go to an engine.
///
/// An entry is in `journals` until an engine has claimed it. `FeedUplink` decides which entries are sent, and knows only
/// their numbers.
struct SiteUplink: Sendable {
    /// The age at which an entry is dropped, as if the journal were full.
    static let longestAge = Duration.seconds(7 * 86_400)
    /// The age of an entry of an earlier process if it is unknown, because the clock was not set then or is not set now. It
    /// is long, so that the press counts as late.
    static let unknownAge = Duration.seconds(3600)
    /// The maximum length in octets of all entries that are in the reserve, because the disk is full. It is half of the reserve,
    /// which also has to take the presses for rules of this machine. If it is exceeded, the oldest of these entries is dropped,
    /// with all earlier ones of its button.
    static let maximumReserved = 16 * 1024
    /// The number of lives that begin in one process after a restore: the second one if the same copy was restored before. More of
    /// them mean that another machine has the same state directory.
    static let usualLives = 2
    /// How long an engine may be online without claiming anything that waits.
    static let longestClaim = Duration.seconds(30)
    /// The topic filter for the states of engines.
    static let engineFilter = "engines/+/state"

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

    let configuration: UplinkConfiguration
    private var feed: FeedUplink
    /// The entries in the store; empty once they are in `journals`.
    private var storedEntries: [ButtonID: [Int: StoredUplink.Entry]]
    private var positions: [ButtonID: StoredUplink.Position]
    /// The entries of each button that no engine has claimed, in the order of their numbers.
    private var journals: [ButtonID: [FeedEntry]] = [:]
    /// Entries that may not survive a power cut yet, in the order of their records.
    private var unsynced: [Unsynced] = []
    /// Entries that are in the reserve, in the order of their records.
    private var reserved: [Reserved] = []
    /// Buttons whose presses are not sent, because a site has at most `FeedHello.maximumButtons`.
    private(set) var surplus: Set<ButtonID> = []
    /// The buttons that `feed` knows.
    private(set) var buttons: Set<ButtonID> = []
    private var session: Int
    /// The latest session in which an earlier process has sent entries, as far as that is known.
    private let storedAsked: Int
    private var term: Int
    /// The shares of the engines that are online and take this site's messages, by the topics of their states.
    private var engines: [String: EngineShare] = [:]
    /// When the first of these engines came online.
    private var engineSince: Instant?
    /// When an engine claimed entries last.
    private var claimedAt: Instant?
    private(set) var isConnected = false
    private(set) var knowsExpiry = true
    /// Why there is no connection; a sentence for users.
    private(set) var fault: String?
    /// What the broker refuses, such as `write TOPIC`, with a sentence for users. A broker may end the connection after a refusal, so they are kept until the next connection,
    /// or until an attempt to connect fails.
    private var refusals: [String: String] = [:]
    /// The number of entries that were dropped before they were claimed.
    private(set) var droppedCount = 0
    /// How many lives have begun in this process.
    private var lifeCount = 0

    init(_ configuration: UplinkConfiguration, stored: StoredUplink, installationID: String) {
        self.configuration = configuration
        feed = FeedUplink(
            topic: configuration.topic, site: configuration.site, installation: installationID, life: stored.life)
        session = stored.session
        storedAsked = stored.asked ?? stored.session
        term = stored.term
        positions = stored.positions
        storedEntries = stored.entries
        for (button, entries) in stored.entries {
            guard let newest = entries.keys.max() else { continue }
            var position = positions[button] ?? .init()
            position.last = max(position.last, newest)
            positions[button] = position
        }
    }

    // MARK: The feed

    mutating func handle(_ input: FeedUplink.Input, at now: Instant) -> [FeedUplink.Effect] {
        feed.handle(input, at: now)
    }

    /// The buttons that have entries in the store; empty after `start`.
    var buttonsWithEntries: Set<ButtonID> { Set(storedEntries.filter { !$0.value.isEmpty }.keys) }

    /// The first input of the feed.
    ///
    /// - Parameters:
    ///   - facts: the buttons whose presses go to the engine, and those of `buttonsWithEntries`.
    ///   - receivedAt: converts a stored time to this boot's clock.
    mutating func start(
        _ facts: [ButtonID: FeedHello.Button], receivedAt: (UTCTime) -> Instant
    ) -> FeedUplink.Input {
        var unsent: [ButtonID: (number: Int, session: Int)] = [:]
        for (button, entries) in storedEntries where facts[button] != nil {
            let gone = positions[button]?.gone ?? 0
            let first = entries.filter { $0.key > gone && $0.value.session > storedAsked }.min { $0.key < $1.key }
            unsent[button] = first.map { ($0.key, $0.value.session) }
            journals[button] = entries.sorted { $0.key < $1.key }.filter { $0.key > gone }.map { number, entry in
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
        buttons = Set(facts.keys)
        return .start(
            Dictionary(
                uniqueKeysWithValues: facts.map { button, facts in
                    var journal = journal(of: button, facts)
                    if let (number, session) = unsent[button] {
                        (journal.sent, journal.unsentSession) = (number - 1, session)
                    }
                    return (button, journal)
                }), term: term)
    }

    /// A button is new, or its facts have changed.
    mutating func changed(_ button: ButtonID, _ facts: FeedHello.Button) -> FeedUplink.Input {
        buttons.insert(button)
        return .button(button, journal(of: button, facts))
    }

    private func journal(of button: ButtonID, _ facts: FeedHello.Button) -> FeedJournal {
        var facts = facts
        let position = positions[button] ?? .init()
        (facts.last, facts.claimed, facts.done) = (position.last, position.claimed, position.done)
        facts.former = position.former
        return FeedJournal(facts, first: journals[button]?.first?.number ?? position.last + 1)
    }

    /// The button was removed.
    ///
    /// - Returns: the changes to record.
    mutating func removed(_ button: ButtonID) -> [UplinkChange] {
        buttons.remove(button)
        unsynced.removeAll { $0.button == button }
        reserved.removeAll { $0.button == button }
        surplus = []
        droppedCount += journals[button]?.count ?? 0
        journals[button] = nil
        var position = positions[button] ?? .init()
        // The user has removed the button with its unclaimed entries, so they are not reported as lost when the button is
        // paired again.
        (position.claimed, position.done) = (position.last, position.last)
        position.former = nil
        positions[button] = position
        return [.position(button, position)]
    }

    /// True if the presses of the button can be sent.
    func hasRoom(for button: ButtonID) -> Bool {
        buttons.count < FeedHello.maximumButtons || buttons.contains(button)
    }

    /// The presses of the button are not sent, because there is no room for it.
    ///
    /// - Returns: true if that was not known before.
    mutating func refuse(_ button: ButtonID) -> Bool { surplus.insert(button).inserted }

    // MARK: Journals

    /// Adds a notification to the journal of its button. If that makes a journal, or all journals together, too long, the
    /// oldest entries are dropped.
    ///
    /// - Parameters:
    ///   - token: the token of the record that will contain the changes.
    ///   - isDiskFull: true if the record goes into the reserve.
    /// - Returns: the changes to record, and the buttons that have lost entries, with the numbers of their first remaining
    ///   entries.
    mutating func add(
        _ steps: [FeedStep], of button: ButtonID, at wallClock: UTCTime, as token: RecordToken, isDiskFull: Bool,
        now: Instant
    ) -> (changes: [UplinkChange], trimmed: [ButtonID: Int]) {
        var changes: [UplinkChange] = []
        var trimmed: [ButtonID: Int] = [:]
        for start in stride(from: 0, to: steps.count, by: FeedMessage.maximumSteps) {
            let part = Array(steps[start..<min(start + FeedMessage.maximumSteps, steps.count)])
            positions[button, default: .init()].last += 1
            let entry = FeedEntry(number: positions[button]?.last ?? 1, receivedAt: now, steps: part)
            journals[button, default: []].append(entry)
            unsynced.append(Unsynced(token: token, button: button, entry: entry))
            // Without a connection, the entry can be sent in the next session at the earliest.
            let first = isConnected ? session : session + 1
            let change = UplinkChange.entry(
                button, entry.number, .init(receivedAt: wallClock, steps: part, session: first))
            changes.append(change)
            guard isDiskFull else { continue }
            let octets = change.key.utf8.count + (change.value?.encoded().count ?? 0)
            reserved.append(Reserved(button: button, number: entry.number, octets: octets))
        }
        dropReserved(&changes, &trimmed)
        let excess = (journals[button]?.count ?? 0) - configuration.journalLength
        if excess > 0 { drop(excess, from: button, &changes, &trimmed) }
        dropOld(at: now, &changes, &trimmed)
        var total = waitingCount
        while total > UplinkConfiguration.maximumEntries,
            let longest = journals.max(by: { ($0.value.count, $1.key) < ($1.value.count, $0.key) })?.key
        {
            drop(1, from: longest, &changes, &trimmed)
            total -= 1
        }
        return (changes, trimmed)
    }

    private mutating func dropReserved(_ changes: inout [UplinkChange], _ trimmed: inout [ButtonID: Int]) {
        while let oldest = reserved.first, reserved.count > 1,
            reserved.reduce(0, { $0 + $1.octets }) > Self.maximumReserved
        {
            let count = (journals[oldest.button] ?? []).prefix { $0.number <= oldest.number }.count
            drop(count, from: oldest.button, &changes, &trimmed)
        }
    }

    /// Everything that was recorded is in the database.
    mutating func storeMended() { reserved = [] }

    private mutating func dropOld(
        at now: Instant, _ changes: inout [UplinkChange], _ trimmed: inout [ButtonID: Int]
    ) {
        for button in journals.keys.sorted() {
            let count = (journals[button] ?? []).prefix { $0.receivedAt + Self.longestAge < now }.count
            if count > 0 { drop(count, from: button, &changes, &trimmed) }
        }
    }

    /// Drops entries that are older than `longestAge`.
    ///
    /// - Returns: the same as `add`.
    mutating func dropOld(at now: Instant) -> (changes: [UplinkChange], trimmed: [ButtonID: Int]) {
        var changes: [UplinkChange] = []
        var trimmed: [ButtonID: Int] = [:]
        dropOld(at: now, &changes, &trimmed)
        return (changes, trimmed)
    }

    /// Drops the oldest entries of a button.
    private mutating func drop(
        _ count: Int, from button: ButtonID, _ changes: inout [UplinkChange], _ trimmed: inout [ButtonID: Int]
    ) {
        guard let last = journals[button]?.prefix(count).last?.number else { return }
        journals[button]?.removeAll { $0.number <= last }
        droppedCount += count
        unsynced.removeAll { $0.button == button && $0.entry.number <= last }
        reserved.removeAll { $0.button == button && $0.number <= last }
        var position = positions[button] ?? .init()
        position.first = last + 1
        positions[button] = position
        changes.append(.position(button, position))
        trimmed[button] = position.first
    }

    /// All records up to this one would survive a power cut, so their entries may be sent.
    ///
    /// - Returns: the inputs for `feed`.
    mutating func synced(upTo token: RecordToken) -> [FeedUplink.Input] {
        let count = unsynced.prefix { $0.token <= token }.count
        defer { unsynced.removeFirst(count) }
        return unsynced.prefix(count).map { .recorded($0.button, $0.entry) }
    }

    /// The first entries with numbers above `number` that would survive a power cut, at most `count`.
    func entries(of button: ButtonID, after number: Int, count: Int) -> [FeedEntry] {
        let waiting = Set(unsynced.lazy.filter { $0.button == button }.map(\.entry.number))
        return Array(
            (journals[button] ?? []).lazy.filter { $0.number > number && !waiting.contains($0.number) }.prefix(count))
    }

    /// An engine has claimed the entries up to this number.
    ///
    /// - Returns: the changes to record.
    mutating func claimed(_ button: ButtonID, _ number: Int, at now: Instant) -> [UplinkChange] {
        claimedAt = now
        // The engine has received them, so the broker takes what this site writes.
        refusals = refusals.filter { !$0.key.hasPrefix("write ") }
        let count = (journals[button] ?? []).prefix { $0.number <= number }.count
        journals[button]?.removeFirst(count)
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

    /// - Parameter term: the highest term of a claim.
    /// - Returns: the changes to record.
    mutating func heard(term: Int) -> [UplinkChange] {
        self.term = term
        return [.term(term)]
    }

    /// The disk is an old copy, so a new life begins.
    ///
    /// - Returns: the changes to record before the new life is used.
    mutating func beganLife(_ number: Int, _ formers: [ButtonID: FeedFormer]) -> [UplinkChange] {
        lifeCount += 1
        var changes = [UplinkChange.life(number)]
        for button in buttons.sorted() {
            var position = positions[button] ?? .init()
            guard position.former != formers[button] else { continue }
            position.former = formers[button]
            positions[button] = position
            changes.append(.position(button, position))
        }
        return changes
    }

    /// A sentence for users if it seems that another machine has a copy of this one's disk.
    private var twinFault: String? {
        guard lifeCount > Self.usualLives else { return nil }
        return
            "this machine's state directory seems to be in use on another machine, too, because \(lifeCount) times there was news "
            + "of presses that are not from here; stop the other machine, delete its state directory, and restart this machine's Tryck"
    }

    // MARK: The connection

    /// - Returns: the number of the connection, and the changes to record before the number is used.
    mutating func connected(knowsExpiry: Bool) -> (session: Int, changes: [UplinkChange]) {
        isConnected = true
        self.knowsExpiry = knowsExpiry
        fault = nil
        refusals = [:]
        session += 1
        return (session, [.session(session)])
    }

    /// The broker refuses a topic of this site.
    ///
    /// - Returns: a sentence for the log; `nil` if it was refused before on this connection.
    mutating func refused(_ topic: String, toWrite: Bool, _ reason: String) -> String? {
        // A message that was not published for another reason is no refusal.
        guard !toWrite || AccessRefusal.isOne(reason) else { return nil }
        let topic = toWrite ? filter(topic) : topic
        let access = "\(toWrite ? "write" : "read") \(topic)"
        guard refusals[access] == nil else { return nil }
        let sentence = "\(configuration.broker) refuses to let this site \(access): \(reason); see its ACL"
        refusals[access] = sentence
        return sentence
    }

    /// The topic of the presses of a button with `+` for the button, because an access rule is about all of them; other topics as
    /// they are.
    private func filter(_ topicName: String) -> String {
        guard let topic = FeedTopic(topicName), case .messages = topic.kind else { return topicName }
        return "\(topic.site)/feed/+"
    }

    /// The broker delivers the messages of a topic filter that it has refused before.
    mutating func granted(_ topicFilter: String) { refusals["read \(topicFilter)"] = nil }

    /// The first of the faults of the connection; a sentence for users.
    var connectionFault: String? {
        refusals.min { $0.key < $1.key }?.value ?? fault ?? twinFault ?? shareFault
    }

    /// A sentence for users if engines of more than one share act on the presses of this site, which happens if their numbers
    /// of shares differ.
    private var shareFault: String? {
        guard engines.count > 1 else { return nil }
        let shares = engines.values.map { "\"\($0)\"" }.sorted().joined(separator: " and ")
        return "engines with the shares \(shares) are online, and each acts on the presses of this site; "
            + "give all engines the same number of shares in sources: of their tryck.yaml, and restart those that change"
    }

    /// - Returns: true if the reason differs from the one before, so that it is worth a line in the log.
    mutating func disconnected(_ reason: String) -> Bool {
        defer { fault = reason }
        if !isConnected { refusals = [:] }
        isConnected = false
        engines = [:]
        engineSince = nil
        return fault != reason
    }

    /// Handles a message about the state of an engine.
    ///
    /// - Returns: true if an engine that takes this site's messages is online; `nil` if the topic is not one of
    ///   `engineFilter`.
    mutating func engineHeard(_ topicName: String, _ payload: [UInt8], at now: Instant) -> Bool? {
        guard topicName.hasPrefix("engines/"), topicName.hasSuffix("/state") else { return nil }
        // There are at most `EngineShare.maximumCount` of these topics.
        let state = (try? EngineState(parsing: payload)).flatMap { "\($0.share.topic)/state" == topicName ? $0 : nil }
        engines[topicName] = state.flatMap { $0.isOnline && $0.share.has(site: configuration.topic) ? $0.share : nil }
        engineSince = hasEngine ? engineSince ?? now : nil
        return hasEngine
    }

    /// A sentence for users; `nil` unless an engine is online and takes nothing of what waits.
    private func untaken(at now: Instant) -> String? {
        let oldest = journals.values.compactMap(\.first?.receivedAt).min()
        guard let oldest, let engineSince,
            now > max(oldest, engineSince, claimedAt ?? engineSince) + Self.longestClaim
        else { return nil }
        let feed = "\(configuration.topic)/feed"
        return
            "an engine is online, and no engine takes the presses of this site: check that sources: of the engine names "
            + "\(configuration.topic), and that the access rules of the broker let the engine read \(feed)/# and write "
            + "\(feed)/+/want and \(feed)/+/cursor, and let this site write \(feed)/+ and read \(feed)/+/want and \(feed)/+/cursor"
    }

    /// What needs attention; sentences for users.
    ///
    /// - Parameter names: of the buttons that are paired here.
    func warnings(names: [String], at now: Instant) -> [String] {
        let unmatched = configuration.unmatched(among: names)
        let sentence =
            unmatched.isEmpty
            ? nil
            : "uplink: {buttons: [\(unmatched.joined(separator: ", "))]} of tryck.yaml matches no paired button: check the names "
                + "with tryck buttons"
        return [untaken(at: now), sentence].compactMap(\.self)
    }

    /// True if an engine that takes this site's messages is online.
    var hasEngine: Bool { !engines.isEmpty }

    /// The number of entries that no engine has claimed.
    var waitingCount: Int { journals.values.reduce(0) { $0 + $1.count } }

    /// The topic filters to subscribe to.
    var filters: [String] { FeedTopic.filters(ofSite: configuration.topic) + [Self.engineFilter] }

    /// The message that tells engines that the site is offline. It is also the will of the connection.
    static func goodbye(_ configuration: UplinkConfiguration) -> MQTTMessage {
        MQTTMessage(
            topicName: FeedTopic(configuration.topic, .hello).description, payload: [], qos: 1, retain: true)
    }

    /// The part `uplink` of `status`.
    ///
    /// - Parameters:
    ///   - fault: a sentence for users; `nil` if all is well.
    ///   - warnings: sentences for users.
    func status(fault: String?, warnings: [String]) -> JSONValue {
        let refused = refusals.keys.sorted().map(JSONValue.string)
        return [
            "broker": .string(configuration.broker), "topic": .string(configuration.topic),
            "connected": .bool(isConnected), "fault": fault.map { .string($0) } ?? .null,
            "engine_online": .bool(hasEngine), "expiry": .bool(knowsExpiry),
            "installation": .string(feed.installation),
            "buttons": .integer(Int64(buttons.count)),
            "unclaimed": .integer(Int64(waitingCount)),
            "dropped": .integer(Int64(droppedCount)),
            "warnings": .array(warnings.map(JSONValue.string)), "refused": .array(refused),
        ]
    }

    #if DEBUG
        /// A sentence for each inconsistency after an input.
        func problems() -> [String] {
            var problems = feed.problems()
            func expect(_ holds: Bool, _ problem: @autoclosure () -> String) {
                if !holds { problems.append("uplink: \(problem())") }
            }
            for (button, entries) in journals {
                let numbers = entries.map(\.number)
                let position = positions[button] ?? .init()
                expect(
                    zip(numbers, numbers.dropFirst()).allSatisfy { $0 + 1 == $1 }
                        && (numbers.first ?? .max) > position.gone && (numbers.last ?? 0) <= position.last,
                    "the journal of \(button) has the numbers \(numbers), and its position is \(position)")
                expect(
                    entries.count <= configuration.journalLength,
                    "the journal of \(button) has \(entries.count) entries")
                expect(buttons.contains(button), "\(button) has a journal, and the feed does not know it")
            }
            for (button, position) in positions {
                expect(
                    position.claimed <= position.last && position.done <= position.claimed
                        && position.first <= position.last + 1,
                    "the position of \(button) is \(position)")
            }
            expect(waitingCount <= UplinkConfiguration.maximumEntries, "there are \(waitingCount) entries")
            expect(buttons == Set(feed.knownButtons), "the feed knows other buttons")
            expect(
                unsynced.allSatisfy { entry in journals[entry.button]?.contains(entry.entry) == true },
                "an entry waits for a sync and is in no journal")
            expect(
                reserved.allSatisfy { entry in
                    journals[entry.button]?.contains { $0.number == entry.number } == true
                },
                "an entry counts as one of the reserve and is in no journal")
            expect(zip(unsynced, unsynced.dropFirst()).allSatisfy { $0.token <= $1.token }, "records are out of order")
            expect(storedEntries.isEmpty || buttons.isEmpty, "entries of the store were left")
            expect(isConnected || engines.isEmpty, "engines are online without a connection")
            expect(
                hasEngine == (engineSince != nil), "an engine is online since \(engineSince.map { "\($0)" } ?? "never")"
            )
            return problems
        }
    #endif
}
