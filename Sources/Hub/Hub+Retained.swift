import ButtonModel
import Buttons
import Expressions
import Gestures
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

    /// Marks all topics as outdated after connecting.
    mutating func republishAll() {
        cancelTimer(.settling)
        let inventory = rules.inventory(buttons: buttons.keys.sorted())
        broker.republish(inventory, gone: broker.waitingTopics.filter { isGone($0) })
    }

    /// True if what the topic is about does not exist any more.
    func isGone(_ topic: RetainedTopic) -> Bool {
        switch topic {
        case .bridgeInfo, .bridgeDevices, .rules, .bridgeConfig, .bridgeState: false
        case .status(let button), .availability(let button), .config(let button): buttons[button] == nil
        case .ruleEnabled(let rule), .statistics(let rule), .lastRun(let rule): !rules.has(rule: rule)
        case .variable(let name): !rules.has(variable: name)
        }
    }

    // MARK: Messages

    private mutating func retainedMessage(_ topic: RetainedTopic, at now: Instant) -> MQTTMessage {
        let topics = broker.topics
        return switch topic {
        case .bridgeInfo: message(topics.bridgeInfo, bridgeStatus(at: now).json)
        case .bridgeDevices: message(topics.bridgeDevices, .array(listedButtons.map(\.json)))
        case .bridgeState: topics.bridgeStateMessage(isOnline: true)
        case .status(let button):
            message(topics.status(of: button), buttons[button].map { status(of: $0).json })
        case .availability(let button):
            message(
                topics.availability(of: button), text: buttons[button].map { $0.state == .ready ? "online" : "offline" }
            )
        case .bridgeConfig: broker.announcement(topic, of: nil)
        case .config(let button): broker.announcement(topic, of: buttons[button].map { device(of: $0) })
        case .rules, .ruleEnabled, .lastRun, .statistics, .variable:
            topics.retained(broker.name(of: topic), rules.payload(of: topic))
        }
    }

    private func message(_ topicName: String, _ json: JSONValue?) -> MQTTMessage {
        MQTTMessage(
            topicName: topicName, payload: json.map { redaction($0).encoded() } ?? [], qos: 1, retain: true)
    }

    private func message(_ topicName: String, text: String?) -> MQTTMessage {
        MQTTMessage(topicName: topicName, payload: text.map { Array($0.utf8) } ?? [], qos: 1, retain: true)
    }

    // MARK: Home Assistant

    func device(of record: ButtonRecord) -> ButtonDevice {
        let identity = record.identity
        return ButtonDevice(
            id: identity.id, address: identity.address, name: record.displayName, serial: identity.serial,
            firmwareVersion: identity.firmwareVersion, model: identity.model,
            clickCounts: Set(
                rules.listening(to: identity.id).gestures.filter { !$0.contains(.long) }.map(\.count).filter { $0 > 2 }
            ),
            hasFirmwareFile: firmwareFile(for: record) != nil, usedDials: usedDials(of: identity))
    }

    /// The dials whose rotation triggers a rule. For the dial of a Twist, all its slots are included.
    private func usedDials(of identity: ButtonIdentity) -> Set<Dial> {
        let parts = rules.turnedParts(of: identity.id)
        return Set(
            Dial.all(of: identity.model).filter { dial in
                switch dial {
                case .part(let part): parts.contains(part)
                case .slot: parts.contains(.dial)
                case .free: parts.contains(.push)
                }
            })
    }

    /// Announces buttons whose names, used gestures or available firmware have changed.
    mutating func invalidateDevices(at now: Instant) {
        guard broker.announcements.isEnabled, broker.isConnected else { return }
        for record in buttons.sorted {
            let button = record.identity.id
            guard let before = broker.announcements.device(of: button), before != device(of: record) else { continue }
            invalidateDebounced(.config(button), at: now)
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
            var device: ButtonDevice?
            if case .config(let button) = topic { device = buttons[button].map { self.device(of: $0) } }
            if broker.configSeen(topic, payload, isRetained: isRetained, of: device) {
                log(
                    .info, "a device was deleted in Home Assistant; it is not announced again until tryckd is restarted"
                )
            }
        }
        return true
    }

    mutating func announceAgain() {
        guard broker.announcements.isEnabled else { return }
        invalidate(.bridgeConfig)
        for button in buttons.keys.sorted() { invalidate(.config(button)) }
    }
}
