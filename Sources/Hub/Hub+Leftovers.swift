import ButtonModel
import HomeAssistant

// What the broker retains of buttons, rules and variables that went while we were not there, or not connected.
extension Hub {
    /// Listened to until everything there is has been said: what is retained comes first.
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

    /// Everything has been said and acknowledged: what was retained has come before.
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
