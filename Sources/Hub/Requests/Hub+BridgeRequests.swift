import ButtonModel
import JSON
import MQTTTopics
import Rules

// Requests to the bridge itself.
extension Hub {
    static let bridgeRequests: [RequestKind] = [
        RequestKind(name: BridgeRequestName.healthCheck.rawValue, privilege: .read) { hub, _, _ in
            .ok(["healthy": .bool(hub.faults.isEmpty)])
        },
        RequestKind(name: BridgeRequestName.options.rawValue, privilege: .settings) { hub, data, _ in
            hub.setBridgeOptions(data)
        },
        RequestKind(name: BridgeRequestName.restart.rawValue, privilege: .all) { hub, _, context in hub.restart(context)
        },
    ]

    /// The least time between a start and a restart that was asked for over MQTT.
    private static let restartCooldown = Duration.seconds(60)

    private mutating func restart(_ context: RequestContext) -> RequestAnswer {
        let uptime = startedAt.map { context.now - $0 } ?? .zero
        guard context.isLocal || uptime >= Self.restartCooldown else {
            return .error(
                "tryckd was started \(uptime.milliseconds / 1000) s ago; over MQTT it restarts at most once a minute")
        }
        log(.info, "restarting, as requested")
        return .restarting
    }

    private mutating func setBridgeOptions(_ data: JSONValue) -> RequestAnswer {
        guard let options = data["options"]?.objectValue, !options.isEmpty else {
            return .error(#"options takes {"options": {"log_level": "debug"}}"#)
        }
        invalidate(.bridgeInfo)
        if let other = options.first(where: { $0.name != "log_level" }) {
            return .error("there is no option \"\(other.name)\"; the only option is log_level")
        }
        guard let level = options.last?.value.stringValue.flatMap(LogLevel.init(rawValue:)) else {
            return .error("log_level must be one of \(LogLevel.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        setLogLevel(level)
        return .ok(["log_level": .string(level.rawValue)])
    }
}
