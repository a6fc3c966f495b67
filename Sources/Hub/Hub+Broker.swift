import ButtonModel
import JSON
import MQTTTopics
import Rules

// Messages out, requests in.
extension Hub {
    /// Longer than any reason to wait for the broker.
    static let bridgeTimeToLive = Duration.seconds(60)

    mutating func brokerConnected(at now: Instant) {
        broker = .connected
        log(.info, "connected to \(brokerAddress)")
        broadcast(["kind": "broker", "state": "connected"])
        let filters = (requestFilters + engine.subscriptions).map { Subscription($0) } + discoveryFilters
        effects.append(
            .subscribe(filters + leftoverFilters.map { Subscription($0, qos: 0, isWithoutOurs: true) }))
        isLookingForLeftovers = true
        republishAll()
        expireMessages(at: now)
        sendWaiting(at: now)
        // Last: what runs send because the broker is back comes after what waited for it.
        advanceRules(.brokerChanged(isConnected: true), at: now)
    }

    /// What is listened to besides the states of rules.
    private var requestFilters: [String] {
        switch configuration.control {
        case .none: []
        case .settings: [topics.requestFilter] + topics.buttonFilters
        case .all: [topics.requestFilter] + topics.buttonFilters + topics.ruleFilters
        }
    }

    mutating func brokerDisconnected(_ reason: String, at now: Instant) {
        guard broker != .disconnected(reason) else { return }
        let wasConnected = isBrokerConnected
        broker = .disconnected(reason)
        if wasConnected { advanceRules(.brokerChanged(isConnected: false), at: now) }
        isLookingForLeftovers = false
        for topic in retained.takeAll() { retained.add(topic) }
        deadlines.cancel(.announce)
        log(.warning, reason)
        broadcast(["kind": "broker", "state": "disconnected", "reason": .string(reason)])
    }

    /// Publishes now, or as soon as the broker is back if that is within `timeToLive`.
    ///
    /// - Parameters:
    ///   - mayRepeat: whether it does no harm to say it twice.
    ///   - place: among which messages it has its place.
    mutating func publish(
        _ message: MQTTMessage, timeToLive: Duration, mayRepeat: Bool = false, as place: Outbox.Class = .press,
        for owner: MessageOwner? = nil, at now: Instant
    ) {
        let id = identifiers.messageID()
        if let owner { messages.add(owner, of: id) }
        guard configuration.hasBroker else {
            return publishEnded(id, .failed(code: "R824", message: "there is no broker (mqtt.broker: none)"), at: now)
        }
        post(
            Outbox.Entry(id: id, message: message, deadline: now + timeToLive, mayRepeat: mayRepeat, place: place),
            at: now)
    }

    private mutating func post(_ entry: Outbox.Entry, at now: Instant) {
        if isBrokerConnected, outbox.maySend(entry) { return send(entry, at: now) }
        for dropped in outbox.add(entry) {
            publishEnded(dropped.id, .failed(code: "R824", message: "too many messages wait for the broker"), at: now)
        }
        if let deadline = outbox.earliestDeadline { deadlines.set(.outbox, at: deadline) }
    }

    /// An answer, or a message about the bridge itself, for those who listen now. Watchers have lines of their own about it.
    mutating func publish(_ message: MQTTMessage) {
        guard isBrokerConnected else { return }
        post(
            Outbox.Entry(
                id: identifiers.messageID(), message: message, deadline: handledAt + Hub.bridgeTimeToLive,
                place: .other,
                isShown: false), at: handledAt)
    }

    /// What has a place on the way, in its order: presses and what rules say first.
    private mutating func sendWaiting(at now: Instant) {
        guard isBrokerConnected, !isFinished, outbox.waitingCount > 0 else { return }
        while let entry = outbox.takeNext() { send(entry, at: now) }
        if outbox.waitingCount == 0 { deadlines.cancel(.outbox) }
    }

    private mutating func send(_ entry: Outbox.Entry, at now: Instant) {
        let message = entry.message
        outbox.handOver(entry)
        // A retained message is the last word on its topic and must not go away by itself.
        effects.append(
            .publish(entry.id, message, expiry: message.retain ? nil : max(.seconds(1), entry.deadline - now)))
        // The engine waits for a message with QoS 0 only where it believed the broker to be away.
        if case .step(let step, _, _) = messages[entry.id], engine.awaits(step) {
            advanceRules(message.qos > 0 ? .handedOver(step) : .stepFinished(step, .completed()), at: now)
        }
        guard isWatched, entry.isShown else { return }
        broadcast([
            "kind": "publish", "topic": .string(message.topicName),
            "payload": .string(String(decoding: message.payload, as: UTF8.self)), "qos": .integer(Int64(message.qos)),
            "retain": .bool(message.retain),
        ])
    }

