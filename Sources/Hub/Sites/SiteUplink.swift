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

/// The part of the hub that a site needs. `UplinkJournals` keeps the presses that go to an engine, `FeedUplink` decides which of
/// them are sent and knows only their numbers, and `UplinkConnection` knows the state of the broker and of the engines.
struct SiteUplink: Sendable {
    /// The age of an entry of an earlier process if it is unknown, because the clock was not set then or is not set now. It
    /// is long, so that the press counts as late.
    static let unknownAge = Duration.seconds(3600)
    /// The number of lives that begin in one process after a restore: the second one if the same copy was restored before. More of
    /// them mean that another machine has the same state directory.
    static let usualLives = 2
    /// The topic filter for the states of engines.
    static let engineFilter = "engines/+/state"

    /// A button that is paired at this site, and the first rule of this site that hears it.
    struct OwnButton {
        var id: ButtonID
        /// The name that users see. Two buttons may have the same one.
        var name: String
        var rule: String?
    }

    let configuration: UplinkConfiguration
    private var feed: FeedUplink
    private var journals: UplinkJournals
    private var connection: UplinkConnection
    /// Buttons whose presses are not sent, because a site has at most `FeedHello.maximumButtons`.
    private(set) var surplus: Set<ButtonID> = []
    /// The buttons that `feed` knows.
    private(set) var buttons: Set<ButtonID> = []
    private var session: Int
    /// The latest session in which an earlier process has sent entries, as far as that is known.
    private let storedAsked: Int
    private var term: Int
    /// How many lives have begun in this process.
    private var lifeCount = 0

    init(_ configuration: UplinkConfiguration, stored: StoredUplink, installationID: String) {
        self.configuration = configuration
        feed = FeedUplink(
            topic: configuration.topic, site: configuration.site, installation: installationID, life: stored.life)
        journals = UplinkJournals(maximumLength: configuration.journalLength, stored: stored)
        connection = UplinkConnection(configuration)
        session = stored.session
        storedAsked = stored.asked ?? stored.session
        term = stored.term
    }

    // MARK: The feed

    mutating func handle(_ input: FeedUplink.Input, at now: Instant) -> [FeedUplink.Effect] {
        feed.handle(input, at: now)
    }

    /// The first input of the feed.
    ///
    /// - Parameters:
    ///   - facts: the buttons whose presses go to the engine, and those of `buttonsWithEntries`.
    ///   - receivedAt: converts a stored time to this boot's clock.
    mutating func start(
        _ facts: [ButtonID: FeedHello.Button], receivedAt: (UTCTime) -> Instant
    ) -> FeedUplink.Input {
        buttons = Set(facts.keys)
        return .start(journals.load(facts, asked: storedAsked, receivedAt: receivedAt), term: term)
    }

    /// A button is new, or its facts have changed.
    mutating func changed(_ button: ButtonID, _ facts: FeedHello.Button) -> FeedUplink.Input {
        buttons.insert(button)
        return .button(button, journals.journal(of: button, facts))
    }

    /// The button was removed.
    ///
    /// - Returns: the changes to record.
    mutating func removed(_ button: ButtonID) -> [UplinkChange] {
        buttons.remove(button)
        surplus = []
        return journals.removed(button)
    }

    /// True if the presses of the button can be sent.
    func hasRoom(for button: ButtonID) -> Bool {
        buttons.count < FeedHello.maximumButtons || buttons.contains(button)
    }

