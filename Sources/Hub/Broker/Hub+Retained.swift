import ButtonModel
import MQTTTopics
import Rules

// The retained topics. They are published after connecting to the broker and after each change.
extension Hub {
    /// The delay of status topics after a change, so that several changes make one message. It follows the event
    /// messages.
    static let settlingTime = Duration.milliseconds(100)
    /// The delay before a message that the broker rejected is published again.
    static let retainedRetry = Duration.seconds(1)

    /// Marks the topic's message as outdated, so that it is published.
    mutating func invalidate(_ topic: RetainedTopic) { broker.invalidate(topic) }

    /// Marks the topic as outdated after a delay. Topics that are added during the delay are published together.
    mutating func invalidateDebounced(_ topic: RetainedTopic, at now: Instant, after delay: Duration = Hub.settlingTime)
    {
        if broker.settle(topic) { setTimer(.settling, at: now + delay) }
    }

    /// Publishes outdated topics, up to the number of unacknowledged messages that `RetainedQueue` allows.
    mutating func sendRetained(at now: Instant) {
        while let (topic, id) = broker.takeRetained() {
            if topic == .bridgeHealth { healthSentAt = now }
            emit(.publish(id, retainedMessage(topic, at: now), expiry: nil))
        }
    }

    /// Marks all topics as outdated after connecting.
    mutating func republishAll() {
        cancelTimer(.settling)
        let inventory = rules.inventory(buttons: buttons.keys.sorted())
        broker.republish(
            inventory, gone: broker.waitingTopics.filter { isGone($0) }, announcesBridge: announcesBridge)
    }

    /// True if what the topic is about does not exist any more.
    func isGone(_ topic: RetainedTopic) -> Bool {
        switch topic {
        case .bridgeInfo, .bridgeDevices, .bridgePairing, .bridgeHealth, .bridgeRadios, .rules, .bridgeConfig,
            .bridgeState:
            false
        case .status(let button), .availability(let button), .config(let button): buttons[button] == nil
        case .ruleEnabled(let rule), .statistics(let rule), .lastRun(let rule): !rules.has(rule: rule)
        case .variable(let name): !rules.has(variable: name)
        }
    }
}
