/// A request about a rule or a variable on its own topic.
package enum RuleRequest: Hashable, Sendable {
    case run(rule: String)
    case setEnabled(rule: String)
    case setVariable(String)
}

extension Topics {
    package var rules: String { base + "/bridge/rules" }
    package func enabled(rule: String) -> String { "\(base)/rules/\(rule)/enabled" }
    package func lastRun(rule: String) -> String { "\(base)/rules/\(rule)/last_run" }
    package func statistics(rule: String) -> String { "\(base)/rules/\(rule)/stats" }
    package func variable(_ name: String) -> String { "\(base)/variables/\(name)" }

    /// The filters for all topics that `ruleRequest(of:)` understands.
    package var ruleFilters: [String] {
        ["\(base)/rules/+/enabled/set", "\(base)/rules/+/run", "\(base)/variables/+/set"]
    }

    package func ruleRequest(of topicName: String) -> RuleRequest? {
        let levels = levels(of: topicName)
        switch (levels.count, levels.first, levels.last) {
        case (3, "rules", "run"): return .run(rule: String(levels[1]))
        case (4, "rules", "set") where levels[2] == "enabled": return .setEnabled(rule: String(levels[1]))
        case (3, "variables", "set"): return .setVariable(String(levels[1]))
        default: return nil
        }
    }

    /// The levels of a topic name below the base topic; empty for other topic names.
    package func levels(of topicName: String) -> [Substring] {
        guard topicName.hasPrefix(base + "/") else { return [] }
        return topicName.dropFirst(base.count + 1).split(separator: "/", omittingEmptySubsequences: false)
    }

    /// A retained message; an empty payload clears the retained message. QoS 0 suffices, because retained topics are
    /// published again after every connection.
    package func retained(_ topicName: String, _ payload: [UInt8]) -> MQTTMessage {
        MQTTMessage(topicName: topicName, payload: payload, qos: 0, retain: true)
    }
}
