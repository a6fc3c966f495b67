package import ButtonModel
package import MQTTTopics

/// The site's side of the feed: sends the messages of its journal that no engine has claimed.
///
/// | a button | on                                      | becomes | and we                                          |
/// |----------|-----------------------------------------|---------|-------------------------------------------------|
/// | unasked  | want of this session                    | sent    | send from there                                 |
/// | unasked  | 1 s, 2 s … 10 s, the journal has messages, the engine is online | unasked | say hello once more     |
/// | idle     | recorded                                | sent    | send it                                         |
/// | sent     | recorded, fewer than 20 are unclaimed   | sent    | send it                                         |
/// | sent     | claimed, the journal has more           | sent    | forget what is claimed, send up to 20           |
/// | sent     | claimed, the journal has no more        | idle    | forget what is claimed                          |
/// | sent     | 10 s without a claim, the engine is online | sent | send once more from the cursor                  |
/// | any      | want                                    | sent    | send from there                                 |
/// | any      | want below what is claimed              | sent    | say hello, which says what is claimed, and send from there |
/// | any      | want above what is claimed              | sent    | send from there; wait 10 s for a claim, too     |
/// | any      | connected                               | unasked | say hello                                       |
/// | any      | disconnected                            | unasked | discard what is under way                       |
/// | any      | a claim or a want of what was never sent, of a later session or of a later life | unasked | begin a new life, and say hello |
///
/// The journal itself is on the owner's disk; this machine has only numbers. The owner reports an entry as recorded when it
/// would survive a power cut: otherwise the number could later mean another press, which the engine would pass over. It
/// carries effects out in their order, and a number that was given out is never given to another message of this life, even if
/// the button is removed and paired again.
///
/// A disk that was restored from an old copy has given out numbers that the copy does not know of. In a connection, nothing is
/// sent of a button before an engine has said in a `want` where its claims end, so no press is taken for an older one
/// with its number. A claim of what this site cannot have sent shows that its disk is a copy. It then begins a new life
/// (`FeedLife`), and says of each button which messages may be of an earlier one (`FeedFormer`): only these may be claimed already.
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

    /// A proof that the disk is an old copy.
    package enum Evidence: Hashable, Sendable {
        /// An engine has claimed this message of a button.
        case claim(ButtonID, Int)
        /// The broker knows a hello of a later session.
        case hello(session: Int)
    }

    package enum Effect: Hashable, Sendable, TimerEffect {
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
        /// Record that messages are sent in this session.
        case asked(session: Int)
        /// The disk is an old copy. Record the number of the new life, and for each button what may be of an earlier life,
        /// before the effects that follow.
        case beganLife(Int, [ButtonID: FeedFormer], Evidence)
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
    /// How long a button first waits for an engine to ask; then twice as long each time, up to `claimLimit`.
    package static let askLimit = Duration.seconds(1)
    /// The maximum number of lives that begin in `lifeInterval`. Without it, two sites with copies of one disk would begin lives
    /// for ever.
    package static let maximumLives = 4
    package static let lifeInterval = Duration.seconds(600)

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
        /// True if an engine has asked on this connection, so that messages may be sent.
        var isAsked = false
        /// How often hello was said on this connection because no engine asked.
        var unaskedCount = 0
        /// The last number in the journal when this process got it from the disk.
        var storedLast: Int

        init(_ journal: FeedJournal) {
            self.journal = journal
            position = journal.button.claimed
            storedLast = journal.button.last
        }

        /// The highest number that an engine can have claimed of this site's messages.
        var claimable: Int { max(journal.sent, facts.claimed, facts.former?.last ?? 0) }

        var facts: FeedHello.Button { journal.button }

        /// True if an engine still has to claim messages that were sent, or to ask for messages that were not. If it has asked above
        /// what is claimed, its claim was ignored, because the term is lower than one that the site has heard. The next hello says
        /// that term.
        var hasToBeClaimed: Bool { facts.claimed < (isAsked ? position : facts.last) }
    }

    /// The site's base topic, such as `tryck/berlin7`.
    package let topic: String
    package let site: String
    private(set) var life: FeedLife
    /// The installation and its life, as hellos and claims name it.
    package var installation: String { life.installation }
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
    /// The lives since `livesBegan`.
    private var lifeCount = 0
    private var livesBegan: Instant?
    private var hasAsked = false
    /// True if the disk was found to be an old copy, and no engine has asked for messages since. A process that finds messages of an
    /// earlier life on the disk does not know whether one has.
    package private(set) var isRestoreUnanswered = false
    var effects: [Effect] = []

    /// - Parameters:
    ///   - site: the site's name in reports, at most 64 octets.
    ///   - life: the number of the life on the disk.
    package init(topic: String, site: String, installation: String, life: Int = 1) {
        self.topic = topic
        self.site = site
        self.life = FeedLife(root: installation, number: life)
    }

    /// The buttons that are part of the feed.
    package var knownButtons: some Sequence<ButtonID> { buttons.keys }

    /// The number of messages in the journals that no engine has claimed, and of those that were lost before one did.
    package var backlog: Int { buttons.values.reduce(0) { $0 + $1.facts.last - $1.facts.claimed } }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        switch input {
        case .start(let journals, let term):
            self.term = term
            isRestoreUnanswered = journals.values.contains { $0.button.former != nil }
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
        deadlines.appendChange(to: &effects)
        defer { effects = [] }
        return effects
    }

    private mutating func expire(_ key: TimerKey, at now: Instant) {
        switch key {
        case .hello: sayHello(at: now)
        case .claim(let id):
            guard let button = buttons[id] else { return }
            // The hello asks the engine to say again from where it wants messages.
            guard !button.isAsked else { return send(from: button.facts.claimed, of: id, at: now) }
            buttons[id]?.unaskedCount += 1
            awaitClaim(of: id, at: now)
        case .want(let id):
            guard let after = buttons[id]?.waitingWant else { return }
            answer(want: after, of: id, at: now)
        }
    }

    // MARK: The connection

    private mutating func connected(_ session: Int, at now: Instant) {
        self.session = session
        anomalyCount = 0
        hasAsked = false
        helloCountBegan = nil
        sayHello(at: now)
        for id in buttons.keys.sorted() { send(from: buttons[id]?.facts.claimed ?? 0, of: id, at: now) }
    }

    private mutating func disconnected() {
        session = nil
        deadlines.cancel(.hello)
        for id in buttons.keys { forgetSent(id) }
    }

    /// Sends nothing of a button until an engine asks.
    private mutating func forgetSent(_ id: ButtonID) {
        buttons[id]?.unclaimed = []
        buttons[id]?.answeredAt = nil
        buttons[id]?.waitingWant = nil
        buttons[id]?.isAsked = false
        buttons[id]?.unaskedCount = 0
        deadlines.cancel(.claim(id))
        deadlines.cancel(.want(id))
    }

    // MARK: Lives

    /// Begins a new life, because the disk is an old copy.
    ///
    /// - Parameter other: the number of the life that the evidence is from.
    mutating func beginLife(after other: Int, _ evidence: Evidence, at now: Instant) {
        let number = max(life.number, other) + 1
        if let began = livesBegan, now < began + Self.lifeInterval {
            lifeCount += 1
        } else {
            (lifeCount, livesBegan) = (1, now)
        }
        // If our hello is still an old one then, the engine says so again, and the next life begins after the interval.
        guard lifeCount <= Self.maximumLives, number <= FeedLife.greatest else {
            return noteAnomaly("lives begin again and again: \(evidence)")
        }
        life.number = number
        isRestoreUnanswered = true
        var formers: [ButtonID: FeedFormer] = [:]
        for (id, button) in buttons {
            let (sent, claimed) = (button.journal.sent, button.facts.claimed)
            let last = max(sent, button.storedLast, button.facts.former?.last ?? 0)
            let former = FeedFormer(last: last, certain: sent, session: button.journal.unsentSession)
            buttons[id]?.journal.button.former = last > claimed ? former : nil
            if last > claimed { formers[id] = former }
            forgetSent(id)
            buttons[id]?.position = claimed
        }
        effects.append(.beganLife(number, formers, evidence))
        sayHello(at: now)
        for id in buttons.keys { awaitClaim(of: id, at: now) }
    }

    /// An engine has asked for messages of a button in this session.
    mutating func asked(_ id: ButtonID) {
        buttons[id]?.isAsked = true
        isRestoreUnanswered = false
        guard !hasAsked, let session else { return }
        hasAsked = true
        effects.append(.asked(session: session))
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
        buttons[id] = Button(journal)
    }

    private mutating func changed(_ id: ButtonID, _ journal: FeedJournal, at now: Instant) {
        if let known = buttons[id]?.facts {
            var facts = journal.button
            (facts.last, facts.claimed, facts.done) = (known.last, known.claimed, known.done)
            facts.former = known.former
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
        let isNext = session != nil && button.isAsked && button.position == entry.number - 1
        if !button.isAsked, deadlines.deadline(of: .claim(id)) == nil { awaitClaim(of: id, at: now) }
        guard isNext, button.unclaimed.count < Self.maximumUnclaimed else { return fill(id, at: now) }
        send(entry.message(at: now), of: id, at: now)
    }

    private mutating func read(_ entries: [FeedEntry], of id: ButtonID, at now: Instant) {
        guard let after = buttons[id]?.reading else { return }
        buttons[id]?.reading = nil
        guard buttons[id]?.isAsked == true else { return }
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

    /// Starts to send anew with what follows `number`, if an engine has asked.
    mutating func send(from number: Int, of id: ButtonID, at now: Instant) {
        buttons[id]?.position = number
        buttons[id]?.unclaimed = []
        awaitClaim(of: id, at: now)
        fill(id, at: now)
    }

    /// Sends what may be sent, as far as it need not be read first.
    mutating func fill(_ id: ButtonID, at now: Instant) {
        guard session != nil, let button = buttons[id], button.isAsked, button.position < button.facts.last,
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
        guard var button = buttons[id] else { return }
        button.position = message.number
        button.journal.sent = max(button.journal.sent, message.number)
        button.unclaimed.append(message.number)
        buttons[id] = button
        if deadlines.deadline(of: .claim(id)) == nil { awaitClaim(of: id, at: now) }
    }

    /// Starts to wait for a claim, or for an engine to ask, if there is something to claim and an engine that could.
    mutating func awaitClaim(of id: ButtonID, at now: Instant) {
        guard let button = buttons[id], session != nil, isEngineOnline, button.hasToBeClaimed else {
            return deadlines.cancel(.claim(id))
        }
        let limit = button.isAsked ? Self.claimLimit : Self.askLimit * (1 << min(button.unaskedCount, 4))
        deadlines.set(.claim(id), at: now + min(limit, Self.claimLimit))
    }
}
