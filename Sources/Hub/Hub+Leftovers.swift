import ButtonModel
import MQTTTopics

// Clears messages that the broker retains for buttons, rules and variables that were removed while tryckd was not
// running or not connected.
extension Hub {
    /// Subscribed to until all retained topics are published and acknowledged. By then the broker, which sends the
    /// messages it retains on subscription, has sent all of these.
    var leftoverFilters: [String] {
        ["+", "+/availability", "variables/+", "rules/+/enabled", "rules/+/last_run", "rules/+/stats"].map {
            "\(topics.base)/\($0)"
        }
    }

    mutating func retainedSeen(_ topicName: String, _ payload: [UInt8]) {
        guard isLookingForLeftovers, !payload.isEmpty, let topic = retainedTopic(of: topicName), isGone(topic),
            retained.count < RetainedTopics.maximumAbsent
        else { return }
        retained.add(topic)
    }

    /// Ends the search when all retained topics are published and acknowledged: the broker sends the messages it
    /// retains before these acknowledgements.
    mutating func stopLookingForLeftovers() {
        guard isLookingForLeftovers, retained.isIdle else { return }
        isLookingForLeftovers = false
        effects.append(.unsubscribe(leftoverFilters))
    }

    private func retainedTopic(of topicName: String) -> RetainedTopic? {
        let levels = topics.levels(of: topicName)
        switch (levels.count, levels.first, levels.last) {
        case (1, let id?, _): return ButtonID(id).map(RetainedTopic.status)
        case (2, let id?, "availability"): return ButtonID(id).map(RetainedTopic.availability)
        case (2, "variables", let name?): return .variable(String(name))
        case (3, "rules", "enabled"): return .ruleEnabled(String(levels[1]))
        case (3, "rules", "last_run"): return .lastRun(String(levels[1]))
        case (3, "rules", "stats"): return .statistics(String(levels[1]))
        default: return nil
        }
    }
}