    /// The presses of the button are not sent, because there is no room for it.
    ///
    /// - Returns: true if that was not known before.
    mutating func refuse(_ button: ButtonID) -> Bool { surplus.insert(button).inserted }

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
        return [.life(number)] + journals.beganLife(after: formers, of: buttons)
    }

    /// A sentence for users if it seems that another machine has a copy of this one's disk.
    private var twinFault: String? {
        guard lifeCount > Self.usualLives else { return nil }
        return
            "this machine's state directory seems to be in use on another machine, too, because \(lifeCount) times there was news "
            + "of presses that are not from here; stop the other machine, delete its state directory, and restart this machine's Tryck"
    }

    // MARK: Journals

    /// The buttons that have entries in the store; empty after `start`.
    var buttonsWithEntries: Set<ButtonID> { journals.buttonsWithEntries }
    /// The number of entries that no engine has claimed.
    var waitingCount: Int { journals.waitingCount }
    /// The number of entries that were dropped before they were claimed.
    var droppedCount: Int { journals.droppedCount }

    /// Adds a notification to the journal of its button (`UplinkJournals.add`).
    mutating func add(
        _ steps: [FeedStep], of button: ButtonID, at wallClock: UTCTime, as token: RecordToken, isDiskFull: Bool,
        now: Instant
    ) -> UplinkJournals.Outcome {
        // Without a connection, the entries can be sent in the next session at the earliest.
        let first = isConnected ? session : session + 1
        return journals.add(
            steps, of: button, at: wallClock, session: first, as: token, isDiskFull: isDiskFull, now: now)
    }

    /// Drops entries that are too old.
    mutating func dropOld(at now: Instant) -> UplinkJournals.Outcome { journals.dropOld(at: now) }

    /// Everything that was recorded is in the database.
    mutating func storeMended() { journals.storeMended() }

    /// All records up to this one would survive a power cut, so their entries may be sent.
    ///
    /// - Returns: the inputs for `feed`.
    mutating func synced(upTo token: RecordToken) -> [FeedUplink.Input] { journals.synced(upTo: token) }

    /// The first entries with numbers above `number` that would survive a power cut, at most `count`.
    func entries(of button: ButtonID, after number: Int, count: Int) -> [FeedEntry] {
        journals.entries(of: button, after: number, count: count)
    }

    /// An engine has claimed the entries up to this number.
    ///
    /// - Returns: the changes to record.
    mutating func claimed(_ button: ButtonID, _ number: Int, at now: Instant) -> [UplinkChange] {
        connection.claimed(at: now)
        return journals.claimed(button, number)
    }

    /// An engine has done everything up to this number.
    ///
    /// - Returns: the changes to record.
    mutating func done(_ button: ButtonID, _ number: Int) -> [UplinkChange] { journals.done(button, number) }

    // MARK: The connection

    var isConnected: Bool { connection.isConnected }

    /// - Returns: the number of the connection, and the changes to record before the number is used.
    mutating func connected(knowsExpiry: Bool) -> (session: Int, changes: [UplinkChange]) {
        connection.connected(knowsExpiry: knowsExpiry)
        session += 1
        return (session, [.session(session)])
    }

    /// The connection could not be made, or has ended (`UplinkConnection.disconnected`).
    mutating func disconnected(_ reason: String) -> Bool { connection.disconnected(reason) }

    /// The broker refuses a topic of this site (`UplinkConnection.refused`).
    mutating func refused(_ topic: String, toWrite: Bool, _ reason: String) -> String? {
        connection.refused(topic, toWrite: toWrite, reason)
    }

    /// The broker delivers the messages of a topic filter that it has refused before.
    mutating func granted(_ topicFilter: String) { connection.granted(topicFilter) }

    /// Handles a message about the state of an engine (`UplinkConnection.engineHeard`).
    mutating func engineHeard(_ topicName: String, _ payload: [UInt8], at now: Instant) -> Bool? {
        connection.engineHeard(topicName, payload, at: now)
    }

    /// The first of the faults; a sentence for users.
    var connectionFault: String? { connection.fault ?? twinFault ?? connection.shareFault }

    /// What needs attention; sentences for users.
    ///
    /// - Parameter buttons: those that are paired here.
    func warnings(of buttons: [OwnButton], at now: Instant) -> [String] {
        let unmatched = configuration.unmatched(among: buttons.map(\.name))
        let sentence =
            unmatched.isEmpty
            ? nil
            : "uplink: {buttons: [\(unmatched.joined(separator: ", "))]} of tryck.yaml matches no paired button: check the names "
                + "with tryck buttons"
        return [
            connection.untaken(since: journals.oldest, at: now), restoreWarning, sentence, unsentWarning(of: buttons),
        ].compactMap(\.self)
    }

    /// A sentence for users if the rules of this site hear a button that is to be sent, or all of them.
    private func unsentWarning(of buttons: [OwnButton]) -> String? {
        let sendable = buttons.filter { configuration.includes($0.name) }.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
        // Two buttons may have one name, for example their nickname.
        func label(_ button: OwnButton) -> String {
            buttons.count { $0.name == button.name } > 1 ? "\(button.name) (\(button.id))" : button.name
        }
        if let button = sendable.first(where: { $0.rule != nil && configuration.buttons.contains($0.name) }),
            let rule = button.rule
        {
            return
                "the presses of \(label(button)) are not sent to an engine, because the rule \"\(rule)\" of this site hears it, "
                + "although uplink: {buttons: …} of tryck.yaml names it: take it out of one of them"
        }
        guard let button = sendable.first, let rule = button.rule, sendable.allSatisfy({ $0.rule != nil }) else {
            return nil
        }
        return
            "no press of this site is sent to an engine, because its own rules hear every button that would be sent (the rule "
            + "\"\(rule)\" hears \(label(button))): name in them only buttons whose presses stay here; button: any hears all"
    }

    /// A sentence for users if this site was restored and waits for an engine.
    private var restoreWarning: String? {
        guard feed.isRestoreUnanswered else { return nil }
        return
            "this site was restored from an old copy of its state directory, and its presses wait until an engine that leads has said "
            + "which of them are handled: check with tryck status at the engine that it leads"
    }

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
        let refused = connection.refused.map(JSONValue.string)
        return [
            "broker": .string(configuration.broker), "topic": .string(configuration.topic),
            "connected": .bool(isConnected), "fault": fault.map { .string($0) } ?? .null,
            "engine_online": .bool(connection.hasEngine), "expiry": .bool(connection.knowsExpiry),
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
            var problems = feed.problems() + journals.problems(buttons: buttons) + connection.problems()
            if buttons != Set(feed.knownButtons) { problems.append("uplink: the feed knows other buttons") }
            return problems
        }
    #endif
}
