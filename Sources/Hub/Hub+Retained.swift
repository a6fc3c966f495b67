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
            emit(.publish(id, retainedMessage(topic, at: now), expiry: nil))
        }
    }

    /// - Returns: whether the message was on one of the topics of `Announcements.filters`.
    mutating func homeAssistantSaid(_ topicName: String, _ payload: [UInt8], retained isRetained: Bool, at now: Instant)
        -> Bool
    {
        switch broker.announcements.heard(topicName, payload, isRetained: isRetained) {
        case nil: return false
        case .other: break
        case .homeAssistantStarted: setTimer(.announce, at: now + broker.announcements.delay(at: now))
        case .config(let topic):
            if broker.configSeen(topic, payload, isRetained: isRetained, of: device(of: topic)) {
                log(
                    .info, "a device was deleted in Home Assistant; it is not announced again until tryckd is restarted"
                )
            }
        }
        return true
    }
}
