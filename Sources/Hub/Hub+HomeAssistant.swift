import ButtonModel
import Gestures
import HomeAssistant
import JSON
import Rules

/// What Home Assistant was told and what it did with it.
struct AnnouncementState: Sendable {
    /// As it was announced last.
    var buttons: [ButtonID: ButtonDevice] = [:]
    /// Components of an earlier announcement that have to be taken back: by key, their platforms.
    var withdrawn: [RetainedTopic: [String: String]] = [:]
    /// Deleted by somebody in Home Assistant: not announced again until we start anew.
    var hidden: Set<RetainedTopic> = []
}

// Home Assistant finds the bridge and its buttons by what is retained on their config topics.
extension Hub {
    /// How long after its start Home Assistant is told everything once more, at most: several bridges do not do it at once.
    static let longestAnnounceDelay = Duration.seconds(5)

    /// Ours, and others': one filter, however many buttons there are.
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

    /// Those of the parts whose turns a rule waits for: with a Twist's dial all its slots.
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

    /// A component that is gone is taken back in one message, and left out in the next.
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

    /// Names, gestures in use or what can be installed may have changed.
    mutating func sayDevices(at now: Instant) {
        guard discovery != nil, isBrokerConnected else { return }
        for (button, record) in buttons {
            guard let before = announced.buttons[button], before != device(of: record) else { continue }
            saySoon(.config(button), at: now)
        }
    }

    /// Whether the message was one of these.
    mutating func homeAssistantSaid(_ topicName: String, _ payload: [UInt8], retained isRetained: Bool, at now: Instant)
        -> Bool
    {
        guard let discovery else { return false }
        if topicName == configuration.homeAssistantStatusTopic {
            // A retained one is older than what we have just said.
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
            // What is gone is cleared by us, and that comes back from brokers of MQTT 3.1.1.
            if case .config(let button) = topic, buttons[button] == nil { return }
            guard announced.hidden.insert(topic).inserted else { return }
            log(.info, "a device was deleted in Home Assistant; it is not announced again until tryckd is restarted")
        } else if isRetained {
            // An earlier announcement, perhaps of an earlier version.
            switch topic {
            case .config(let button):
                guard let record = buttons[button] else {
                    // Another bridge's with our base topic stays.
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
        say(.bridgeConfig)
        for button in buttons.keys.sorted() { say(.config(button)) }
    }

    /// Spread by what differs between bridges and between starts.
    private func announceDelay(at now: Instant) -> Duration {
        var seed = UInt64(bitPattern: now.nanoseconds) ^ (UInt64(installationID, radix: 16) ?? 0) << 32
        seed = (seed ^ (seed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        seed = (seed ^ (seed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Hub.longestAnnounceDelay * (Double((seed ^ (seed >> 31)) >> 11) / 0x1p53)
    }
}
