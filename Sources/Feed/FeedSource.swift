package import ButtonModel
package import MQTTTopics

/// The engine's side of the feed: takes each message of the sites' buttons once and in order, and claims it first.
///
/// | a button | on                                   | becomes | and we                                                   |
/// |----------|--------------------------------------|---------|----------------------------------------------------------|
/// | unknown  | hello, and we lead                   | asking  | report what is claimed and not done, announce our claim, send want |
/// | asking, in step | a message whose `prev` is our cursor | in step | record the claim, publish it, and hand the message over |
/// | asking, in step | the same, and the broker is behind with its acknowledgements | unknown | leave it to the site, and ask for it later |
/// | asking, in step | a message at or below our cursor |      | pass it over                                             |
/// | asking, in step | another message               | asking  | send want, once in 50 ms                                 |
/// | any      | the site's hello is emptied, or the connection ends | unknown |                                           |
///
/// The cursor of a button is the highest of three claims: the record on our disk, the retained `cursor` and that in the site's hello.
/// They count only for the installation of the hello. A hello of another installation begins anew: the cursor becomes what the
/// hello says, which is reported. A claim of an earlier life of the same installation (`FeedLife`) counts up to the last message that
/// the hello says to be of an earlier life. A hello is old if its session or life is earlier than that of the claims. The buttons
/// in an old hello stay unknown until a newer hello arrives. A site whose disk was restored from an old copy sends an old hello,
/// too. A leader therefore answers it with a `want` that names the later session, from which the site learns of the copy.
///
/// A claim that the broker has not acknowledged when the connection ends may be lost, and so may the actions that follow it. Its
/// messages are then reported as interrupted when this engine leads again, unless a retained `done` says that they arrived:
/// the claim, the actions and `done` are published in this order. Such messages are given up: the owner acts on nothing of them any
/// more, so that no press is reported and acted on afterwards. Open messages whose claims are acknowledged are still this engine's
/// when it leads again, unless it has stopped: then the engine that leads next reports them.
///
/// No message is acted on twice: a claim is on our disk and on its way to the broker before the message is handed over, and a broker
/// takes what one connection sends in order. The owner carries the effects out in order. When a connection ends, it discards what is under way on it, and reports the actions among it as failed.
package struct FeedSource: Sendable {
    package enum Input: Hashable, Sendable {
        /// The first input: the records on the disk of this engine.
        case start([FeedPosition])
        /// The connection is up, and the subscription of `FeedTopic.filters(ofSites:)` has been sent on it.
        case connected
        /// The retained messages of the subscription have arrived, and this engine leads.
        ///
        /// An engine that leads already raises its term.
        ///
        /// - Parameter term: higher than `highestTerm`, unless this engine has led before and no other since.
        case lead(term: Int)
        /// Nothing is taken until `lead` or `standBy`. What is open stays open, because this engine may go on with it.
        case fence
        /// Another engine leads, or may lead. The owner acts on nothing that is open any more.
        case standBy
        case disconnected
        /// - Parameter brokerAge: the time that the message spent in the broker, as its remaining expiry shows.
        case received(topicName: String, payload: [UInt8], brokerAge: Duration)
        /// Every gesture up to this message is settled, and every first action is out or was reported as failed.
        case settled(FeedPlace)
        /// The owner has not acted on a message that it took, so the message counts as interrupted. `settled` follows.
        case unhandled(FeedPlace)
        /// The broker has acknowledged a message of `Effect.publish`.
        case acknowledged(topicName: String)
        /// A message of `Effect.publish` was not published, and the connection is still up.
        case refused(topicName: String)
        /// The broker has answered a report, which is `Effect.interrupted` or `Effect.lost`.
        ///
        /// - Parameters:
        ///   - first: the first of the reported messages; the place is the last of them.
        ///   - isPublished: false if the broker has refused it, and the connection is still up.
        case reportEnded(FeedPlace, first: Int, isPublished: Bool)
        /// Give up the open messages of a button, because other messages of the same gesture were given up.
        case giveUp(site: String, ButtonID)
        /// The process ends, or cannot record any more: publish how far everything is done. `standBy` follows.
        case resign
        case timerFired
    }

    package enum Effect: Hashable, Sendable, TimerEffect {
        /// Record this before the effects that follow are carried out.
        case record(FeedPosition)
        /// Delete the record of a button.
        case forget(site: String, ButtonID)
        /// Publish a message at QoS 1 on this connection, and never on a later one.
        case publish(MQTTMessage)
        /// A message to act on, with the ages that its steps have now.
        case took(FeedPlace, [FeedStep])
        /// The site's journal has lost this number of messages.
        case lost(FeedPlace, count: Int)
        /// These messages were claimed by an engine that no longer leads, perhaps by this one before it ended, or by this one on
        /// a connection that ended before the broker had acknowledged the claims or the report of `lost`. It is not known whether they
        /// were done.
        case interrupted(FeedPlace, first: Int)
        /// The connection has perhaps lost the claims of messages of these buttons. Do not act on these messages any more; they are
        /// reported later.
        case gaveUp([GivenUp])
        /// Another engine, or an earlier process of this one, has claimed the last messages of the button, and so may have recognised
        /// gestures that are not decided here. The same is said of this engine's own messages that it has not done when it stood by:
        /// a hold of them may have ended meanwhile without an action.
        ///
        /// - Parameter mayBeDown: whether some of these messages are not known to be done, so that they may be the beginning of a
        ///   press that has not ended. They were reported as interrupted.
        case inherited(site: String, ButtonID, mayBeDown: Bool)
        /// The site's hello. It is repeated whenever something in it changes.
        case known(site: String, FeedHello)
        /// The site has no connection.
        case offline(site: String)
        case removed(site: String, ButtonID)
        /// The site numbers the messages of the button anew, after `former`. The place is where it begins.
        case beganAnew(FeedPlace, former: FeedCursor)
        /// The site has begun a new life, because its disk was restored from an old copy. An engine that stands by says so again
        /// when it leads, if it is the first that answers the site.
        case restored(site: String, FeedLife)
        case setTimer(Instant)
        case cancelTimer
        /// Another program has violated the protocol; for the log.
        case anomaly(String)
    }

    /// The messages of a button that are not acted on any more.
    package struct GivenUp: Hashable, Sendable {
        package var site: String
        package var button: ButtonID
        /// When the first of them was taken.
        package var since: Instant

        package init(site: String, button: ButtonID, since: Instant) {
            self.site = site
            self.button = button
            self.since = since
        }
    }

    /// The minimum interval between two messages that tell a site that its hello counts as an old one.
    static let staleHelloReplyInterval = Duration.seconds(5)
    /// The minimum interval between a button's wants.
    package static let minimumWantInterval = Duration.milliseconds(50)
    /// The minimum interval between messages that say how far a button's messages are done.
    package static let minimumDoneInterval = Duration.seconds(1)
    /// The maximum number of buttons that are asked at once when this engine begins to lead or a site connects. Each costs three
    /// messages, and their site answers with up to 20. The others follow as the broker acknowledges.
    package static let maximumAsked = 64
    /// The number of messages of ours that the broker has not acknowledged from which no message is taken. The connection
    /// has a limit for messages that are under way, and refuses further claims.
    package static let maximumUnacknowledged = 256
    /// How long a message that was refused waits until it is published again.
    package static let refusalPause = Duration.seconds(1)
    /// How long a report that was refused waits until it is made again. After twice the longest pause without a refused one, the pauses
    /// are short again.
    package static let reportPauses = Duration.seconds(1)...Duration.seconds(300)
    /// The maximum number of hellos of a site in `helloInterval`. A site that says more counts as gone for the rest of it.
    package static let maximumHellos = 16
    package static let helloInterval = Duration.seconds(1)
    /// The age from which a step counts as queued.
    package static let liveAge = Duration.seconds(1)
    /// The maximum number of sites. Further ones are ignored.
    package static let maximumSites = 1024
    /// The maximum number of anomalies reported for a connection.
    package static let maximumAnomalies = 16

    struct ButtonKey: Hashable, Comparable, Sendable {
        var site: String
        var button: ButtonID

        static func < (left: ButtonKey, right: ButtonKey) -> Bool {
            (left.site, left.button) < (right.site, right.button)
        }
    }

    enum TimerKey: Hashable, Sendable {
        case want(ButtonKey)
        case done(ButtonKey)
        /// When to announce a claim that the broker did not take.
        case claim(ButtonKey)
        /// When to make reports again that the broker has refused.
        case reports
        /// When to handle the last hello of a site that has said more than `maximumHellos`.
        case hello(String)
    }

    enum State: Hashable, Sendable {
        case unknown, asking, inStep
    }

    struct Site: Hashable, Sendable {
        /// The last hello, which counts while the site is here.
        var hello: FeedHello?
        var isHere = false
        var buttons: [ButtonID: Button] = [:]
        /// The hellos since `helloCountBegan`.
        var helloCount = 0
        var helloCountBegan: Instant?
        /// When the site was told last that its hello counts as an old one.
        var toldAt: Instant?
        /// The last hello of a site that has said more than `maximumHellos`, until it is handled.
        var waitingHello: [UInt8]?
        /// The life that the site has begun while this engine stood by, until an engine that leads has answered it.
        var restoredLife: FeedLife?
        /// True if the last hello counts as an old one, and was ignored.
        var hasOldHello = false
    }

    /// The engine's name, at most 64 octets.
    package let engine: String
    /// The highest term of any claim heard so far, and of our own.
    package private(set) var highestTerm = 0
    /// The highest term of any hello heard so far, at most `EngineTerm.greatestLeap` above `highestTerm`. The site that said it
    /// ignores claims of a lower one.
    package private(set) var siteTerm = 0
    private(set) var isConnected = false
    /// Our term while we lead.
    private(set) var term: Int?
    /// True while this engine takes messages.
    package var isTaking: Bool { term != nil }
    var sites: [String: Site] = [:]
    var deadlines = Deadlines<TimerKey>()
    /// The buttons whose messages we take, and whose `want` the broker has not acknowledged.
    var asked: Set<ButtonKey> = []
    /// The buttons whose messages we ask for as soon as there is room to ask.
    var waiting = FeedQueue()
    /// The buttons with reports that the broker has refused on this connection.
    var refusedReports = FeedQueue()
    /// The buttons whose refused reports are made again in the present round, a number of them each second.
    var reportsToMake = FeedQueue()
    /// When the broker has refused a report last.
    var reportRefusedAt: Instant?
    var reportBackOff = BackOff(FeedSource.reportPauses)
    /// The number of our messages on this connection that the broker has not acknowledged.
    var unacknowledgedCount = 0
    /// True if a further button may be asked. Half of the places are for the claims of what the sites answer.
    var hasRoomToAsk: Bool {
        asked.count < Self.maximumAsked && unacknowledgedCount < Self.maximumUnacknowledged / 2
    }
    /// The number of messages `cursor` and `done` of removed buttons that the broker has not acknowledged, by topic. Their
    /// acknowledgements come before those of messages of the same button when its site has it again.
    var sentBeforeRemoval: [String: Int] = [:]
    private var anomalyCount = 0
    var effects: [Effect] = []

    package init(engine: String) { self.engine = engine }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        switch input {
        case .start(let positions):
            for position in positions {
                highestTerm = max(highestTerm, position.claim.term)
                sites[position.site, default: Site()].buttons[position.button] = Button(own: position)
            }
        case .connected:
            isConnected = true
            anomalyCount = 0
        case .lead(let term):
            guard isConnected else { break }
            let isRaised = self.term != nil
            self.term = term
            highestTerm = max(highestTerm, term)
            for key in knownKeys { if isRaised { announceIfNeeded(key) } else { lead(key, at: now) } }
            for site in sites.keys.sorted() { reportRestoreAgain(of: site) }
        case .fence: stop()
        case .standBy:
            stop()
            for key in allKeys { self[key]?.standBy() }
        case .disconnected: disconnected()
        case .received(let name, let payload, let brokerAge): received(name, payload, brokerAge: brokerAge, at: now)
        case .settled(let place): settled(place, at: now)
        case .unhandled(let place): unhandled(place)
        case .acknowledged(let name): acknowledged(name)
        case .refused(let name): refused(name, at: now)
        case .reportEnded(let place, let first, let isPublished):
            reportEnded(place, first: first, isPublished: isPublished, at: now)
        case .giveUp(let site, let id): giveUp(ButtonKey(site: site, button: id))
        case .resign:
            let keys = deadlines.keys.compactMap { if case .done(let key) = $0 { key } else { nil } }
            for key in keys.sorted() { publishDone(key, at: now) }
        case .timerFired:
            for key in deadlines.takeDue(at: now) { expire(key, at: now) }
        }
        startWaiting(at: now)
        deadlines.appendChange(to: &effects)
        defer { effects = [] }
        return effects
    }

    private mutating func expire(_ key: TimerKey, at now: Instant) {
        switch key {
        case .want(let key): if self[key]?.hasGap == true { ask(key, at: now) }
        case .done(let key): publishDone(key, at: now)
        case .claim(let key): announceIfNeeded(key)
        case .reports: reportAgain(at: now)
        case .hello(let site): sayWaitingHello(of: site, at: now)
        }
    }

    // MARK: Leading

    /// The buttons of the connected sites, in order.
    private var knownKeys: [ButtonKey] { Self.keys(of: sites.filter(\.value.isHere)) }

    /// The buttons of all sites, in order.
    private var allKeys: [ButtonKey] { Self.keys(of: sites) }

    private static func keys(of sites: [String: Site]) -> [ButtonKey] {
        sites.sorted { $0.key < $1.key }.flatMap { site in
            site.value.buttons.keys.sorted().map { ButtonKey(site: site.key, button: $0) }
        }
    }

    private mutating func lead(_ key: ButtonKey, at now: Instant) {
        if sites[key.site]?.hello?.buttons[key.button] == nil { remove(key) } else { begin(key, at: now) }
    }

    private mutating func stop() {
        term = nil
        asked = []
        waiting = FeedQueue()
        for site in sites.keys { forgetStates(of: site) }
    }

    private mutating func disconnected() {
        stop()
        isConnected = false
        unacknowledgedCount = 0
        sentBeforeRemoval = [:]
        refusedReports = FeedQueue()
        reportsToMake = FeedQueue()
        reportBackOff.reset()
        deadlines.cancel(.reports)
        // `gaveUp` comes before `offline`: otherwise the end of the link to the site would complete gestures of presses that are
        // given up.
        var givenUp: [GivenUp] = []
        for key in allKeys {
            if let since = self[key]?.givenUpSince {
                givenUp.append(GivenUp(site: key.site, button: key.button, since: since))
            }
            self[key]?.connectionEnded()
        }
        if !givenUp.isEmpty { effects.append(.gaveUp(givenUp)) }
        for name in sites.keys.sorted() {
            deadlines.cancel(.hello(name))
            sites[name]?.waitingHello = nil
            sites[name]?.helloCount = 0
            sites[name]?.hasOldHello = false
            guard sites[name]?.isHere == true else { continue }
            sites[name]?.isHere = false
            effects.append(.offline(site: name))
        }
    }

    private mutating func giveUp(_ key: ButtonKey) {
        guard let since = self[key]?.openSince else { return }
        self[key]?.giveUpOpen()
        effects.append(.gaveUp([GivenUp(site: key.site, button: key.button, since: since)]))
    }

    mutating func forgetStates(of site: String) {
        for id in sites[site]?.buttons.keys.map({ $0 }) ?? [] {
            let key = ButtonKey(site: site, button: id)
            self[key]?.state = .unknown
            self[key]?.hasGap = false
            cancelDeadlines(of: key)
            asked.remove(key)
            waiting.remove(key)
        }
    }

    mutating func cancelDeadlines(of key: ButtonKey) {
        deadlines.cancel(.want(key))
        deadlines.cancel(.done(key))
        deadlines.cancel(.claim(key))
    }

    /// Another engine's term. If it is higher than ours, nothing is taken until `lead`. The owner learns of it from `highestTerm`.
    mutating func heard(term other: Int) {
        if let fault = EngineTerm.fault(of: other, after: highestTerm, leads: term != nil) { return noteAnomaly(fault) }
        highestTerm = max(highestTerm, other)
        guard let term, other > term else { return }
        stop()
    }

    /// The term of a hello. It does not stop us, whatever it is, because it concerns one site only.
    mutating func heard(siteTerm other: Int, of site: String) {
        let limit = highestTerm + EngineTerm.greatestLeap
        if other > limit { noteAnomaly("\(site): its term \(other) is far above \(highestTerm), that of engines") }
        siteTerm = max(siteTerm, min(other, limit))
    }

    // MARK: Helpers

    subscript(key: ButtonKey) -> Button? {
        get { sites[key.site]?.buttons[key.button] }
        set { sites[key.site]?.buttons[key.button] = newValue }
    }

    mutating func publish(_ key: ButtonKey, _ kind: FeedTopic.Kind, _ payload: [UInt8], isRetained: Bool) {
        let name = FeedTopic(key.site, kind).description
        unacknowledgedCount += 1
        effects.append(.publish(MQTTMessage(topicName: name, payload: payload, qos: 1, retain: isRetained)))
    }

    mutating func noteAnomaly(_ text: String) {
        anomalyCount += 1
        guard anomalyCount <= Self.maximumAnomalies else { return }
        effects.append(.anomaly(anomalyCount < Self.maximumAnomalies ? text : "\(text); later ones are not logged"))
    }
}
