package import ButtonModel
package import MQTTTopics

/// The site's side of the feed: sends the messages of its journal that no engine has claimed.
///
/// | a button | on                                      | becomes | and we                                          |
/// |----------|-----------------------------------------|---------|-------------------------------------------------|
/// | idle     | recorded                                | sent    | send it                                         |
/// | sent     | recorded, fewer than 20 are unclaimed   | sent    | send it                                         |
/// | sent     | claimed, the journal has more           | sent    | forget what is claimed, send up to 20           |
/// | sent     | claimed, the journal has no more        | idle    | forget what is claimed                          |
/// | sent     | 10 s without a claim, the engine is online | sent | send once more from the cursor                  |
/// | any      | want                                    | sent    | send from there                                 |
/// | any      | want below what is claimed              | sent    | say hello, which says what is claimed, and send from there |
/// | any      | connected                               | sent    | say hello, and send from the cursor             |
/// | any      | disconnected                            | idle    | discard what is under way                       |
///
/// The journal itself is on the owner's disk; this machine has only numbers. The owner reports an entry as recorded when it
/// would survive a power cut: otherwise the number could later mean another press, which the engine would pass over. It
/// carries effects out in their order, and a number that was given out is never given to another message of this
/// installation, even if the button is removed and paired again.
package struct FeedUplink: Sendable {
    package enum Input: Hashable, Sendable {
        /// The first input.
        ///
        /// - Parameter term: the highest term of a claim so far.
        case start([ButtonID: FeedJournal], term: Int)
        /// A button was paired, or its facts have changed. Of a known button, `last`, `claimed` and `done` are ignored.
        case button(ButtonID, FeedJournal)
        case removed(ButtonID)
        /// A new entry is synced to the disk. Its number is one higher than that of the previous entry, or more if the journal
        /// has dropped the entries between them.
        case recorded(ButtonID, FeedEntry)
        /// The journal has dropped the entries below `first`.
        case trimmed(ButtonID, first: Int)
        /// The answer to the effect `read`; fewer entries than requested if the journal has no more.
        case read(ButtonID, [FeedEntry])
        /// The connection is up, and the subscription of `FeedTopic.filters(ofSite:)` has been sent on it.
        ///
        /// - Parameter session: higher than in all earlier connections.
        case connected(session: Int)
        case disconnected
        /// An engine that takes this site's messages has come or gone.
        case engine(isOnline: Bool)
        case received(topicName: String, payload: [UInt8])
        /// A message of `Effect.publish` was not published, and the connection is still up. What is not claimed is sent again
        /// anyway, so this is needed for the hello only.
        case refused(topicName: String)
        case timerFired
    }

    package enum Effect: Hashable, Sendable {
        /// Publish a message at QoS 1 on this connection, and never on a later one.
        case publish(MQTTMessage, expiry: Duration?)
        /// Read at most `count` entries with numbers above `after`, in their order.
        case read(ButtonID, after: Int, count: Int)
        /// Record that the entries up to this number are claimed; the journal can drop them.
        case claimed(ButtonID, Int)
        /// Record that everything up to this number is done.
        case done(ButtonID, Int)
        /// Record the highest term.
        case term(Int)
        case setTimer(Instant)
        case cancelTimer
        /// Another program has violated the protocol; for the log.
        case anomaly(String)
    }

    /// The maximum number of messages of a button that are sent and not claimed.
    package static let maximumUnclaimed = 20
    package static let claimLimit = Duration.seconds(10)
    /// How long the broker keeps a message for an engine. The journal has it longer.
    package static let expiry = Duration.seconds(3600)
    /// The minimum interval between the answers to a button's wants, because each costs `maximumUnclaimed` messages.
    package static let minimumWantInterval = Duration.milliseconds(50)
    /// The maximum number of anomalies reported for a connection.
    package static let maximumAnomalies = 16

    /// The maximum number of hellos in `helloInterval`. A later change waits, so that a reload of rules that renames many buttons
    /// costs few hellos.
    package static let maximumHellos = 8
    package static let helloInterval = Duration.seconds(1)
    /// How long a hello that was refused waits until it is said again.
    package static let refusalPause = Duration.seconds(1)

    enum TimerKey: Hashable, Sendable {
        /// When to say hello, because it was refused or would have been one too many.
        case hello
        case claim(ButtonID)
        case want(ButtonID)
    }

    struct Button: Hashable, Sendable {
        var journal: FeedJournal
        /// The number of the message that was sent last, or from which the sending starts.
        var position: Int
        /// The numbers of the messages that were sent and are not claimed, in their order.
        var unclaimed: [Int] = []
        /// The number after which the journal is being read.
        var reading: Int?
        /// When the last want was answered, and a later one that waits.
        var answeredAt: Instant?
        var waitingWant: Int?

        var facts: FeedHello.Button { journal.button }
    }

    /// The site's base topic, such as `tryck/berlin7`.
    package let topic: String
    package let site: String
    package let installation: String
    /// The session of the connection; `nil` without one.
    private(set) var session: Int?
    private(set) var isEngineOnline = false
    var term = 0
    var buttons: [ButtonID: Button] = [:]
    var deadlines = Deadlines<TimerKey>()
    /// The hellos since `helloCountBegan`.
    private var helloCount = 0
    private var helloCountBegan: Instant?
    private var anomalyCount = 0
    var effects: [Effect] = []

    /// - Parameter site: the site's name in reports, at most 64 octets.
    package init(topic: String, site: String, installation: String) {
        self.topic = topic
        self.site = site
        self.installation = installation
    }

    /// The buttons that are part of the feed.
    package var knownButtons: some Sequence<ButtonID> { buttons.keys }

    /// The number of messages in the journals that no engine has claimed, and of those that were lost before one did.
    package var backlog: Int { buttons.values.reduce(0) { $0 + $1.facts.last - $1.facts.claimed } }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        switch input {
        case .start(let journals, let term):
            self.term = term
            for (id, journal) in journals.sorted(by: { $0.key < $1.key }) { add(id, journal) }
        case .button(let id, let journal): changed(id, journal, at: now)
        case .removed(let id): removed(id, at: now)
        case .recorded(let id, let entry): recorded(entry, of: id, at: now)
        case .trimmed(let id, let first):
            guard let journal = buttons[id]?.journal else { break }
            buttons[id]?.journal.first = min(max(journal.first, first), journal.button.last + 1)
        case .read(let id, let entries): read(entries, of: id, at: now)
        case .connected(let session): connected(session, at: now)
        case .disconnected: disconnected()
        case .engine(let isOnline):
            // A leader repeats that it is online, and the repetition must not restart the wait for claims.
            guard isOnline != isEngineOnline else { break }
            isEngineOnline = isOnline
            for id in buttons.keys { awaitClaim(of: id, at: now) }
        case .received(let name, let payload): received(name, payload, at: now)
        case .refused(let name):
            guard session != nil, name == FeedTopic(topic, .hello).description else { break }
            deadlines.set(.hello, at: now + Self.refusalPause)
        case .timerFired:
            let due = deadlines.takeDue(at: now)
            // An engine is online and claims nothing, perhaps because the broker has lost the hello.
            if due.contains(where: { if case .claim = $0 { true } else { false } }) { sayHello(at: now) }
            for key in due { expire(key, at: now) }
        }
        switch deadlines.rearm() {
        case .set(let deadline): effects.append(.setTimer(deadline))
        case .cancel: effects.append(.cancelTimer)
        case nil: break
        }
        defer { effects = [] }
        return effects
    }

    private mutating func expire(_ key: TimerKey, at now: Instant) {
        switch key {
        case .hello: sayHello(at: now)
        case .claim(let id):
            guard let claimed = buttons[id]?.facts.claimed else { return }
            send(from: claimed, of: id, at: now)
        case .want(let id):
            guard let after = buttons[id]?.waitingWant else { return }
            answer(want: after, of: id, at: now)
        }
    }

    // MARK: The connection

    private mutating func connected(_ session: Int, at now: Instant) {
        self.session = session
        anomalyCount = 0
        helloCountBegan = nil
        sayHello(at: now)
        for id in buttons.keys.sorted() { send(from: buttons[id]?.facts.claimed ?? 0, of: id, at: now) }
    }

    private mutating func disconnected() {
        session = nil
        deadlines.cancel(.hello)
        for id in buttons.keys {
            buttons[id]?.unclaimed = []
            buttons[id]?.answeredAt = nil
            buttons[id]?.waitingWant = nil
            deadlines.cancel(.claim(id))
            deadlines.cancel(.want(id))
        }
    }

    mutating func sayHello(at now: Instant) {
        guard let session else { return }
        if let began = helloCountBegan, now < began + Self.helloInterval {
            helloCount += 1
            if helloCount > Self.maximumHellos { return deadlines.set(.hello, at: began + Self.helloInterval) }
        } else {
            (helloCount, helloCountBegan) = (1, now)
        }
        deadlines.cancel(.hello)
        let hello = FeedHello(
            site: site, installation: installation, session: session, term: term, buttons: buttons.mapValues(\.facts))
        publish(.hello, hello.encoded(), isRetained: true)
    }

    private mutating func publish(
        _ kind: FeedTopic.Kind, _ payload: [UInt8], isRetained: Bool = false, expiry: Duration? = nil
    ) {
        let name = FeedTopic(topic, kind).description
        effects.append(
            .publish(MQTTMessage(topicName: name, payload: payload, qos: 1, retain: isRetained), expiry: expiry))
    }

    mutating func noteAnomaly(_ text: String) {
        anomalyCount += 1
        guard anomalyCount <= Self.maximumAnomalies else { return }
        effects.append(.anomaly(anomalyCount < Self.maximumAnomalies ? text : "\(text); later ones are not logged"))
    }

    // MARK: The buttons and their journals

    private mutating func add(_ id: ButtonID, _ journal: FeedJournal) {
        guard buttons.count < FeedHello.maximumButtons else {
            return noteAnomaly(
                "\(id) is not part of the feed, because a site has at most \(FeedHello.maximumButtons) buttons")
        }
        buttons[id] = Button(journal: journal, position: journal.button.claimed)
    }

    private mutating func changed(_ id: ButtonID, _ journal: FeedJournal, at now: Instant) {
        if let known = buttons[id]?.facts {
            var facts = journal.button
            (facts.last, facts.claimed, facts.done) = (known.last, known.claimed, known.done)
            guard facts != known else { return }
            buttons[id]?.journal.button = facts
            sayHello(at: now)
        } else {
            add(id, journal)
            sayHello(at: now)
            fill(id, at: now)
        }
    }

    private mutating func removed(_ id: ButtonID, at now: Instant) {
        guard buttons.removeValue(forKey: id) != nil else { return }
        deadlines.cancel(.claim(id))
        deadlines.cancel(.want(id))
        sayHello(at: now)
    }

    private mutating func recorded(_ entry: FeedEntry, of id: ButtonID, at now: Instant) {
        guard let button = buttons[id], entry.number > button.facts.last else { return }
        // After a gap in the numbers, the journal has dropped the missing entries and all earlier ones.
        if entry.number > button.facts.last + 1 { buttons[id]?.journal.first = entry.number }
        buttons[id]?.journal.button.last = entry.number
        // Nothing before it waits, so the journal need not be read.
        let isNext = session != nil && button.position == entry.number - 1
        guard isNext, button.unclaimed.count < Self.maximumUnclaimed else { return fill(id, at: now) }
        send(entry.message(at: now), of: id, at: now)
    }

    private mutating func read(_ entries: [FeedEntry], of id: ButtonID, at now: Instant) {
        guard let after = buttons[id]?.reading else { return }
        buttons[id]?.reading = nil
        guard session != nil else { return }
        let isCurrent = buttons[id]?.position == after
        for entry in entries {
            guard let button = buttons[id], button.unclaimed.count < Self.maximumUnclaimed else { break }
            if entry.number == button.position + 1 { send(entry.message(at: now), of: id, at: now) }
        }
        if isCurrent, let button = buttons[id], button.position == after, after >= button.journal.first - 1 {
            // The journal lacks the entry, so it is lost.
            let next = entries.first { $0.number > after }?.number ?? button.facts.last + 1
            buttons[id]?.journal.first = min(next, button.facts.last + 1)
        }
        fill(id, at: now)
    }

    // MARK: Sending

    /// Starts to send anew with what follows `number`.
    mutating func send(from number: Int, of id: ButtonID, at now: Instant) {
        buttons[id]?.position = number
        buttons[id]?.unclaimed = []
        deadlines.cancel(.claim(id))
        fill(id, at: now)
    }

    /// Sends what may be sent, as far as it need not be read first.
    mutating func fill(_ id: ButtonID, at now: Instant) {
        guard session != nil, let button = buttons[id], button.position < button.facts.last,
            button.unclaimed.count < Self.maximumUnclaimed
        else { return }
        if button.position + 1 < button.journal.first {
            let lost = FeedMessage(number: button.journal.first - 1, previous: button.position, content: .lost)
            send(lost, of: id, at: now)
            fill(id, at: now)
        } else if button.reading == nil {
            buttons[id]?.reading = button.position
            let count = Self.maximumUnclaimed - button.unclaimed.count
            effects.append(.read(id, after: button.position, count: count))
        }
    }

    private mutating func send(_ message: FeedMessage, of id: ButtonID, at now: Instant) {
        publish(.messages(id), message.encoded(), expiry: Self.expiry)
        buttons[id]?.position = message.number
        buttons[id]?.unclaimed.append(message.number)
        if deadlines.deadline(of: .claim(id)) == nil { awaitClaim(of: id, at: now) }
    }

    /// Starts to wait for a claim, if there is something to claim and an engine that could.
    mutating func awaitClaim(of id: ButtonID, at now: Instant) {
        let isAwaited = isEngineOnline && buttons[id]?.unclaimed.isEmpty == false
        deadlines.set(.claim(id), at: isAwaited ? now + Self.claimLimit : nil)
    }
}
