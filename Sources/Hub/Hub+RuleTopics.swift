import ButtonModel
import Expressions
import JSON
import MQTTTopics
import Rules

struct RuleTopicsState: Sendable {
    struct Failure: Sendable {
        var step: String
        var code: String
        var message: String
        var exitStatus: Int64?
    }

    /// Rules whose statistics have changed since they were published.
    var changed: Set<String> = []
    /// Whether the timer for publishing statistics is set.
    var isScheduled = false
    /// The latest failed step of each rule, until its run ends.
    var failures: [String: Failure] = [:]
    /// The exit status of the program whose failed step is being handled.
    var exitStatus: Int64?
    /// The last runs as published: for requests about rules, and to be published again after reconnecting to the broker.
    var lastRuns: [String: JSONValue] = [:]
}

// The MQTT topics of rules and variables. All are retained.
extension Hub {
    static let statisticsInterval = Duration.seconds(10)

    var rulesState: JSONValue {
        var members: [JSONValue.Member] = [.init("state", .string(reload.fault == nil ? "ok" : "error"))]
        members.append(.init("active", .string(engine.set.fingerprint)))
        if reload.fault != nil {
            members.append(.init("errors", .array(reload.problems.filter { $0["severity"] == "error" })))
        }
        return redaction(.object(members))
    }

    mutating func variableChanged(_ name: String, _ value: Value) {
        if isWatched { broadcast(["kind": "variable", "variable": .string(name), "value": value.json]) }
        invalidate(.variable(name))
    }

    mutating func runEnded(_ run: RunID, rule: String, _ result: RunResult, at now: Instant) {
        statisticsChanged(of: rule, at: now)
        if isWatched {
            broadcast([
                "kind": "rule", "rule": .string(rule), "run": .integer(Int64(clamping: run.rawValue)),
                "outcome": .string(result.rawValue),
            ])
        }
        guard let trace = engine.traces(of: rule).last(where: { $0.run == run }) else { return }
        publishLastRun(
            of: rule, result: result, startedAt: trace.startedAt, button: trace.cause.button,
            event: trace.cause.facts.event, duration: trace.duration)
    }

    mutating func publishLastRun(
        of rule: String, result: RunResult, startedAt: UTCTime, button: ButtonID?, event: String = "",
        duration: Duration? = nil
    ) {
        var members: [JSONValue.Member] = [
            .init("result", .string(result.rawValue)), .init("started_at", .string(startedAt.description)),
            .init("duration_ms", duration.map { .integer($0.milliseconds) } ?? .null),
            .init("button", button.map { .string(label(of: $0)) } ?? .null), .init("event", .string(event)),
        ]
        if let failure = ruleTopics.failures.removeValue(forKey: rule) {
            members.append(.init("step", .string(failure.step)))
            members.append(.init("code", .string(failure.code)))
            members.append(.init("message", .string(failure.message)))
            if let status = failure.exitStatus { members.append(.init("exit_status", .integer(status))) }
        }
        // A rule that was removed has no topics.
        guard engine.statistics(of: rule) != nil else { return }
        let line = redaction(.object(members))
        ruleTopics.lastRuns[rule] = line
        invalidate(.lastRun(rule))
    }

    mutating func statisticsChanged(of rule: String, at now: Instant) {
        ruleTopics.changed.insert(rule)
        metrics.isOutdated = true
        guard !ruleTopics.isScheduled else { return }
        ruleTopics.isScheduled = true
        deadlines.set(.statistics, at: now + Hub.statisticsInterval)
    }

    mutating func publishStatistics() {
        for rule in ruleTopics.changed.sorted() where engine.statistics(of: rule) != nil {
            invalidate(.statistics(rule))
        }
        ruleTopics.changed = []
        ruleTopics.isScheduled = false
    }

    /// Clears the topics of rules and variables that were removed, and publishes those that are new.
    mutating func ruleTopicsChanged(from before: PreparedRules) {
        let now = engine.prepared
        for (place, rule) in before.ruleIDs.enumerated() where !now.has(rule: rule, at: place) {
            ruleTopics.lastRuns[rule] = nil
            ruleTopics.failures[rule] = nil
            ruleTopics.changed.remove(rule)
            for topic in [RetainedTopic.ruleEnabled(rule), .lastRun(rule), .statistics(rule)] { invalidate(topic) }
        }
        for variable in before.set.variables where !now.has(variable: variable.name) {
            invalidate(.variable(variable.name))
        }
        for (place, rule) in now.ruleIDs.enumerated() where !before.has(rule: rule, at: place) {
            invalidate(.ruleEnabled(rule))
        }
        for variable in now.set.variables where !before.has(variable: variable.name) {
            invalidate(.variable(variable.name))
        }
    }
}

extension RuleStatistics {
    /// The number of runs by outcome, and percentiles of the durations of the last hundred runs.
    var json: JSONValue {
        var members = Outcome.allCases.map { outcome in
            JSONValue.Member(outcome.rawValue, .integer(Int64(counts[outcome] ?? 0)))
        }
        let matched = counts.reduce(0) { sum, entry in
            switch entry.key {
            case .notMatched, .completed, .failed, .cancelled, .interrupted: sum
            default: sum + entry.value
            }
        }
        members.removeAll { $0.name == Outcome.notMatched.rawValue }
        members.insert(.init("matched", .integer(Int64(matched))), at: 0)
        members.append(.init("condition_error", .integer(Int64(conditionErrors))))
        let sorted = durations.sorted()
        if let longest = sorted.last {
            members.append(.init("p50_ms", .integer(sorted[sorted.count / 2].milliseconds)))
            members.append(
                .init("p95_ms", .integer(sorted[min(sorted.count - 1, sorted.count * 95 / 100)].milliseconds)))
            members.append(.init("max_ms", .integer(longest.milliseconds)))
        }
        return .object(members)
    }
}
