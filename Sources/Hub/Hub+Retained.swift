import ButtonModel
import Buttons
import Expressions
import JSON
import MQTTTopics
import Rules

// The retained topics. They are published after connecting to the broker and after each change.
extension Hub {
    /// The delay of status topics after a change, so that several changes make one message. It follows the event
    /// messages.
    static let settlingTime = Duration.milliseconds(100)
    /// The delay before a message that the broker rejected is published again.
    static let retainedRetry = Duration.seconds(1)

    var isBrokerConnected: Bool { if case .connected = broker { true } else { false } }

    /// Marks the topic's message as outdated, so that it is published. Without a broker only topics of removed things
    /// need to be remembered, because `sayAll` adds all others after connecting.
    mutating func invalidate(_ topic: RetainedTopic) {
        guard configuration.hasBroker else { return }
        if case .config = topic, discovery == nil { return }
        if isBrokerConnected || retained.count < RetainedTopics.maximumAbsent { retained.add(topic) }
    }

    /// Marks the topic as outdated after a delay. Topics that are added during the delay are published together.
    mutating func invalidateDebounced(_ topic: RetainedTopic, at now: Instant, after delay: Duration = Hub.settlingTime)
    {
        guard isBrokerConnected else { return }
        if retained.settle(topic) { deadlines.set(.settling, at: now + delay) }
    }

    /// Publishes outdated topics, up to the number of unacknowledged messages that `RetainedTopics` allows.
    mutating func sendRetained(at now: Instant) {
        guard isBrokerConnected else { return }
        while let topic = retained.take() {
            // A device that was deleted in Home Assistant is not announced again, and clearing its topic once more
            // would make Home Assistant log an error.
            guard !announced.hidden.contains(topic) else { continue }
            let id = retained.sent(topic)
            effects.append(.publish(id, retainedMessage(topic, at: now), expiry: nil))
        }
    }

    /// - Returns: whether the message was on a retained topic.
    mutating func retainedFailed(_ id: MessageID, _ reason: String, at now: Instant) -> Bool {
        guard let (topic, again) = retained.failed(id) else { return false }
        guard isBrokerConnected else { return true }
        if again {
            invalidateDebounced(topic, at: now, after: Hub.retainedRetry)
        } else {
            metrics.failed += 1
            log(.warning, "\(retainedMessage(topic, at: now).topicName) could not be published: \(reason)")
        }
        return true
    }

    /// Marks all topics as outdated, in the order in which subscribers need them: states, then the discovery configs
    /// that refer to them, then `bridge/state`, which makes entities available. Rules come last, because there may be
    /// many.
    mutating func republishAll() {
        let gone = retained.takeAll().filter { isGone($0) }
        deadlines.cancel(.settling)
        for topic in gone + [.bridgeInfo, .bridgeDevices, .rules] { retained.add(topic) }
        let buttons = buttons.keys.sorted()
        for button in buttons {
            retained.add(.status(button))
            retained.add(.availability(button))
        }
        if discovery != nil {
            retained.add(.bridgeConfig)
            for button in buttons { retained.add(.config(button)) }
        }
        retained.add(.bridgeState)
        for variable in engine.set.variables { retained.add(.variable(variable.name)) }
        for rule in engine.set.rules { retained.add(.ruleEnabled(rule.id)) }
        for rule in ruleTopics.lastRuns.keys.sorted() { retained.add(.lastRun(rule)) }
        for rule in engine.set.rules {
            guard let statistics = engine.statistics(of: rule.id), !statistics.counts.isEmpty else { continue }
            retained.add(.statistics(rule.id))
        }
    }

    func isGone(_ topic: RetainedTopic) -> Bool {
        switch topic {
        case .bridgeInfo, .bridgeDevices, .rules, .bridgeConfig, .bridgeState: false
        case .status(let button), .availability(let button), .config(let button): buttons[button] == nil
        case .ruleEnabled(let rule), .statistics(let rule), .lastRun(let rule): engine.statistics(of: rule) == nil
        case .variable(let name): engine.value(of: name) == nil
        }
    }

    // MARK: Messages

    private mutating func retainedMessage(_ topic: RetainedTopic, at now: Instant) -> MQTTMessage {
        switch topic {
        case .bridgeInfo: message(topics.bridgeInfo, bridgeStatus(at: now).json)
        case .bridgeDevices: message(topics.bridgeDevices, .array(listedButtons.map(\.json)))
        case .bridgeState: topics.bridgeStateMessage(isOnline: true)
        case .status(let button):
            message(topics.status(of: button), buttons[button].map { status(of: $0).json })
        case .availability(let button):
            message(
                topics.availability(of: button), text: buttons[button].map { $0.state == .ready ? "online" : "offline" }
            )
        case .bridgeConfig, .config: announcement(topic)
        case .rules: topics.retained(topics.rules, rulesState.encoded())
        case .ruleEnabled(let rule):
            topics.retained(
                topics.enabled(rule: rule),
                engine.isEnabled(rule: rule).map { Array(($0 ? "true" : "false").utf8) } ?? [])
        case .lastRun(let rule):
            topics.retained(topics.lastRun(rule: rule), ruleTopics.lastRuns[rule].map { $0.encoded() } ?? [])
        case .statistics(let rule):
            topics.retained(
                topics.statistics(rule: rule), engine.statistics(of: rule).map { $0.json.encoded() } ?? [])
        case .variable(let name):
            topics.retained(
                topics.variable(name), engine.value(of: name).map { Array(redaction($0.text ?? "").utf8) } ?? [])
        }
    }

    private func message(_ topicName: String, _ json: JSONValue?) -> MQTTMessage {
        MQTTMessage(topicName: topicName, payload: json.map { redaction($0).encoded() } ?? [], qos: 1, retain: true)
    }

    private func message(_ topicName: String, text: String?) -> MQTTMessage {
        MQTTMessage(topicName: topicName, payload: text.map { Array($0.utf8) } ?? [], qos: 1, retain: true)
    }
}
