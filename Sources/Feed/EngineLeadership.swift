package import ButtonModel
package import MQTTTopics

/// Decides whether an engine leads its share, or stands by until the leader is gone.
///
/// | state       | on                                              | becomes     | and we                                   |
/// |-------------|-------------------------------------------------|-------------|------------------------------------------|
/// | standing by | the leader says `offline`, or is silent for its patience, or nothing is retained 5 s after connecting | claiming | publish our claim with a new term, and wait 1 s |
/// | claiming    | 1 s                                             | claiming    | publish our claim again                  |
/// | claiming    | a claim of ours comes back that was published 1 s after the first one, and in our patience | leading | lead, and say `online` |
/// | claiming    | we hear the former leader before our claim comes back | claiming | wait for its patience, and publish our claim each second |
/// | claiming, leading | a lower claim                             |             | publish ours again                       |
/// | claiming, leading | a higher claim                            | standing by | stop at once; say `offline` if we may have led; claim nothing for 2.5 s |
/// | claiming    | another engine's lower claim by which it may lead | claiming  | wait for its patience, unless it says `offline` |
/// | claiming    | disconnected                                    | standing by |                                          |
/// | claiming    | ten claims in a row have not come back (deaf)   | standing by | say `offline`, and claim nothing until we hear something on the topic of the claims |
/// | standing by | we hear a state, but in 20 s neither a claim nor two messages of ours on their topic (deaf) | standing by | claim nothing until we hear something there |
/// | leading     | 3 s (`stateInterval`)                           | leading     | say `online` again; if a site ignores claims of our term, claim with a higher one |
/// | leading     | disconnected                                    | fenced      | act on nothing                           |
/// | leading     | none of our states has come back for our patience | fenced    | act on nothing, and publish our claim again |
/// | fenced      | connected, and the retained claim is ours       | fenced      | publish our claim again                  |
/// | fenced      | our claim comes back, and in our patience       | leading     | go on                                    |
/// | fenced      | connected, and the retained claim is higher     | standing by | stop                                     |
/// | fenced      | another engine's lower claim by which it may lead | claiming  | stop, claim with a new term, and wait for its patience |
/// | fenced      | 1.5 s after connecting none is retained, or it is lower | claiming | stop, and claim with a new term      |
/// | standing by | 3 s (`stateInterval`), and the leader is online | standing by | say on `standby` that we could lead      |
/// | leading     | resign, or nothing can be recorded              | standing by | stop; claim for a stand-by, else say `offline` |
/// | standing by | a claim with our name that we did not make, after our `standby` | claiming | publish it, and lead as soon as it comes back |
///
/// A leader that ends in order hands over with one message. The stand-by leads without the usual wait for other claims, because the
/// leader stops before it publishes the claim for the stand-by. If the stand-by is gone by then, the other engines notice its
/// silence, as they do for any leader.
///
/// An engine leads only by a claim of its own that it published on this connection and that has come back: it may have been stopped, or
/// its messages may be late, so a retained claim and a claim of another engine for it do not say what the broker has received since.
/// All claims that the broker had before this one have been heard by then. A broker may send a copy of a message for each subscription
/// that matches, so each claim of a term has a number, and so has each `online` of a process. A copy of an earlier one does not count.
/// Two engines that claim at the same moment take the same term. The one with the lower claim hears the other one before its second
/// claim comes back, so it does not lead.
///
/// Name and installation together identify an engine. An engine that has our name in another installation is treated as any
/// other engine, and users are also told that two engines have one name (`namesake`).
///
/// A new term is one above the highest term in a claim, in the own record, and in the cursors and hellos of sites. A hello never
/// stops an engine, because one site must not be able to stop the rules of the others. After a hello with a higher term, a leader
/// raises its own term and goes on leading, at most once in 3 s and by at most `EngineTerm.greatestLeap`.
///
/// An engine's will says `offline` even if the engine stands by, so `offline` counts only from the engine whose claim was last.
/// `online` in our own name, while we do not lead, is a message of an earlier process and counts as `offline`.
///
/// A broker such as mosquitto grants a subscription that its access rules do not allow, and delivers nothing. An engine that may
/// write its claims and not read them would end each good leader and never lead. It is deaf: it claims nothing, and publishes an
/// empty message every 10 s that comes back when it may read. Other engines ignore this message. A stand-by that may read states
/// and not claims publishes the same message before it has to claim, so that users learn of it while the leader still leads. While
/// retained messages arrive, neither claims nor these messages are counted, because they come behind them.
///
/// No lock is needed. All presses and messages go through the one broker: an engine whose connection is dead can
/// publish nothing, and sites ignore claims with a lower term than the highest that they have heard.
package struct EngineLeadership: Sendable {
    package enum Input: Hashable, Sendable {
        /// The first input.
        ///
        /// - Parameter term: the highest term on the disk of this engine.
        case start(term: Int)
        /// The connection is up, and the subscription of `filters` has been sent on it.
        case connected
        case disconnected
        /// - Parameter isRetained: whether the broker had stored the message before we subscribed, or says it again for a further filter.
        case received(topicName: String, payload: [UInt8], isRetained: Bool = false)
        /// The highest term in the claims of messages, which engines publish.
        case heard(term: Int)
        /// The highest term in the hellos of sites, at most `EngineTerm.greatestLeap` above the highest term of engines. Sites
        /// ignore claims with a lower term.
        case sitesHeard(term: Int)
        /// The broker still sends what is retained, behind which our claim comes. Only needed if `missesClaims`.
        case backlog
        /// The fingerprint of the rules that run.
        case rules(String)
        /// False if the disk cannot record claims. This engine then stops leading. Presses are handled by another engine, or stay
        /// in the journals of their sites.
        case canRecord(Bool)
        /// The process ends. No input follows.
        case resign
        case timerFired
    }

    package enum Effect: Hashable, Sendable, TimerEffect {
        /// Record the term before the effects that follow are carried out.
        case record(term: Int)
        /// Publish a message at QoS 1 on this connection, and never on a later one.
        case publish(MQTTMessage)
        /// Lead in this term. A leader that raises its term gets this effect again. If `continues` is true, no other engine has
        /// led since this engine led last, and held runs may go on.
        case lead(term: Int, continues: Bool)
        /// Act on nothing, and hold what runs until `lead` or `stop`.
        case fence
        /// Act on nothing, and end what runs as interrupted.
        case stop
        /// The rules of another engine differ from ours: of the leader, or of a stand-by if we lead.
        case rulesDiffer(engine: String, leads: Bool)
        /// The installation of a running engine that has our name; `nil` when it is gone.
        case namesake(installation: String?)
        /// An engine on the topics of our share that has another number of shares, and its share; `nil` when it is gone or has
        /// ours.
        case otherShare(EngineShare?, of: String)
        /// The claims of this engine, or its messages of `probe`, do not come back from the broker; false when a message on the topic of
        /// the claims has arrived.
        case deaf(Bool)
        case setTimer(Instant)
        case cancelTimer
        /// Another program has violated the protocol; for the log.
        case anomaly(String)
    }

    /// How long an engine waits for a retained state before it claims.
    package static let retainedLimit = Duration.seconds(5)
    /// How long an engine that claims waits for a higher claim, before it publishes the claim by which it leads.
    package static let claimWait = Duration.seconds(1)
    /// The time after a claim of another engine in which this engine makes none.
    package static let claimPause = Duration.milliseconds(2500)
    /// How long a fenced engine waits for the retained claim.
    package static let fenceLimit = Duration.milliseconds(1500)
    /// The number of claims, one in each second, after which an engine that has heard none is deaf.
    static let maximumUnheardClaims = 10
    /// How often an engine that hears no claims publishes a message that it should hear.
    static let probeInterval = Duration.seconds(10)
    /// The number of these messages after which a stand-by that has heard none is deaf. After the first one, the process may have
    /// been stopped, so that the message has not been read yet.
    static let maximumUnheardProbes = 2
    /// The maximum number of engines whose rules are reported as different.
    static let maximumDifferences = 16
    /// The maximum number of anomalies reported for a connection.
    package static let maximumAnomalies = 16

    enum State: Hashable, Sendable {
        case standingBy, claiming, leading, fenced
    }

    enum TimerKey: Hashable, Sendable {
        /// Standing by: when the leader counts as gone.
        case silence
        /// Standing by: when this engine may claim, because `claimPause` after the claim of another engine is over.
        case pause
        /// Claiming: when to publish our claim again.
        case claim
        /// Leading: when to say `online` again. Standing by: when to say again that we could lead.
        case state
        /// Fenced and connected: when the claim counts as lost.
        case fence
        /// Leading: from when on we must not act, because another engine may lead.
        case lease
        /// When another engine with our name counts as gone.
        case namesake
        /// When the engine with another share counts as gone.
        case otherShare
        /// When the engine with other rules counts as gone.
        case otherRules
        /// Standing by without a message on the topic of the claims, or deaf: when to publish the next message that should come back.
        case probe
    }

    package let engine: String
    package let installation: String
    package let share: EngineShare
    package let patience: EnginePatience
    private(set) var state = State.standingBy
    package var isLeading: Bool { state == .leading }
    private(set) var isConnected = false
    /// The term of our last claim.
    private(set) var term = 0
    private(set) var highestTerm = 0
    /// The highest term in the hellos of sites.
    private var siteTerm = 0
    /// The last claim heard on this connection, which may be our own.
    private(set) var latestClaim: EngineTerm?
    /// True while we stand by and the leader is gone.
    private(set) var isVacant = false
    private(set) var canRecord = true
    /// The claims that we have waited a second for, since a message on their topic or a retained message has arrived.
    private var unheardClaims = 0
    /// The messages of `probe` that a stand-by has waited for since then.
    private var unheardProbes = 0
    package var missesClaims: Bool { unheardClaims > 0 || unheardProbes > 0 }
    /// True if a message on the topic of the claims has arrived on this connection.
    private var hasHeardClaims = false
    /// True from when our claims, or the messages of `probe`, do not come back until a message on their topic arrives, also over
    /// connections.
    package private(set) var isDeaf = false
    var canClaim: Bool { canRecord && !isDeaf }
    /// True if we stand by and have said on this connection that we could lead, so that another engine may have claimed for us.
    private var isPresent = false
    /// The stand-by that was heard last while we lead, and when.
    private var candidate: (engine: EngineTerm, rules: String, at: Instant)?
    private var reportedNamesake: String?
    /// The engine that was reported with another share than ours.
    private var reportedShare: (engine: String, share: EngineShare)?
    /// The number of our last claim in the present term; 1 is one by which we do not lead.
    private var claimNumber = 0
    /// The number of our last state.
    private var stateNumber = 0
    /// Our `online` messages that have not come back from the broker; empty unless we lead.
    private var unheardStates = UnheardMessages()
    /// Our claims with the present term that have not come back from the broker.
    private var ourUnheardClaims = UnheardMessages()
    /// When we published the last of our claims that has come back on this connection; `nil` if none has.
    private var confirmedAt: Instant?
    /// While we claim: we lead by a claim that we publish at this time or later.
    private var earliestLeadingClaim = Instant(nanoseconds: 0)
    /// The engine that may lead although we claim, and until when it may act: it was heard before our claim came back, and may hear our
    /// claim late, or it has published a claim by which it may lead. The engine is `nil` if there are several.
    private(set) var former: (engine: EngineTerm.Owner?, until: Instant)?
    /// The end of `claimPause` after the last claim of another engine.
    private var pausedUntil: Instant?
    private var rules = ""
    /// The last state of the leader, while we stand by.
    private var leader: EngineState?
    /// An engine whose rules differ from ours, and whether it leads; `nil` when they are the same or the engine is silent.
    package private(set) var otherRules: (engine: String, leads: Bool)?
    /// The two fingerprints that were reported as different, by the name of the other engine.
    private var reportedDifferences: [String: String] = [:]
    private var anomalyCount = 0
    private(set) var deadlines = Deadlines<TimerKey>()
    private var effects: [Effect] = []

    /// - Parameters:
    ///   - engine: the engine's name, at most 64 octets; no other engine of the share should have it.
    ///   - installation: the engine's installation, at most 64 octets.
    ///   - patience: how long this engine may be silent as a leader. It says so in its state, and the stand-by waits that long.
    package init(
        engine: String, installation: String = "", share: EngineShare = .whole, patience: EnginePatience = .standard
    ) {
        self.engine = engine
        self.installation = installation
        self.share = share
        self.patience = patience
    }

    /// The silence of the leader that counts as `offline`.
    private var silenceLimit: Duration { (leader?.patience ?? patience).limit }

    private var leaderTopic: String { share.topic + "/leader" }
    private var stateTopic: String { share.topic + "/state" }
    private var standByTopic: String { share.topic + "/standby" }
    private var ourClaim: EngineTerm { EngineTerm(term: term, engine: engine, installation: installation) }

    private func isOurs(_ claim: EngineTerm) -> Bool { claim.engine == engine && claim.installation == installation }
    private func isOurs(_ state: EngineState) -> Bool { state.engine == engine && state.installation == installation }

    /// The topics that an engine subscribes to for its leadership.
    package var filters: [String] { [leaderTopic, stateTopic, standByTopic] }

    /// The will of the connection, without delay.
    package var will: MQTTMessage { stateMessage(isOnline: false) }

    /// True if another engine may lead, although we do not know of it. `timerFired` then fences us.
    package func hasLapsed(at now: Instant) -> Bool {
        deadlines.deadline(of: .lease).map { $0 <= now } ?? false
    }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        if hasLapsed(at: now) { lapse(at: now) }
        switch input {
        case .start(let term): highestTerm = term
        case .connected: connected(at: now)
        case .disconnected: disconnected()
        case .received(let name, let payload, let isRetained): received(name, payload, isRetained: isRetained, at: now)
        case .heard(let term): heard(term: term, at: now)
        case .sitesHeard(let term): siteTerm = min(max(siteTerm, term), highestTerm + EngineTerm.greatestLeap)
        case .backlog:
            unheardClaims = 0
            unheardProbes = 0
        case .rules(let rules):
            self.rules = rules
            if state == .leading { sayOnline(at: now) }
            compareRules(at: now)
        case .canRecord(let canRecord):
            guard canRecord != self.canRecord else { break }
            self.canRecord = canRecord
            if canRecord {
                claimIfVacant(at: now)
            } else {
                resign(at: now)
                deadlines.cancel(.pause)
            }
        case .resign: resign(at: now)
        case .timerFired:
            for key in deadlines.takeDue(at: now) { expire(key, at: now) }
        }
        deadlines.appendChange(to: &effects)
        defer { effects = [] }
        return effects
    }

    private mutating func expire(_ key: TimerKey, at now: Instant) {
        switch key {
        case .silence: vacate(at: now)
        case .pause: claimIfVacant(at: now)
        case .claim: if ourUnheardClaims.isEmpty { publishClaim(at: now) } else { claimUnheard(at: now) }
        case .state:
            // A deadline that was due at the same time may have ended the state that this one belongs to.
            switch state {
            case .standingBy: sayPresent(at: now)
            case .leading:
                if siteTerm > term { raiseTerm(at: now) }
                sayOnline(at: now)
            case .claiming, .fenced: break
            }
        case .namesake: noteNamesake(nil)
        case .otherShare: noteShare(share, of: reportedShare?.engine ?? "")
        case .otherRules: otherRules = nil
        case .probe: probeUnheard(at: now)
        case .lease: lapse(at: now)
        case .fence:
            effects.append(.stop)
            claim(at: now)
        }
    }

    // MARK: The connection

    private mutating func connected(at now: Instant) {
        isConnected = true
        anomalyCount = 0
        unheardClaims = 0
        unheardProbes = 0
        hasHeardClaims = false
        switch state {
        case .standingBy:
            deadlines.set(.silence, at: now + Self.retainedLimit)
            if isDeaf { probe(at: now) }
        case .fenced: deadlines.set(.fence, at: now + Self.fenceLimit)
        case .claiming, .leading: break
        }
    }

    private mutating func disconnected() {
        isConnected = false
        latestClaim = nil
        forgetClaims()
        isVacant = false
        pausedUntil = nil
        isPresent = false
        candidate = nil
        cancelDeadlines()
        switch state {
        case .leading:
            state = .fenced
            effects.append(.fence)
        case .claiming: state = .standingBy
        case .standingBy, .fenced: break
        }
    }

    private mutating func cancelDeadlines() {
        for key in [TimerKey.silence, .pause, .claim, .state, .fence, .lease, .probe] { deadlines.cancel(key) }
        // The deadlines of the namesake, of the other share and of the other rules go on, because they say nothing about us.
        unheardStates = UnheardMessages()
    }

    private mutating func forgetClaims() {
        ourUnheardClaims = UnheardMessages()
        confirmedAt = nil
        former = nil
    }

    /// Until when we may act if we lead because of a claim that we published at this time. Other engines count our silence from when
    /// they hear the claim, and wait for `claimWait` more.
    private func leaseEnd(ofClaimAt published: Instant, at now: Instant) -> Instant {
        min(now, published + Self.claimWait) + patience.limit
    }

    /// We have been silent for so long that another engine may lead. What the broker sends us until our claim comes back was
    /// sent before that of the other engine, which acts on it.
    private mutating func lapse(at now: Instant) {
        guard state == .leading else { return }
        state = .fenced
        candidate = nil
        cancelDeadlines()
        effects.append(.fence)
        publishClaim(at: now)
        deadlines.set(.fence, at: now + patience.limit)
    }

    // MARK: Stand-bys

    /// Says that we could lead. The leader claims for us when it ends in order.
    private mutating func sayPresent(at now: Instant) {
        // A deaf engine would not hear that the leader claims for it.
        guard canClaim, !isVacant, latestClaim.map({ !isOurs($0) }) ?? false else { return }
        isPresent = true
        let presence = EnginePresence(
            claim: EngineTerm(term: highestTerm, engine: engine, installation: installation), rules: rules, share: share
        )
        effects.append(
            .publish(MQTTMessage(topicName: standByTopic, payload: presence.encoded(), qos: 1, retain: false)))
        deadlines.set(.state, at: now + patience.stateInterval)
    }

    private mutating func heard(_ presence: EnginePresence, at now: Instant) {
        let other = presence.claim
        guard !isOurs(other) else { return }
        if other.engine == engine { heardNamesake(other.installation, at: now) }
        if let otherShare = presence.share { compareShare(otherShare, of: other.engine, at: now) }
        guard state == .leading else { return }
        candidate = (other, presence.rules, now)
        compareRules(at: now)
    }

    /// Stops leading, and hands over to a stand-by if there is one.
    private mutating func resign(at now: Instant) {
        let successor = candidate.flatMap { now < $0.at + patience.presenceLimit ? $0.engine : nil }
        // The stand-by ignores a claim whose term is not higher than the highest that it knows.
        let known = min(successor?.term ?? 0, highestTerm + EngineTerm.greatestLeap)
        switch state {
        case .standingBy: break
        case .claiming:
            standBy(at: now)
            effects.append(.publish(stateMessage(isOnline: false)))
        case .leading:
            standBy(at: now)
            if let successor {
                let term = min(max(highestTerm, siteTerm, known), EngineTerm.greatest - 1) + 1
                let claim = EngineTerm(term: term, engine: successor.engine, installation: successor.installation)
                // The stand-by does not lead by this claim, but by its next one.
                let payload = claim.encoded(number: 1)
                effects.append(.publish(MQTTMessage(topicName: leaderTopic, payload: payload, qos: 1, retain: true)))
            } else {
                effects.append(.publish(stateMessage(isOnline: false)))
            }
        case .fenced:
            standBy(at: now)
            if !isConnected { cancelDeadlines() }
        }
    }

    /// Another engine with our name was heard.
    private mutating func heardNamesake(_ installation: String, at now: Instant) {
        deadlines.set(.namesake, at: now + silenceLimit)
        noteNamesake(installation)
    }

    private mutating func noteNamesake(_ installation: String?) {
        guard reportedNamesake != installation else { return }
        reportedNamesake = installation
        effects.append(.namesake(installation: installation))
    }

    /// The first of four shares and the first of eight have the same topics, and not the same sites.
    private mutating func compareShare(_ other: EngineShare, of name: String, at now: Instant) {
        if other != share {
            // Each engine says its share every few seconds, so that reports about two of them would alternate. Another one is
            // reported when the first one is silent or has this share.
            guard reportedShare.map({ $0.engine == name }) ?? true else { return }
            deadlines.set(.otherShare, at: now + silenceLimit)
            noteShare(other, of: name)
        } else if reportedShare?.engine == name {
            deadlines.cancel(.otherShare)
            noteShare(share, of: name)
        }
    }

    private mutating func noteShare(_ other: EngineShare, of name: String) {
        let isDifferent = other != share
        guard isDifferent ? reportedShare?.share != other : reportedShare != nil else { return }
        reportedShare = isDifferent ? (name, other) : nil
        effects.append(.otherShare(isDifferent ? other : nil, of: name))
    }

    // MARK: Claims

    private mutating func claimIfVacant(at now: Instant) {
        guard state == .standingBy, isVacant, canClaim else { return }
        if let pausedUntil, now < pausedUntil { return deadlines.set(.pause, at: pausedUntil) }
        claim(at: now)
    }

    private mutating func claim(at now: Instant) {
        beginToClaim(leadingFrom: now + Self.claimWait)
        takeNewTerm(at: now)
    }

    private mutating func beginToClaim(leadingFrom from: Instant) {
        state = .claiming
        cancelDeadlines()
        isVacant = false
        earliestLeadingClaim = from
    }

    private mutating func takeNewTerm(at now: Instant) {
        term = min(max(highestTerm, siteTerm), EngineTerm.greatest - 1) + 1
        highestTerm = term
        claimNumber = state == .claiming ? 0 : 1
        ourUnheardClaims = UnheardMessages()
        confirmedAt = nil
        effects.append(.record(term: term))
        publishClaim(at: now)
    }

    /// Goes on leading in a term that all sites accept.
    private mutating func raiseTerm(at now: Instant) {
        takeNewTerm(at: now)
        effects.append(.lead(term: term, continues: true))
    }

    private mutating func publishClaim(at now: Instant) {
        claimNumber += 1
        let payload = ourClaim.encoded(number: claimNumber)
        effects.append(.publish(MQTTMessage(topicName: leaderTopic, payload: payload, qos: 1, retain: true)))
        ourUnheardClaims.add(claimNumber, at: now)
        if state == .claiming { deadlines.set(.claim, at: now + Self.claimWait) }
    }

    /// A claim of ours has come back. If it is the first one, by which we do not lead, we lead by one that we publish a second later or
    /// more: the process may have been stopped before this one was sent, and other engines hear it within a second.
    private mutating func hasHeardOurs(publishedAt: Instant, at now: Instant) {
        let isFirst = confirmedAt == nil
        confirmedAt = publishedAt
        guard state == .claiming, isFirst, publishedAt < earliestLeadingClaim else { return }
        earliestLeadingClaim = now + Self.claimWait
        deadlines.set(.claim, at: earliestLeadingClaim)
    }

    /// A claim of ours has come back. We lead if no other engine can lead that has claimed before.
    private mutating func leadIfConfirmed(continues: Bool, at now: Instant) {
        guard let confirmedAt, latestClaim == ourClaim else { return }
        guard highestTerm == term else {
            if state == .fenced { effects.append(.stop) }
            return claim(at: now)
        }
        let leaseEnd = leaseEnd(ofClaimAt: confirmedAt, at: now)
        // Otherwise the claim was late, or was read late, so another engine may lead, whose claim is not read yet.
        guard now < leaseEnd else { return }
        if state == .claiming, confirmedAt < max(earliestLeadingClaim, former?.until ?? earliestLeadingClaim) { return }
        former = nil
        state = .leading
        cancelDeadlines()
        deadlines.set(.lease, at: leaseEnd)
        effects.append(.lead(term: term, continues: continues))
        sayOnline(at: now)
    }

    /// A second after its publication, our claim has not come back.
    private mutating func claimUnheard(at now: Instant) {
        unheardClaims += 1
        guard unheardClaims >= Self.maximumUnheardClaims else { return publishClaim(at: now) }
        isDeaf = true
        standBy(at: now)
        // Our claim may be the last one, and another engine leads sooner if the one of the last claim says that it is offline.
        effects += [.deaf(true), .publish(stateMessage(isOnline: false))]
        probe(at: now)
    }

    /// Publishes a message that comes back if this engine may read claims. It is empty and not retained, so it means nothing to
    /// other engines.
    private mutating func probe(at now: Instant) {
        effects.append(.publish(MQTTMessage(topicName: leaderTopic, payload: [], qos: 1, retain: false)))
        deadlines.set(.probe, at: now + Self.probeInterval)
    }

    /// While we stand by, the message of `probe` has not come back for 10 s.
    private mutating func probeUnheard(at now: Instant) {
        // A deadline that was due at the same time may have made us claim.
        guard state == .standingBy else { return }
        if !isDeaf {
            unheardProbes += 1
            if unheardProbes >= Self.maximumUnheardProbes {
                isDeaf = true
                effects.append(.deaf(true))
            }
        }
        probe(at: now)
    }

    /// A message on the topic of the claims has arrived.
    private mutating func hearsClaims(at now: Instant) {
        unheardClaims = 0
        unheardProbes = 0
        hasHeardClaims = true
        deadlines.cancel(.probe)
        guard isDeaf else { return }
        isDeaf = false
        effects.append(.deaf(false))
        // An engine that leads says so within this time.
        isVacant = false
        deadlines.set(.silence, at: now + silenceLimit)
    }

    private mutating func standBy(at now: Instant) {
        let hadLed = state == .leading || state == .fenced
        state = .standingBy
        candidate = nil
        unheardClaims = 0
        forgetClaims()
        cancelDeadlines()
        if hadLed { effects.append(.stop) }
        deadlines.set(.silence, at: now + silenceLimit)
    }

    /// - Parameter number: that of the publication; 0 if it is not said.
    private mutating func heard(_ claim: EngineTerm, _ number: Int, isRetained: Bool, at now: Instant) {
        if let fault = EngineTerm.fault(of: claim.term, after: highestTerm, leads: state != .standingBy) {
            return noteAnomaly("\(leaderTopic): \(fault)")
        }
        // A lower claim that comes late does not count for a stand-by. The engine with the higher one publishes that again.
        if state != .standingBy || latestClaim.map({ $0 <= claim }) ?? true { latestClaim = claim }
        let isNew = claim.term > highestTerm
        highestTerm = max(highestTerm, claim.term)
        if !isOurs(claim) { pausedUntil = now + Self.claimPause }
        // Otherwise the broker retains it, or it is a copy of one that has come back, or from before this connection, or another engine
        // has made it for us.
        let hasComeBack = claim == ourClaim && !isRetained ? ourUnheardClaims.hasComeBack(number) : nil
        if let hasComeBack { hasHeardOurs(publishedAt: hasComeBack, at: now) }
        switch state {
        case .standingBy:
            if isOurs(claim), isNew, isPresent { return appointed(in: claim.term, at: now) }
            guard !isOurs(claim) else { break }
            // The other engine says its state next, or counts as gone after `silenceLimit`.
            isVacant = false
            deadlines.cancel(.pause)
            deadlines.set(.silence, at: now + silenceLimit)
        case .claiming, .leading:
            if claim > ourClaim { return giveWay(at: now) }
            if claim == ourClaim {
                if state == .claiming { leadIfConfirmed(continues: false, at: now) }
                return
            }
            // The first claim of another engine in our term, by which it does not lead.
            let isFirst = !isOurs(claim) && !isRetained && claim.term == term && number == 1
            if !isOurs(claim), !isFirst {
                // The broker may have had both claims at about the same time, so that each engine has heard its own one first.
                // One of an earlier version, which does not say a number, counts only in our term.
                let mayLeadByIt = !isRetained && (number > 1 || number == 0 && claim.term == term)
                heardFormer(claim.owner, silenceLimit, mayLeadByIt: mayLeadByIt, at: now)
            }
            // The rival hears the claim that we have published already. If we published one more now, a third engine would hear two claims
            // of ours, take us for an engine that may lead, and wait for our patience. An older claim of ours needs no answer either,
            // because the broker had it before the present one.
            if state == .claiming, isFirst || isOurs(claim) { return }
            publishClaim(at: now)
        case .fenced:
            if claim > ourClaim { return giveWay(at: now) }
            guard claim == ourClaim else {
                // Otherwise no engine leads by it, or `fence` expires.
                guard !isOurs(claim), !isRetained, number > 1 else { break }
                effects.append(.stop)
                self.claim(at: now)
                return heardFormer(claim.owner, silenceLimit, mayLeadByIt: true, at: now)
            }
            if hasComeBack != nil { return leadIfConfirmed(continues: true, at: now) }
            guard ourUnheardClaims.isEmpty else { return }
            publishClaim(at: now)
            // It comes back behind all that the broker has for us, which takes long with many sites.
            deadlines.set(.fence, at: now + patience.limit)
        }
    }

    /// A higher claim was heard. If we have published claims by which we may lead, engines that have heard them wait for our patience,
    /// and need not do so any more, unless we wait for a leader that they may not have heard.
    private mutating func giveWay(at now: Instant) {
        let mayHaveLed = claimNumber > 1 && (confirmedAt != nil || !ourUnheardClaims.isEmpty)
        let saysOffline = mayHaveLed && former == nil
        standBy(at: now)
        if saysOffline { effects.append(.publish(stateMessage(isOnline: false))) }
    }

    /// While we claim, an engine was heard that led before, or that may lead. If the broker had its message before our claim, that
    /// engine may act until its patience is over.
    ///
    /// - Parameter mayLeadByIt: whether the message is a claim by which it may lead, even if our claim has come back.
    private mutating func heardFormer(
        _ engine: EngineTerm.Owner, _ limit: Duration, mayLeadByIt: Bool = false, at now: Instant
    ) {
        guard state == .claiming, mayLeadByIt || confirmedAt == nil else { return }
        let until = max(former?.until ?? now, now + limit + Self.claimWait)
        former = (former == nil || former?.engine == engine ? engine : nil, until)
    }

    /// The leader has ended, and has claimed for us. Its claim may have come late, so that another engine has claimed since.
    private mutating func appointed(in newTerm: Int, at now: Instant) {
        guard canRecord else { return effects.append(.publish(stateMessage(isOnline: false))) }
        beginToClaim(leadingFrom: now)
        term = newTerm
        claimNumber = 1
        effects.append(.record(term: term))
        publishClaim(at: now)
    }

    /// Another engine has claimed messages in this term.
    private mutating func heard(term other: Int, at now: Instant) {
        if let fault = EngineTerm.fault(of: other, after: highestTerm, leads: state != .standingBy) {
            return noteAnomaly(fault)
        }
        highestTerm = max(highestTerm, other)
        guard other > term else { return }
        switch state {
        case .leading:
            effects.append(.stop)
            claim(at: now)
        case .claiming: claim(at: now)
        case .standingBy, .fenced: break
        }
    }

    // MARK: States

    private func stateMessage(isOnline: Bool, number: Int = 0) -> MQTTMessage {
        let state = EngineState(
            isOnline: isOnline, engine: engine, installation: installation, share: share, patience: patience,
            rules: isOnline ? rules : "", number: number)
        return MQTTMessage(topicName: stateTopic, payload: state.encoded(), qos: 1, retain: true)
    }

    private mutating func sayOnline(at now: Instant) {
        deadlines.set(.state, at: now + patience.stateInterval)
        guard unheardStates.count < UnheardMessages.maximumCount else { return }
        stateNumber += 1
        unheardStates.add(stateNumber, at: now)
        effects.append(.publish(stateMessage(isOnline: true, number: stateNumber)))
    }

    private mutating func vacate(at now: Instant) {
        isVacant = true
        deadlines.cancel(.silence)
        claimIfVacant(at: now)
    }

    private mutating func heard(_ other: EngineState, isRetained: Bool, at now: Instant) {
        // What is retained may be of an engine that is gone.
        if other.isOnline, other.engine == engine, !isOurs(other), !isRetained {
            heardNamesake(other.installation, at: now)
        }
        if other.isOnline, !isOurs(other) { compareShare(other.share, of: other.engine, at: now) }
        switch state {
        case .standingBy:
            if other.isOnline, !isOurs(other) {
                isVacant = false
                leader = other
                deadlines.cancel(.pause)
                deadlines.set(.silence, at: now + silenceLimit)
                compareRules(at: now)
                if deadlines.deadline(of: .state) == nil { sayPresent(at: now) }
                if !hasHeardClaims, deadlines.deadline(of: .probe) == nil { probe(at: now) }
            } else if latestClaim == nil || latestClaim?.owner == other.owner {
                vacate(at: now)
            }
        case .leading:
            // If a will has replaced our state, we repeat the state. If another engine leads as well, the claim with the higher term
            // decides which of the two goes on.
            if !other.isOnline {
                sayOnline(at: now)
            } else if !isOurs(other) {
                publishClaim(at: now)
            } else if !isRetained, let saidAt = unheardStates.hasComeBack(other.number) {
                deadlines.set(.lease, at: saidAt + patience.limit)
            }
        case .claiming:
            if other.isOnline {
                if !isOurs(other) { heardFormer(other.owner, other.patience.limit, at: now) }
            } else if former?.engine == other.owner {
                former = nil
            }
        case .fenced: break
        }
    }

    /// Compares our rules with those of the leader, or of the stand-by if we lead. Reports each difference once.
    private mutating func compareRules(at now: Instant) {
        switch state {
        case .standingBy: if let leader { compareRules(with: leader.engine, leader.rules, leads: true, at: now) }
        case .leading:
            if let candidate { compareRules(with: candidate.engine.engine, candidate.rules, leads: false, at: now) }
        case .claiming, .fenced: break
        }
    }

    private mutating func compareRules(with other: String, _ theirs: String, leads: Bool, at now: Instant) {
        guard !rules.isEmpty, !theirs.isEmpty else { return }
        let isNoted = otherRules?.engine == other
        guard theirs != rules else {
            reportedDifferences[other] = nil
            guard isNoted else { return }
            otherRules = nil
            return deadlines.cancel(.otherRules)
        }
        // Each engine says its rules every few seconds. The next one is noted when the first one is silent or has our rules.
        if isNoted || otherRules == nil {
            otherRules = (other, leads)
            // A stand-by speaks as often as its own patience says, which we do not know.
            let longest = EnginePatience(EnginePatience.range.upperBound).presenceLimit
            deadlines.set(.otherRules, at: now + (leads ? silenceLimit : longest))
        }
        let difference = rules + " " + theirs
        let isRoom = reportedDifferences.count < Self.maximumDifferences
        guard reportedDifferences[other] != difference, isRoom || reportedDifferences[other] != nil else { return }
        reportedDifferences[other] = difference
        effects.append(.rulesDiffer(engine: other, leads: leads))
    }

    private mutating func received(_ name: String, _ payload: [UInt8], isRetained: Bool, at now: Instant) {
        guard isConnected else { return }
        if name == leaderTopic { hearsClaims(at: now) }
        guard !payload.isEmpty else { return }
        do throws(FeedPayloadFailure) {
            if name == leaderTopic {
                let fields = try FeedFields(parsing: payload, maximumLength: EngineTerm.maximumLength)
                let number = try fields.optionalNumber(EngineTerm.numberName) ?? 0
                heard(try EngineTerm(fields), number, isRetained: isRetained, at: now)
            }
            if name == stateTopic { heard(try EngineState(parsing: payload), isRetained: isRetained, at: now) }
            if name == standByTopic { heard(try EnginePresence(parsing: payload), at: now) }
        } catch {
            noteAnomaly("\(name): \(error)")
        }
    }

    private mutating func noteAnomaly(_ text: String) {
        anomalyCount += 1
        if anomalyCount <= Self.maximumAnomalies { effects.append(.anomaly(text)) }
    }
}
