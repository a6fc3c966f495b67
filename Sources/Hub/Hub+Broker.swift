import ButtonModel
import HomeAssistant
import JSON
import Rules

// Messages out, requests in.
extension Hub {
    /// Longer than any reason to wait for the broker.
    static let bridgePatience = Duration.seconds(60)

    mutating func brokerConnected(at now: Instant) {
        broker = .connected
        log(.info, "connected to \(brokerAddress)")
        tell(["kind": "broker", "state": "connected"])
        let filters = (requestFilters + engine.subscriptions).map { Subscription($0) } + discoveryFilters
        effects.append(
            .subscribe(filters + leftoverFilters.map { Subscription($0, qos: 0, isWithoutOurs: true) }))
        isLookingForLeftovers = true
        sayAll()
        advanceRules(.brokerChanged(isConnected: true), at: now)
        expireMessages(at: now)
        for entry in outbox.takeAll() { send(entry, at: now) }
        deadlines.cancel(.outbox)
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
        if case .connected = broker { advanceRules(.brokerChanged(isConnected: false), at: now) }
        broker = .disconnected(reason)
        isLookingForLeftovers = false
        for topic in retained.takeAll() { retained.add(topic) }
        deadlines.cancel(.announce)
        log(.warning, reason)
        tell(["kind": "broker", "state": "disconnected", "reason": .string(reason)])
    }

    /// Publishes now, or as soon as the broker is back if that is within `patience`.
    ///
    /// - Parameter mayRepeat: whether it does no harm to say it twice.
    mutating func publish(
        _ message: MQTTMessage, patience: Duration, mayRepeat: Bool = false, for job: Job? = nil, at now: Instant
    ) {
        let id = takeToken()
        if let job { jobs[id] = job }
        guard configuration.hasBroker else {
            return publishEnded(id, .failed(code: "R824", message: "there is no broker (mqtt.broker: none)"), at: now)
        }
        post(Outbox.Entry(id: id, message: message, deadline: now + patience, mayRepeat: mayRepeat), at: now)
    }

    private mutating func post(_ entry: Outbox.Entry, at now: Instant) {
        if case .connected = broker { return send(entry, at: now) }
        if let dropped = outbox.add(entry) {
            publishEnded(dropped.id, .failed(code: "R824", message: "too many messages wait for the broker"), at: now)
        }
        if let deadline = outbox.earliestDeadline { deadlines.set(.outbox, at: deadline) }
    }

    /// A message about the bridge itself.
    mutating func publish(_ message: MQTTMessage) {
        guard case .connected = broker else { return }
        effects.append(.publish(takeToken(), message, expiry: nil))
    }

    private mutating func send(_ entry: Outbox.Entry, at now: Instant) {
        let message = entry.message
        outbox.handOver(entry)
        // A retained message is the last word on its topic and must not go away by itself.
        effects.append(
            .publish(entry.id, message, expiry: message.retain ? nil : max(.seconds(1), entry.deadline - now)))
        // With QoS 0 that is the end of it, and comes as `published`.
        if message.qos > 0, let step = jobs[entry.id]?.step { advanceRules(.handedOver(step), at: now) }
        guard isWatched else { return }
        tell([
            "kind": "publish", "topic": .string(message.topicName),
            "payload": .string(String(decoding: message.payload, as: UTF8.self)), "qos": .integer(Int64(message.qos)),
            "retain": .bool(message.retain),
        ])
    }

    mutating func expireMessages(at now: Instant) {
        for entry in outbox.takeExpired(at: now) {
            publishEnded(entry.id, .failed(code: "R824", message: "the broker was away for too long"), at: now)
        }
        if let deadline = outbox.earliestDeadline { deadlines.set(.outbox, at: deadline) }
    }

    mutating func published(_ id: UInt64, at now: Instant) {
        if retained.acknowledged(id) {
            metrics.published += 1
            return stopLookingForLeftovers()
        }
        outbox.acknowledged(id)
        publishEnded(id, .completed(), at: now)
    }

    mutating func publishFailed(_ id: UInt64, _ reason: String, at now: Instant) {
        guard !retainedFailed(id, reason, at: now) else { return }
        if let entry = outbox.failed(id, at: now) { return post(entry, at: now) }
        publishEnded(id, .failed(code: "R824", message: reason), at: now)
    }

    mutating func publishEnded(_ id: UInt64, _ outcome: StepOutcome, at now: Instant) {
        // One that was retained is said anew when the broker is back.
        if id != Hub.nobody, id < RetainedTopics.firstID {
            if case .completed = outcome { metrics.published += 1 } else { metrics.failed += 1 }
        }
        let job = jobs.removeValue(forKey: id)
        if let run = job?.interrupted { record([.runEnded(run)]) }
        if let message = job?.numbered { numberedMessageEnded(message, outcome, at: now) }
        guard let step = job?.step else { return }
        advanceRules(.stepFinished(step, outcome), at: now)
    }

    /// Octets of a request over MQTT. Those that are made by hand have some dozens.
    static let maximumRequestLength = 16 * 1024

    /// Nothing of it is read: a flood of such requests would hold up the presses.
    private mutating func refuseLongRequest(_ topicName: String, _ count: Int) {
        let sentence = "a request has at most \(Hub.maximumRequestLength >> 10) KiB, and this one has \(count) octets"
        if let name = topics.request(of: topicName) {
            respond(.error(sentence), to: .mqtt(name, transaction: nil))
        } else {
            log(.warning, "\(topicName): \(sentence)")
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
            guard !isTooLong else { return refuseLongRequest(topicName, payload.count) }
            return buttonMessageReceived(request, topicName, payload, retained: retained, at: now)
        }
        if configuration.control == .all, let request = topics.ruleRequest(of: topicName) {
            guard !isTooLong else { return refuseLongRequest(topicName, payload.count) }
            return ruleMessageReceived(request, topicName, payload, retained: retained, at: now)
        }
        guard configuration.control != .none, let name = topics.request(of: topicName) else { return }
        // A request that was retained by mistake would be repeated at every connection.
        guard !retained else { return log(.warning, "\(topicName): a retained request is ignored; clear the topic") }
        guard !isTooLong else { return refuseLongRequest(topicName, payload.count) }
        let answer: RequestAnswer
        var transaction: JSONValue?
        do {
            let data = payload.isEmpty ? .object([]) : try JSONValue(parsing: payload)
            transaction = data["transaction"]
            if name == Hub.reloadRequest {
                return reload(data, for: .mqtt(name, transaction: transaction))
            }
            answer = self.answer(name, data, isLocal: false, at: now)
        } catch {
            answer = .error("the payload is not JSON: \(error)")
        }
        respond(answer, to: .mqtt(name, transaction: transaction))
        if isRestartWanted { stop(at: now) }
    }
}