    mutating func expireMessages(at now: Instant) {
        for entry in outbox.takeExpired(at: now) {
            publishEnded(entry.id, .failed(code: "R824", message: "the broker was disconnected for too long"), at: now)
        }
        if let deadline = outbox.earliestDeadline { deadlines.set(.outbox, at: deadline) }
    }

    mutating func published(_ id: MessageID, at now: Instant) {
        if retained.acknowledged(id) {
            metrics.published += 1
            return stopLookingForLeftovers()
        }
        guard id != .logLine else { return outbox.lineEnded() }
        outbox.acknowledged(id)
        publishEnded(id, .completed(), at: now)
        sendWaiting(at: now)
    }

    mutating func publishFailed(_ id: MessageID, _ reason: String, at now: Instant) {
        guard !retainedFailed(id, reason, at: now) else { return }
        guard id != .logLine else { return outbox.lineEnded() }
        if let entry = outbox.failed(id, at: now) {
            post(entry, at: now)
        } else {
            publishEnded(id, .failed(code: "R824", message: reason), at: now)
        }
        sendWaiting(at: now)
    }

    mutating func publishEnded(_ id: MessageID, _ outcome: StepOutcome, at now: Instant) {
        // A retained message of an earlier connection is not counted, because it is published again.
        if case .queued = id {
            if case .completed = outcome { metrics.published += 1 } else { metrics.failed += 1 }
        }
        switch messages.remove(id) {
        case nil: break
        case .interruptedRun(let run): record([.runEnded(run)])
        case .event(let message): numberedMessageEnded(message, outcome, at: now)
        case .step(let step, let rule, let topicName):
            // A message that is broken off because the daemon ends stays in the store, and the next process reports it.
            if case .failed = outcome, isFinished { return }
            messageEnded(of: step.run)
            if engine.awaits(step) {
                advanceRules(.stepFinished(step, outcome), at: now)
            } else if case .failed(let code, let reason, _) = outcome {
                log(.warning, "rule \(rule): \(code) the message on \(topicName) may not have been sent: \(reason)")
            }
        }
    }

    /// The maximum length of a request over MQTT in octets. Requests that people write have some dozens.
    static let maximumRequestLength = 16 * 1024

    /// Refuses a request without parsing it, because a flood of long requests would delay presses.
    private mutating func refuseLongRequest(_ topicName: String, _ count: Int, at now: Instant) {
        let sentence = "a request has at most \(Hub.maximumRequestLength >> 10) KiB, and this one has \(count) octets"
        if let name = topics.request(of: topicName) {
            respond(.error(sentence), to: .mqtt(name, transaction: nil))
        } else {
            log(.longRequest, .warning, "\(topicName): \(sentence)", at: now)
        }
    }

    mutating func messageReceived(_ topicName: String, _ payload: [UInt8], retained: Bool, at now: Instant) {
        if retained { retainedSeen(topicName, payload) }
        if stateTopics.contains(topicName) {
            advanceRules(.message(topicName: topicName, payload: payload), at: now)
        }
        guard !homeAssistantSaid(topicName, payload, retained: retained, at: now) else { return }
        let isTooLong = payload.count > Hub.maximumRequestLength
        if configuration.control != .none, let request = topics.buttonRequest(of: topicName) {
            guard !isTooLong else { return refuseLongRequest(topicName, payload.count, at: now) }
            return buttonMessageReceived(request, topicName, payload, retained: retained, at: now)
        }
        if configuration.control == .all, let request = topics.ruleRequest(of: topicName) {
            guard !isTooLong else { return refuseLongRequest(topicName, payload.count, at: now) }
            return ruleMessageReceived(request, topicName, payload, retained: retained, at: now)
        }
        guard let privilege = Privilege(configuration.control), let name = topics.request(of: topicName) else { return }
        guard !retained else { return ignoreRetained(topicName, at: now) }
        guard !isTooLong else { return refuseLongRequest(topicName, payload.count, at: now) }
        bridgeRequest(name, payload, privilege, at: now)
    }

    /// A request that the broker keeps would be repeated at every connection.
    mutating func ignoreRetained(_ topicName: String, at now: Instant) {
        log(.retainedRequest, .warning, "\(topicName): a retained request is ignored; clear the topic", at: now)
    }
}
