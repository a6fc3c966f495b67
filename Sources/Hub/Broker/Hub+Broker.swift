import ButtonModel
import Feed
import JSON
import MQTTTopics
import Rules

// The broker: messages to it, and messages from it.
extension Hub {
    /// How long answers and events of the bridge wait for the broker.
    static let bridgeTimeToLive = Duration.seconds(60)

    mutating func brokerConnected(at now: Instant) {
        broker.connected()
        let address = broker.address
        log(.brokerFound, .info, "connected to \(address)", at: now)
        broadcast(.brokerConnected)
        let filters =
            control.filters.map { Subscription($0) } + subscriptions(to: rules.subscriptions) + broker.discoveryFilters
        emit(
            .subscribe(filters + leftoverFilters.map { Subscription($0, qos: 0, isWithoutOurs: true) }))
        if feed != nil { feedConnected(at: now) }
        republishAll()
        expireMessages(at: now)
        sendWaiting(at: now)
        // Last: what runs send because the broker is back comes after what waited for it.
        advanceRules(.brokerChanged(isConnected: true), at: now)
    }

    /// What the hub subscribes to whatever the rules are.
    private var ownSubscriptions: [Subscription] {
        control.filters.map { Subscription($0) } + broker.discoveryFilters + (feed?.subscriptions ?? [])
    }

    /// The subscriptions for topics of rules. A broker has one subscription for each filter, so one that the hub needs, too, keeps its
    /// QoS.
    func subscriptions(to topicFilters: [String]) -> [Subscription] {
        let own = ownSubscriptions
        return topicFilters.map { filter in own.first { $0.topicFilter == filter } ?? Subscription(filter) }
    }

    /// The filters that only rules need.
    func withoutOwn(_ topicFilters: [String]) -> [String] {
        let own = ownSubscriptions
        return topicFilters.filter { filter in !own.contains { $0.topicFilter == filter } }
    }

    /// The filters that only the search for leftovers needs. A rule may have subscribed to one of the others since it began.
    private var leftoverFilters: [String] {
        let needed = Set(rules.subscriptions)
        return withoutOwn(broker.leftoverFilters).filter { !needed.contains($0) }
    }

    mutating func brokerDisconnected(_ reason: String, at now: Instant) {
        guard let wasConnected = broker.disconnected(reason, at: now) else { return }
        // The feed comes first, so that the inputs below do not perform actions any more.
        if feed != nil { advanceFeed(.disconnected, at: now) }
        if wasConnected { advanceRules(.brokerChanged(isConnected: false), at: now) }
        cancelTimer(.announce)
        log(.brokerLost, .warning, reason, at: now)
        broadcast(.brokerDisconnected(reason: reason))
    }

    // MARK: Messages out

    /// Publishes a message now, or as soon as the broker is back if that is within `timeToLive`.
    ///
    /// - Parameters:
    ///   - repetition: whether the message is sent again if the connection breaks before the broker has acknowledged it.
    ///   - messageClass: the class of messages whose limits apply.
    mutating func publish(
        _ message: MQTTMessage, timeToLive: Duration, repetition: Outbox.Repetition = .never,
        as messageClass: Outbox.MessageClass = .press,
        for owner: MessageOwner? = nil, at now: Instant
    ) {
        post(
            Outbox.Entry(
                id: identifiers.messageID(), message: message, deadline: now + timeToLive, repetition: repetition,
                messageClass: messageClass), for: owner, at: now)
    }

    /// Publishes a message for clients that listen now, such as an answer. Clients that watch are not shown it, because they
    /// have lines of their own about the same thing.
    mutating func publishIfConnected(_ message: MQTTMessage) {
        guard broker.isConnected else { return }
        post(
            Outbox.Entry(
                id: identifiers.messageID(), message: message, deadline: handledAt + Hub.bridgeTimeToLive,
                messageClass: .other, isShown: false), for: nil, at: handledAt)
    }

    /// Publishes an event of the bridge itself on `bridge/event`.
    mutating func publishEvent(
        _ type: String, _ data: JSONValue, timeToLive: Duration = Hub.bridgeTimeToLive,
        repetition: Outbox.Repetition = .once, as messageClass: Outbox.MessageClass = .other,
        for owner: MessageOwner? = nil, at now: Instant
    ) {
        publish(
            broker.topics.bridgeMessage(type, data), timeToLive: timeToLive, repetition: repetition, as: messageClass,
            for: owner, at: now)
    }

    private mutating func post(_ entry: Outbox.Entry, for owner: MessageOwner?, at now: Instant) {
        let posting = broker.publish(entry, for: owner, at: now)
        if case .refused = posting {
            giveUp(entry.id, because: "there is no broker (mqtt.broker: none)", at: now)
        } else {
            carryOut(posting, at: now)
        }
    }

    private mutating func carryOut(_ posting: BrokerQueue.Posting, at now: Instant) {
        switch posting {
        case .sent(let transmission): send(transmission, at: now)
        case .waiting(let dropped):
            for id in dropped { giveUp(id, because: "too many messages wait for the broker", at: now) }
            scheduleExpiry()
        case .refused: break
        }
    }

    private mutating func scheduleExpiry() {
        if let deadline = broker.earliestExpiry { setTimer(.outbox, at: deadline) } else { cancelTimer(.outbox) }
    }

