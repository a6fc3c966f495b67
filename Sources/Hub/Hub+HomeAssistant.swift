import ButtonModel
import Gestures
import JSON
import MQTTTopics
import Rules

/// What was announced to Home Assistant by MQTT discovery, and what was deleted there.
struct AnnouncementState: Sendable {
    /// The buttons as announced last.
    var buttons: [ButtonID: ButtonDevice] = [:]
    /// Components of earlier announcements that have to be withdrawn: for each topic, their platforms by component key.
    var withdrawn: [RetainedTopic: [String: String]] = [:]
    /// Devices that the user has deleted in Home Assistant. They are not announced again until tryckd is restarted.
    var hidden: Set<RetainedTopic> = []
}

// Home Assistant discovers the bridge and its buttons by retained messages on their config topics (MQTT discovery).
extension Hub {
    /// The longest delay between Home Assistant's start and the next announcement. The delay is random, so that several
    /// bridges do not announce their devices at the same time.
    static let longestAnnounceDelay = Duration.seconds(5)

    /// A filter for the config topics of all devices, including those of other bridges, instead of one for each button;
    /// and Home Assistant's status topic.
    var discoveryFilters: [Subscription] {
        guard let discovery else { return [] }
        return [
            Subscription(discovery.prefix + "/device/+/config", isWithoutOurs: true),
            Subscription(configuration.homeAssistantStatusTopic),
        ]
    }

    func device(of record: ButtonRecord) -> ButtonDevice {
        let identity = record.identity
        return ButtonDevice(
            id: identity.id, address: identity.address, name: record.displayName, serial: identity.serial,
            firmwareVersion: identity.firmwareVersion, model: identity.model,
            clickCounts: Set(
                engine.listening(to: identity.id).gestures.filter { !$0.contains(.long) }.map(\.count).filter { $0 > 2 }
            ),
            hasFirmwareFile: firmwareFile(for: record) != nil, usedDials: usedDials(of: identity))
    }

    /// The dials whose rotation triggers a rule. For the dial of a Twist, all its slots are included.
    private func usedDials(of identity: ButtonIdentity) -> Set<Dial> {
        let parts = engine.turnedParts(of: identity.id)
        return Set(
            Dial.all(of: identity.model).filter { dial in
                switch dial {
                case .part(let part): parts.contains(part)
                case .slot: parts.contains(.dial)
                case .free: parts.contains(.push)
                }
            })
    }

    mutating func announcement(_ topic: RetainedTopic) -> MQTTMessage {
        guard let discovery else { return MQTTMessage(topicName: "", payload: []) }
        guard case .config(let button) = topic else {
            return announcement(topic, discovery.bridgeConfigTopic) { discovery.bridgePayload(withdrawn: $0) }
        }
        let topicName = discovery.configTopic(of: button)
        guard let record = buttons[button] else {
            announced.buttons[button] = nil
            return announcement(topic, topicName) { _ in [] }
        }
        let device = device(of: record)
        if let before = announced.buttons.updateValue(device, forKey: button), before != device {
            withdraw(
                Discovery.withdrawn(from: discovery.payload(before), to: discovery.payload(device)), from: topic)
        }
        return announcement(topic, topicName) { discovery.payload(device, withdrawn: $0) }
    }

    /// Withdrawing a component takes two messages: in this one it has only its platform, in the next it is missing.
    private mutating func announcement(
        _ topic: RetainedTopic, _ topicName: String, _ payload: ([String: String]) -> [UInt8]
    ) -> MQTTMessage {
        let withdrawn = announced.withdrawn.removeValue(forKey: topic) ?? [:]
        if !withdrawn.isEmpty { retained.add(topic) }
        return MQTTMessage(topicName: topicName, payload: payload(withdrawn), qos: 1, retain: true)
    }

    private mutating func withdraw(_ components: [String: String], from topic: RetainedTopic) {
        guard !components.isEmpty else { return }
        announced.withdrawn[topic, default: [:]].merge(components) { $1 }
    }

    /// Announces buttons whose names, used gestures or available firmware have changed.
    mutating func invalidateDevices(at now: Instant) {
        guard discovery != nil, isBrokerConnected else { return }
        for record in buttons.sorted {
            let button = record.identity.id
            guard let before = announced.buttons[button], before != device(of: record) else { continue }
            invalidateDebounced(.config(button), at: now)
        }
    }

    /// - Returns: whether the message was on one of the topics of `discoveryFilters`.
    mutating func homeAssistantSaid(_ topicName: String, _ payload: [UInt8], retained isRetained: Bool, at now: Instant)
        -> Bool
    {
        guard let discovery else { return false }
        if topicName == configuration.homeAssistantStatusTopic {
            // A retained status is older than this connection, at whose start everything was announced.
            if !isRetained, payload == Array("online".utf8) {
                deadlines.set(.announce, at: now + announceDelay(at: now))
            }
            return true
        }
        guard topicName.hasPrefix(discovery.prefix + "/device/"), topicName.hasSuffix("/config") else { return false }
        let topic: RetainedTopic
        if topicName == discovery.bridgeConfigTopic {
            topic = .bridgeConfig
        } else if let button = discovery.button(ofConfigTopic: topicName) {
            topic = .config(button)
        } else {
            return true
        }
        configSeen(topic, payload, isRetained: isRetained, discovery)
        return true
    }

    private mutating func configSeen(
        _ topic: RetainedTopic, _ payload: [UInt8], isRetained: Bool, _ discovery: Discovery
    ) {
        if payload.isEmpty {
            // The hub itself has cleared the topic of a removed button. Brokers send that message back in MQTT 3.1.1,
            // which has no No Local option.
            if case .config(let button) = topic, buttons[button] == nil { return }
            guard announced.hidden.insert(topic).inserted else { return }
            log(.info, "a device was deleted in Home Assistant; it is not announced again until tryckd is restarted")
        } else if isRetained {
            // An earlier announcement, perhaps by an earlier version.
            switch topic {
            case .config(let button):
                guard let record = buttons[button] else {
                    // Announcements of another bridge with the same base topic are kept.
                    if discovery.isOurs(payload) { retained.add(topic) }
                    return
                }
                withdraw(
                    Discovery.withdrawn(from: payload, to: discovery.payload(device(of: record))), from: topic)
            default: withdraw(Discovery.withdrawn(from: payload, to: discovery.bridgePayload()), from: topic)
            }
            if announced.withdrawn[topic] != nil { retained.add(topic) }
        }
    }

    mutating func announceAgain() {
        guard discovery != nil else { return }
        invalidate(.bridgeConfig)
        for button in buttons.keys.sorted() { invalidate(.config(button)) }
    }

    /// A random delay, seeded by the installation id and the time, so that it differs between bridges and between
    /// starts.
    private func announceDelay(at now: Instant) -> Duration {
        var seed = UInt64(bitPattern: now.nanoseconds) ^ (UInt64(installationID, radix: 16) ?? 0) << 32
        seed = (seed ^ (seed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        seed = (seed ^ (seed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Hub.longestAnnounceDelay * (Double((seed ^ (seed >> 31)) >> 11) / 0x1p53)
    }
}
