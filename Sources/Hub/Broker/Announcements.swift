import ButtonModel
import MQTTTopics

/// The devices that were announced to Home Assistant by MQTT discovery, and those that the user has deleted there.
struct Announcements: Sendable {
    /// A message of interest to discovery.
    enum Incoming: Hashable, Sendable {
        /// Home Assistant has started, and needs announcements again.
        case homeAssistantStarted
        /// The config topic of the bridge or of one of its buttons.
        case config(RetainedTopic)
        /// A config topic of another bridge, or Home Assistant's status with no need for an answer.
        case other
    }

    /// The consequence of a message on a config topic.
    enum Consequence: Hashable, Sendable {
        case nothing
        /// The config has to be published.
        case publish
        /// The user has deleted the device.
        case deleted
    }

    /// The next step in the renaming of a button's entities.
    private enum Renaming: Hashable, Sendable {
        /// The announcement without the entities has to be sent.
        case removal
        /// The announcement with the new ids has to be sent.
        case naming
        /// The broker has to acknowledge the announcement with the new ids.
        case acknowledgement
    }

    /// The longest delay between Home Assistant's start and the next announcement. The delay is random, so that several
    /// bridges do not announce their devices at the same time.
    static let longestDelay = Duration.seconds(5)

    /// `nil`: nothing is announced.
    private let discovery: Discovery?
    private let statusTopic: String
    /// The buttons as announced last.
    private var devices: [ButtonID: ButtonDevice] = [:]
    /// Components of earlier announcements that have to be withdrawn: for each topic, their platforms by component key.
    private var withdrawn: [RetainedTopic: [String: String]] = [:]
    /// The buttons whose entities get new ids, with the next step.
    private var renamings: [ButtonID: Renaming] = [:]
    /// Devices that the user has deleted in Home Assistant. They are not announced again until tryckd is restarted.
    private var hidden: Set<RetainedTopic> = []

    init(_ configuration: HubConfiguration, installationID: String) {
        statusTopic = configuration.homeAssistantStatusTopic
        discovery = configuration.discoveryPrefix.map {
            Discovery(
                topics: Topics(base: configuration.baseTopic), prefix: $0, installationID: installationID,
                version: configuration.version, pageURL: configuration.pageURL,
                supportURL: configuration.homepage, acceptsRequests: configuration.control != .none,
                acceptsRestart: configuration.control == .all,
                radios: configuration.radios.count > 1 ? configuration.radios.map(\.name) : [])
        }
    }

    var isEnabled: Bool { discovery != nil }

    /// A filter for the config topics of all devices, including those of other bridges, instead of one for each button;
    /// and Home Assistant's status topic.
    var filters: [Subscription] {
        guard let discovery else { return [] }
        return [
            Subscription(discovery.prefix + "/device/+/config", isWithoutOurs: true), Subscription(statusTopic),
        ]
    }

    /// The meaning of a message for discovery; `nil` if it is on none of the topics of `filters`.
    ///
    /// - Parameter isRetained: whether the broker had retained the message.
    func read(_ topicName: String, _ payload: [UInt8], isRetained: Bool) -> Incoming? {
        guard let discovery else { return nil }
        if topicName == statusTopic {
            // A retained status is older than this connection, at whose start everything was announced.
            return !isRetained && payload == Array("online".utf8) ? .homeAssistantStarted : .other
        }
        guard topicName.hasPrefix(discovery.prefix + "/device/"), topicName.hasSuffix("/config") else { return nil }
        if topicName == discovery.bridgeConfigTopic { return .config(.bridgeConfig) }
        return discovery.button(ofConfigTopic: topicName).map { .config(.config($0)) } ?? .other
    }

    /// The device as announced last; `nil` if it was not announced.
    func device(of button: ButtonID) -> ButtonDevice? { devices[button] }

    func hides(_ topic: RetainedTopic) -> Bool { hidden.contains(topic) }

    mutating func reveal(_ button: ButtonID) { hidden.remove(.config(button)) }

    func name(of topic: RetainedTopic) -> String {
        if case .config(let button) = topic { return discovery?.configTopic(of: button) ?? "" }
        return discovery?.bridgeConfigTopic ?? ""
    }

