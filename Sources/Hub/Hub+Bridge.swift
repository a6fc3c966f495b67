import ButtonModel
import Buttons
import JSON
import MQTTTopics
import Rules

// What the bridge says of itself and of each button, and what it is asked.
extension Hub {
    func bridgeStatus(at now: Instant) -> BridgeStatus {
        return BridgeStatus(
            version: configuration.version, commit: configuration.commit,
            adapter: BridgeStatus.Adapter(
                transport: configuration.transport, address: radio.address, state: radio.state.name,
                isPowered: radio.isReady),
            sources: flicd.upstreams.map { BridgeStatus.Source(name: $0.name, state: $0.controller?.word) },
            permitJoinEnd: search.end.map { wallClock(at: $0) }, logLevel: logLevel.rawValue,
            trustRoots: configuration.trustRootNames, buttonCount: buttons.count, ruleCount: rules.set.rules.count,
            ruleErrorCount: rules.errorCount)
    }

    var listedButtons: [ListedButton] {
        buttons.values.sorted { $0.identity.id < $1.identity.id }.map {
            ListedButton(
                identity: $0.identity, name: $0.displayName, triggerMode: chosenMode(of: $0),
                latencyMode: $0.latencyMode, source: $0.source, pairedAt: $0.pairedAt)
        }
    }

    func status(of record: ButtonRecord) -> ButtonStatus {
        ButtonStatus(
            id: record.identity.id, name: record.displayName, state: record.state.rawValue,
            batteryMillivolts: record.batteryMillivolts, batteryPercentage: record.toldBatteryPercentage,
            isBatteryLow: record.batteryAlarm.isLow,
            pressCount: record.pressCount.value, lastSeen: lastSeen(record), rssi: record.rssi,
            triggerMode: chosenMode(of: record), latencyMode: record.latencyMode,
            nickname: record.identity.nickname, firmwareVersion: record.identity.firmwareVersion,
            offeredVersion: offeredFirmware(for: record)?.version, updatePercentage: record.updatePercentage,
            positions: record.positions, ledMode: record.identity.model == .twist ? record.settings.ledMode : nil)
    }

    /// A trigger mode when the rules or somebody fixed one.
    private func chosenMode(of record: ButtonRecord) -> String {
        let listening = rules.listening(to: record.identity.id)
        return (listening.isFixed ? listening.mode : record.triggerMode)?.rawValue ?? "auto"
    }

    // MARK: Requests

    static let bridgeRequests: [RequestKind] = [
        RequestKind(name: "permit_join", privilege: .settings) { hub, data, context in
            hub.permitJoin(data, at: context.now)
        },
        RequestKind(name: "health_check", privilege: .read) { hub, _, _ in
            .ok(["healthy": .bool(hub.faults.isEmpty)])
        },
        RequestKind(name: "options", privilege: .settings) { hub, data, _ in hub.setOptions(data) },
        RequestKind(name: "restart", privilege: .all) { hub, _, context in hub.restart(context) },
    ]

    /// The least time between a start and a restart that was asked for over MQTT.
    private static let restartCooldown = Duration.seconds(60)

    private mutating func restart(_ context: RequestContext) -> RequestAnswer {
        let uptime = startedAt.map { context.now - $0 } ?? .zero
        guard context.isLocal || uptime >= Self.restartCooldown else {
            return .error(
                "tryckd was started \(uptime.milliseconds / 1000) s ago; over MQTT it restarts once a minute at most")
        }
        log(.info, "restarting, as asked for")
        return .restarting
    }

    private mutating func setOptions(_ data: JSONValue) -> RequestAnswer {
        guard let options = data["options"]?.objectValue, !options.isEmpty else {
            return .error(#"options takes {"options": {"log_level": "debug"}}"#)
        }
        invalidate(.bridgeInfo)
        if let other = options.first(where: { $0.name != "log_level" }) {
            return .error("there is no option \"\(other.name)\"; there is log_level")
        }
        guard let level = options.last?.value.stringValue.flatMap(LogLevel.init(rawValue:)) else {
            return .error("log_level is \(LogLevel.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        setLogLevel(level)
        return .ok(["log_level": .string(level.rawValue)])
    }

    mutating func setLogLevel(_ level: LogLevel) {
        logLevel = level
        effects.append(.setLogLevel(level))
        invalidate(.bridgeInfo)
    }

    // MARK: The log

    /// Whether a line of that level is written. Lines on the path of a press are not made otherwise.
    func isLogged(_ level: LogLevel) -> Bool { level.isAtLeast(logLevel) }
}
