package import ButtonModel
package import MQTTTopics

/// Decides whether an engine leads its share, or stands by until the leader is gone.
///
/// | state       | on                                              | becomes     | and we                                   |
/// |-------------|-------------------------------------------------|-------------|------------------------------------------|
/// | standing by | the leader says `offline`, or is silent for 10 s, or nothing is retained 5 s after connecting | claiming | publish our claim with a new term, and wait 1 s |
/// | claiming    | the last claim heard is ours                    | leading     | lead, and say `online`                   |
/// | claiming, leading | a lower claim                             |             | publish ours again                       |
/// | claiming, leading | a higher claim                            | standing by | stop at once; claim nothing for 2.5 s    |
/// | claiming    | disconnected                                    | standing by |                                          |
/// | leading     | 3 s                                             | leading     | say `online` again                       |
/// | leading     | disconnected                                    | fenced      | act on nothing                           |
/// | fenced      | connected, and the retained claim is ours       | leading     | go on                                    |
/// | fenced      | connected, and the retained claim is higher     | standing by | stop                                     |
/// | fenced      | 1.5 s after connecting none is retained, or it is lower | claiming | stop, and claim with a new term      |
///
/// A new term is one above the highest heard in a claim, the own record, and the cursors and hellos of sites. An
/// engine's will says `offline` even if it stands by, so `offline` counts only from the engine whose claim was last.
/// `online` in our own name, while we do not lead, is a message of an earlier process and counts as `offline`.
///
/// No lock is needed. All presses and messages go through the one broker: an engine whose connection is dead can
/// publish nothing, and sites ignore claims with a lower term than the highest that they have heard.
package struct EngineLeadership: Sendable {
    package enum Input: Hashable, Sendable {
        /// The first input.
        ///
        /// - Parameter term: the highest term on the own disk.
        case start(term: Int)
        /// The connection is up, and the subscription of `filters` has been sent on it.
        case connected
        case disconnected
        case received(topicName: String, payload: [UInt8])
        /// The highest term in the cursors and hellos of sites.
        case heard(term: Int)
        /// The fingerprint of the rules that run.
        case rules(String)
        case timerFired
    }

    package enum Effect: Hashable, Sendable {
        /// Put the term on the own disk before the effects that follow.
        case record(term: Int)
        /// Publish a message at QoS 1 on this connection, and never on a later one.
        case publish(MQTTMessage)
        /// Lead in this term. `continues`: no other engine has led since this one did, so that held runs may go on.
        case lead(term: Int, continues: Bool)
        /// Act on nothing, and hold what runs until `lead` or `stop`.
        case fence
        /// Act on nothing, and end what runs as interrupted.
        case stop
        /// The leader's rules differ from ours.
        case rulesDiffer(leader: String)
        case setTimer(Instant)
        case cancelTimer
        /// Another program has violated the protocol; for the log.
        case anomaly(String)
    }

    /// How long an engine waits for a retained state before it claims.
    package static let retainedLimit = Duration.seconds(5)
    /// How long a claim waits for a higher one.
    package static let claimWait = Duration.seconds(1)
    /// How long no claim follows another engine's.
    package static let claimPause = Duration.milliseconds(2500)
    package static let stateInterval = Duration.seconds(3)
    /// The silence of a leader that counts as `offline`. The broker ends the connection of a leader that was stopped 7.5 s
    /// after its last packet (its keep-alive is 5 s), and that may be 3 s after its last state. With `claimWait` this is
    /// longer, so nothing that the leader publishes when it wakes up can arrive after another one leads.
    package static let silenceLimit = Duration.seconds(10)
    /// How long a fenced engine waits for the retained claim.
    package static let fenceLimit = Duration.milliseconds(1500)
    /// The maximum number of anomalies reported for a connection.
    package static let maximumAnomalies = 16

    enum State: Hashable, Sendable {
        case standingBy, claiming, leading, fenced
    }

    enum TimerKey: Hashable, Sendable {
        /// Standing by: when the leader counts as gone.
        case silence
        /// Standing by: when to claim, although another engine has just claimed.
        case pause
        /// Claiming: when to lead.
        case claim
        /// Leading: when to say `online` again.
        case state
        /// Fenced and connected: when the retained claim counts as lost.
        case fence
    }

    package let engine: String
    package let share: EngineShare
    private(set) var state = State.standingBy
    private(set) var isConnected = false
    /// The term of our last claim.
    private(set) var term = 0
    private(set) var highestTerm = 0
    /// The last claim heard on this connection, of whichever engine.
    private(set) var latestClaim: EngineTerm?
    /// Standing by: the leader is gone.
    private(set) var isVacant = false
    /// Until when no claim may follow another engine's.
    private var pausedUntil: Instant?
    private var rules = ""
    /// Standing by: what the leader said of itself last.
    private var leader: EngineState?
    /// The two fingerprints that were reported as different.
    private var reportedDifference: String?
    private var anomalyCount = 0
    private(set) var deadlines = Deadlines<TimerKey>()
    private var effects: [Effect] = []

    /// - Parameter engine: the engine's name, at most 64 octets; no other engine of the share has it.
    package init(engine: String, share: EngineShare = .whole) {
        self.engine = engine
        self.share = share
    }

    private var leaderTopic: String { share.topic + "/leader" }
    private var stateTopic: String { share.topic + "/state" }
    private var ourClaim: EngineTerm { EngineTerm(term: term, engine: engine) }

    /// The topics that an engine subscribes to for its leadership.
    package var filters: [String] { [leaderTopic, stateTopic] }

    /// The will of the connection, without delay.
    package var will: MQTTMessage { stateMessage(isOnline: false) }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        switch input {
        case .start(let term): highestTerm = term
        case .connected: connected(at: now)
        case .disconnected: disconnected()
        case .received(let name, let payload): received(name, payload, at: now)
        case .heard(let term): heard(term: term, at: now)
        case .rules(let rules):
            self.rules = rules
            if state == .leading { sayOnline(at: now) }
            compareRules()
        case .timerFired:
            for key in deadlines.takeDue(at: now) { expire(key, at: now) }
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
        case .silence: vacate(at: now)
        case .pause: claimIfVacant(at: now)
        case .claim: lead(continues: false, at: now)
        case .state: sayOnline(at: now)
        case .fence:
            effects.append(.stop)
            claim(at: now)
        }
    }

    // MARK: The connection

    private mutating func connected(at now: Instant) {
        isConnected = true
        anomalyCount = 0
        switch state {
        case .standingBy: deadlines.set(.silence, at: now + Self.retainedLimit)
        case .fenced: deadlines.set(.fence, at: now + Self.fenceLimit)
        case .claiming, .leading: break
        }
    }

    private mutating func disconnected() {
        isConnected = false
        latestClaim = nil
        isVacant = false
        pausedUntil = nil
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
        for key in [TimerKey.silence, .pause, .claim, .state, .fence] { deadlines.cancel(key) }
    }

    // MARK: Claims

    private mutating func claimIfVacant(at now: Instant) {
        guard state == .standingBy, isVacant else { return }
        if let pausedUntil, now < pausedUntil { return deadlines.set(.pause, at: pausedUntil) }
        claim(at: now)
    }

    private mutating func claim(at now: Instant) {
        state = .claiming
        cancelDeadlines()
        isVacant = false
        term = highestTerm + 1
        highestTerm = term
        effects.append(.record(term: term))
        publishClaim(at: now)
    }

    private mutating func publishClaim(at now: Instant) {
        effects.append(
            .publish(MQTTMessage(topicName: leaderTopic, payload: ourClaim.encoded(), qos: 1, retain: true)))
        if state == .claiming { deadlines.set(.claim, at: now + Self.claimWait) }
    }

    private mutating func lead(continues: Bool, at now: Instant) {
        guard latestClaim == ourClaim else { return publishClaim(at: now) }
        guard highestTerm == term else {
            if state == .fenced { effects.append(.stop) }
            return claim(at: now)
        }
        state = .leading
        cancelDeadlines()
        effects.append(.lead(term: term, continues: continues))
        sayOnline(at: now)
    }

    private mutating func standBy(at now: Instant) {
        let hadLed = state == .leading || state == .fenced
        state = .standingBy
        cancelDeadlines()
        if hadLed { effects.append(.stop) }
        deadlines.set(.silence, at: now + Self.silenceLimit)
    }

    private mutating func heard(_ claim: EngineTerm, at now: Instant) {
        if let fault = EngineTerm.fault(of: claim.term, after: highestTerm) {
            return noteAnomaly("\(leaderTopic): \(fault)")
        }
        latestClaim = claim
        highestTerm = max(highestTerm, claim.term)
        if claim.engine != engine { pausedUntil = now + Self.claimPause }
        switch state {
        case .standingBy:
            guard claim.engine != engine else { break }
            // Its state follows, or it is silent.
            isVacant = false
            deadlines.cancel(.pause)
            deadlines.set(.silence, at: now + Self.silenceLimit)
        case .claiming, .leading:
            if claim > ourClaim { standBy(at: now) } else if claim < ourClaim { publishClaim(at: now) }
        case .fenced:
            if claim > ourClaim { standBy(at: now) } else if claim == ourClaim { lead(continues: true, at: now) }
        }
    }

    /// A site has heard of a higher term, in which it would ignore our claims.
    private mutating func heard(term other: Int, at now: Instant) {
        if let fault = EngineTerm.fault(of: other, after: highestTerm) { return noteAnomaly(fault) }
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

    private func stateMessage(isOnline: Bool) -> MQTTMessage {
        let state = EngineState(isOnline: isOnline, engine: engine, share: share, rules: isOnline ? rules : "")
        return MQTTMessage(topicName: stateTopic, payload: state.encoded(), qos: 1, retain: true)
    }

    private mutating func sayOnline(at now: Instant) {
        effects.append(.publish(stateMessage(isOnline: true)))
        deadlines.set(.state, at: now + Self.stateInterval)
    }

    private mutating func vacate(at now: Instant) {
        isVacant = true
        deadlines.cancel(.silence)
        claimIfVacant(at: now)
    }

    private mutating func heard(_ other: EngineState, at now: Instant) {
        switch state {
        case .standingBy:
            if other.isOnline, other.engine != engine {
                isVacant = false
                deadlines.cancel(.pause)
                deadlines.set(.silence, at: now + Self.silenceLimit)
                leader = other
                compareRules()
            } else if latestClaim == nil || latestClaim?.engine == other.engine {
                vacate(at: now)
            }
        case .leading:
            // A will has replaced what we said, or another engine leads as well, and our claims decide.
            if !other.isOnline { sayOnline(at: now) } else if other.engine != engine { publishClaim(at: now) }
        case .claiming, .fenced: break
        }
    }

    /// Reports each difference once.
    private mutating func compareRules() {
        guard state == .standingBy, !rules.isEmpty, let leader, !leader.rules.isEmpty else { return }
        let difference = leader.rules == rules ? nil : rules + " " + leader.rules
        if let difference, difference != reportedDifference { effects.append(.rulesDiffer(leader: leader.engine)) }
        reportedDifference = difference
    }

    private mutating func received(_ name: String, _ payload: [UInt8], at now: Instant) {
        guard isConnected, !payload.isEmpty else { return }
        do throws(FeedPayloadFailure) {
            if name == leaderTopic { heard(try EngineTerm(parsing: payload), at: now) }
            if name == stateTopic { heard(try EngineState(parsing: payload), at: now) }
        } catch {
            noteAnomaly("\(name): \(error)")
        }
    }

    private mutating func noteAnomaly(_ text: String) {
        anomalyCount += 1
        if anomalyCount <= Self.maximumAnomalies { effects.append(.anomaly(text)) }
    }
}