    /// The message that announces the bridge or a button.
    ///
    /// Withdrawing a component takes two messages: in the first it has only its platform, in the second it is missing.
    ///
    /// - Parameter device: the button; `nil` for the bridge and for a button that was removed.
    /// - Returns: the message, and whether a second message has to follow.
    mutating func message(
        _ topic: RetainedTopic, of device: ButtonDevice?
    ) -> (message: MQTTMessage, isFollowed: Bool) {
        guard let discovery else { return (MQTTMessage(topicName: "", payload: []), false) }
        if case .config(let button) = topic {
            let before = devices[button]
            devices[button] = device
            if let before, let device, before != device {
                withdraw(
                    Discovery.withdrawn(from: discovery.payload(before), to: discovery.payload(device)), from: topic)
            }
        }
        let withdrawn = withdrawn.removeValue(forKey: topic) ?? [:]
        let entities = takeEntities(of: topic)
        let payload: [UInt8] =
            switch topic {
            case .config: device.map { discovery.payload($0, withdrawn: withdrawn, entities: entities) } ?? []
            case .bridgeConfig, .bridgeInfo, .bridgeDevices, .bridgePairing, .bridgeHealth, .bridgeRadios, .rules,
                .status,
                .availability, .bridgeState, .ruleEnabled, .lastRun, .statistics, .variable:
                discovery.bridgePayload(withdrawn: withdrawn)
            }
        let message = MQTTMessage(topicName: name(of: topic), payload: payload, qos: 1, retain: true)
        return (message, !withdrawn.isEmpty || entities == .removed)
    }

    /// Gives the entities of a button new ids, which are made of its name. The next two announcements of the button do this
    /// (`EntityAnnouncement`).
    mutating func renameEntities(of button: ButtonID) { renamings[button] = .removal }

    /// Starts unfinished renamings of entities again, because their messages may not have reached the broker.
    mutating func connectionEnded() { renamings = renamings.mapValues { _ in .removal } }

    /// The broker has acknowledged a message on this topic.
    mutating func acknowledged(_ topic: RetainedTopic) {
        if case .config(let button) = topic, renamings[button] == .acknowledgement { renamings[button] = nil }
    }

    private mutating func takeEntities(of topic: RetainedTopic) -> EntityAnnouncement {
        guard case .config(let button) = topic else { return .usual }
        switch renamings[button] {
        case .removal:
            renamings[button] = .naming
            return .removed
        case .naming:
            renamings[button] = .acknowledgement
            return .named
        case .acknowledgement, nil: return .usual
        }
    }

    private mutating func withdraw(_ components: [String: String], from topic: RetainedTopic) {
        guard !components.isEmpty else { return }
        withdrawn[topic, default: [:]].merge(components) { $1 }
    }

    /// - Parameter device: the button; `nil` for the bridge and for a button that is not known.
    mutating func configSeen(
        _ topic: RetainedTopic, _ payload: [UInt8], isRetained: Bool, of device: ButtonDevice?
    ) -> Consequence {
        guard let discovery else { return .nothing }
        let isButton = if case .config = topic { true } else { false }
        if payload.isEmpty {
            // The hub itself has cleared the topic of a removed button. Brokers send that message back in MQTT 3.1.1,
            // which has no No Local option.
            if isButton, device == nil { return .nothing }
            return hidden.insert(topic).inserted ? .deleted : .nothing
        }
        // A retained config is an earlier announcement, perhaps by an earlier version.
        guard isRetained else { return .nothing }
        if let device {
            withdraw(Discovery.withdrawn(from: payload, to: discovery.payload(device)), from: topic)
        } else if isButton {
            // Announcements of another bridge with the same base topic are kept.
            return discovery.isOurs(payload) ? .publish : .nothing
        } else {
            withdraw(Discovery.withdrawn(from: payload, to: discovery.bridgePayload()), from: topic)
        }
        return withdrawn[topic] == nil ? .nothing : .publish
    }

    /// A random delay before devices are announced again, seeded by the installation id and the time, so that it differs
    /// between bridges and between starts.
    func delay(at now: Instant) -> Duration {
        let installationID = discovery.flatMap { UInt64($0.installationID, radix: 16) } ?? 0
        var seed = UInt64(bitPattern: now.nanoseconds) ^ installationID << 32
        seed = (seed ^ (seed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        seed = (seed ^ (seed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Self.longestDelay * (Double((seed ^ (seed >> 31)) >> 11) / 0x1p53)
    }
}
