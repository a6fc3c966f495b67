import ButtonModel
import Buttons
import Expressions
import HomeAssistant
import JSON
import Rules

// What the broker retains: said when it comes, and whenever it changes.
extension Hub {
    /// What a button does in that time is one message about its state, after those about what it did.
    static let settlingTime = Duration.milliseconds(100)
    /// Before a message that the broker did not take is tried again.
    static let retainedRetry = Duration.seconds(1)

    var isBrokerConnected: Bool { if case .connected = broker { true } else { false } }

    /// The topic's word has changed. While the broker is away only what is gone has to be remembered: all else is said when
    /// it is back.
    mutating func say(_ topic: RetainedTopic) {
        guard configuration.hasBroker else { return }
        if isBrokerConnected || retained.count < RetainedTopics.maximumAbsent { retained.add(topic) }
    }

    /// The same, once things have settled.
    mutating func saySoon(_ topic: RetainedTopic, at now: Instant, after delay: Duration = Hub.settlingTime) {
        guard isBrokerConnected else { return }
        if retained.settle(topic) { deadlines.set(.settling, at: now + delay) }
    }

    /// As many as the broker may have at once.
    mutating func sendRetained(at now: Instant) {
        guard isBrokerConnected else { return }
        while let topic = retained.take() {
            // Nothing is there any more, and Home Assistant complains when it is told so again.
            guard !announced.hidden.contains(topic) else { continue }
            let id = retained.sent(topic)
            effects.append(.publish(id, retainedMessage(topic, at: now), expiry: nil))
        }
    }

    /// Whether the message was a retained one.
    mutating func retainedFailed(_ id: UInt64, _ reason: String, at now: Instant) -> Bool {
        guard let (topic, again) = retained.failed(id) else { return false }
        guard isBrokerConnected else { return true }
        if again {
            saySoon(topic, at: now, after: Hub.retainedRetry)
        } else {
            metrics.failed += 1
            log(.warning, "\(retainedMessage(topic, at: now).topicName) could not be published: \(reason)")
        }
        return true
    }

    /// All there is, in the order in which others can use it: first what is so, then what is announced of it, then that we
    /// are there; rules last, of which there may be many.
    mutating func sayAll() {
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

    // MARK: What is said

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
