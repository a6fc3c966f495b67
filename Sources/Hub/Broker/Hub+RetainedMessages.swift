import ButtonModel
import Buttons
import Expressions
import Gestures
import JSON
import MQTTTopics
import Rules

// The messages of retained topics, made when they are sent.
extension Hub {
    /// The maximum number of buttons that `bridge/devices` lists. With more it is empty, because making the list of an engine
    /// with a thousand sites would delay each press by a second, and a broker connection does not take so long a message.
    static let maximumListedButtons = 10_000

    // The JSON is made before it is passed on, and not in a closure or an argument of another method of the hub: Swift would
    // copy the hub for that, and a copy executes ten thousand instructions.
    mutating func retainedMessage(_ topic: RetainedTopic, at now: Instant) -> MQTTMessage {
        let topics = broker.topics
        let name: String
        let json: JSONValue?
        switch topic {
        case .bridgeInfo: (name, json) = (topics.bridgeInfo, bridgeStatus(at: now).json)
        case .bridgeDevices:
            name = topics.bridgeDevices
            json = buttons.count > Hub.maximumListedButtons ? nil : .array(listedButtons.map(\.json))
        case .bridgePairing: (name, json) = (topics.bridgePairing, search.status.json)
        case .bridgeHealth: (name, json) = (topics.bridgeHealth, health(at: now))
        case .bridgeRadios: (name, json) = (topics.bridgeRadios, describedRadios(at: now))
        case .bridgeState: return topics.bridgeStateMessage(isOnline: true)
        case .status(let button):
            name = topics.status(of: button)
            json = if let record = buttons[button] { status(of: record).json } else { nil }
        case .availability(let button):
            let state = buttons[button].map { $0.state == .ready ? "online" : "offline" }
            return Self.message(topics.availability(of: button), Array((state ?? "").utf8))
        case .bridgeConfig, .config:
            let device = device(of: topic)
            return broker.announcement(topic, of: device)
        case .rules, .ruleEnabled, .lastRun, .statistics, .variable:
            return topics.retained(broker.name(of: topic), rules.payload(of: topic))
        }
        let redaction = redaction
        return Self.message(name, json.map { redaction($0).encoded() } ?? [])
    }

    private static func message(_ topicName: String, _ payload: [UInt8]) -> MQTTMessage {
        MQTTMessage(topicName: topicName, payload: payload, qos: 1, retain: true)
    }

    // MARK: The bridge and its buttons

    func bridgeStatus(at now: Instant) -> BridgeStatus {
        let best = radios.best
        return BridgeStatus(
            version: configuration.version, commit: configuration.commit,
            adapter: BridgeStatus.Adapter(
                transport: best.radio.transport, address: best.address, state: best.state.name,
                isPowered: best.isReady, isShared: best.isShared,
                problem: configuration.hasRadio ? adapterProblem : nil),
            radioCount: radios.slots.count, readyRadioCount: radios.readyCount,
            sources: flicd.upstreams.map { BridgeStatus.Source(name: $0.name, state: $0.controller?.name) },
            permitJoinEnd: search.end.map { wallClock(at: $0) }, logLevel: logbook.level.rawValue,
            trustRoots: configuration.trustRootNames, buttonCount: buttons.count, ruleCount: rules.set.rules.count,
            ruleErrorCount: rules.errorCount)
    }

    var listedButtons: [ListedButton] {
        buttons.values.sorted { $0.identity.id < $1.identity.id }.map {
            ListedButton(
                identity: $0.identity, name: $0.displayName, triggerMode: chosenMode(of: $0),
                effectiveTriggerMode: rules.listening(to: $0.identity.id).mode?.rawValue ?? "raw",
                latencyMode: $0.latencyMode, source: $0.source, pairedAt: $0.pairedAt)
        }
    }

    func status(of record: ButtonRecord) -> ButtonStatus {
        ButtonStatus(
            id: record.identity.id, name: record.displayName, state: record.state.rawValue,
            batteryMillivolts: record.batteryMillivolts, batteryPercentage: record.stored.batteryPercentage,
            isBatteryLow: record.isBatteryLow,
            pressCount: record.pressCount.value, missedPresses: missedPresses.count(of: record.identity.id),
            lastSeen: lastSeen(record), rssi: record.rssi,
            radio: radioName(of: record.identity.id),
            triggerMode: chosenMode(of: record), latencyMode: record.latencyMode,
            nickname: record.identity.nickname, firmwareVersion: record.identity.firmwareVersion,
            offeredVersion: offeredFirmware(for: record)?.version, updatePercentage: record.updatePercentage,
            positions: record.positions, ledMode: record.identity.model.hasLEDMode ? record.settings.ledMode : nil)
    }

    /// The trigger mode that the rules fix or a user has chosen, or `auto`.
    func chosenMode(of record: ButtonRecord) -> String {
        let listening = rules.listening(to: record.identity.id)
        return (listening.isFixed ? listening.mode : record.triggerMode)?.rawValue ?? "auto"
    }
}