    /// Sends the messages that wait, as many as may be in flight.
    private mutating func sendWaiting(at now: Instant) {
        guard broker.isConnected, !isFinished, broker.waitingCount > 0 else { return }
        while let transmission = broker.takeNext(at: now) { send(transmission, at: now) }
        if broker.waitingCount == 0 { cancelTimer(.outbox) }
    }

    private mutating func send(_ transmission: BrokerQueue.Transmission, at now: Instant) {
        let message = transmission.message
        emit(.publish(transmission.id, message, expiry: transmission.expiry))
        if let step = transmission.step { handedOver(step, message, at: now) }
        if transmission.isShown { broadcast(.published(message, by: transmission.step?.run, rule: transmission.rule)) }
    }

    mutating func expireMessages(at now: Instant) {
        for id in broker.takeExpired(at: now) {
            giveUp(id, because: "the broker was disconnected for too long", at: now)
        }
        scheduleExpiry()
    }

    mutating func published(_ id: MessageID, at now: Instant) {
        if feed != nil { claimPublished(id, at: now) }
        switch broker.acknowledged(id) {
        case .logLine: break
        case .retained(let endsSearch): if endsSearch { emit(.unsubscribe(leftoverFilters)) }
        case .message:
            publishEnded(id, .completed(), at: now)
            sendWaiting(at: now)
        }
    }

    mutating func publishFailed(_ id: MessageID, _ reason: String, at now: Instant) {
        if feed != nil { claimFailed(id, reason, at: now) }
        switch broker.failed(id, at: now) {
        case .logLine, .retainedLost: return
        case .retained(let topic): return invalidateDebounced(topic, at: now, after: Hub.retainedRetry)
        case .retainedGivenUp(let topic):
            let name = broker.name(of: topic)
            return log(.refusedMessage, .warning, "\(name) could not be published: \(reason)", at: now)
        case .message: giveUp(id, because: reason, at: now)
        case .posted(let posting): carryOut(posting, at: now)
        }
        sendWaiting(at: now)
    }

    /// The message has failed for good.
    private mutating func giveUp(_ id: MessageID, because reason: String, at now: Instant) {
        publishEnded(id, .failed(code: "R824", message: reason), at: now)
    }

    private mutating func publishEnded(_ id: MessageID, _ outcome: ActionResult, at now: Instant) {
        let isPublished = if case .completed = outcome { true } else { false }
        switch broker.ended(id, isPublished: isPublished) {
        case nil: break
        case .interruptedRun(let run): record([.runEnded(run)])
        case .event(let message): numberedMessageEnded(message, outcome, at: now)
        case .report(let place, let first):
            advanceFeed(.source(.reportEnded(place, first: first, isPublished: isPublished)), at: now)
        case .step(let step, let rule, let topicName):
            // A message that is broken off because the daemon ends stays in the store, and the next process reports it.
            if case .failed = outcome, isFinished { return }
            let changes = broker.messageEnded(of: step.run)
            if !changes.isEmpty { record(changes) }
            if !finishStep(step, outcome, at: now), case .failed(let code, let reason, _) = outcome {
                logFailure(
                    ofRule: rule, ": \(code) the message on \(topicName) may not have been sent: \(reason)", at: now)
            }
        }
    }

    // MARK: Messages in

    mutating func messageReceived(_ topicName: String, _ payload: [UInt8], retained: Bool, at now: Instant) {
        if feed != nil, feedReceived(topicName, payload, retained: retained, brokerAge: .zero, at: now) { return }
        if retained, let topic = broker.leftover(topicName, payload), isGone(topic) { broker.clearLeftover(topic) }
        stateReceived(topicName, payload, isRetained: retained, at: now)
        guard !discoveryMessageReceived(topicName, payload, retained: retained, at: now) else { return }
        if let incoming = control.read(topicName, payload, isRetained: retained) {
            serve(incoming, at: now)
        }
    }

    // MARK: Messages of certain topics

    mutating func publishReports(_ messages: [Reports.Message], at now: Instant) {
        for message in messages {
            let (eventName, report) = (message.eventName, message.report)
            let owner = MessageOwner.event(NumberedMessage(button: report.button, sequence: report.sequence))
            switch message.kind {
            case .raw:
                publish(
                    broker.topics.rawMessage(eventName, report), timeToLive: message.timeToLive, for: owner, at: now)
            case .gesture:
                for part in broker.topics.messages(eventName, report) {
                    publish(
                        part, timeToLive: message.timeToLive, repetition: message.endsHold ? .often : .never,
                        for: owner,
                        at: now)
                }
            case .stale:
                publish(
                    broker.topics.staleMessage(eventName, report), timeToLive: message.timeToLive, repetition: .once,
                    for: owner, at: now)
            }
        }
    }

    /// Publishes an answer to a request over MQTT.
    mutating func publishAnswer(_ answer: JSONValue, to request: String) {
        publishIfConnected(
            MQTTMessage(topicName: broker.topics.response(to: request), payload: answer.encoded(), qos: 1))
    }

    /// Publishes that the bridge is going offline.
    mutating func publishOffline() {
        guard broker.isConnected else { return }
        let topics = broker.topics
        emit(.publish(identifiers.messageID(), topics.bridgeStateMessage(isOnline: false), expiry: nil))
    }
}
