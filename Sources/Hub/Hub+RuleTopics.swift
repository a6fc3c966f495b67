import ButtonModel
import Expressions
import HomeAssistant
import JSON
import Rules

struct RuleTopicsState: Sendable {
    struct Failure: Sendable {
        var step: String
        var code: String
        var message: String
        var exitStatus: Int64?
    }

    /// Rules whose counters have changed since they were published.
    var changed: Set<String> = []
    /// They will be, when their time has come.
    var isScheduled = false
    /// The latest failed step of each rule, until its run ends.
    var failures: [String: Failure] = [:]
    /// How the program ended whose failure is told of next.
    var exitStatus: Int64?
    /// For a broker that has lost what it retained.
    var lastRuns: [String: JSONValue] = [:]
    /// Topic names of rules and variables that went while the broker was away, which may still retain them.
    var abandoned: Set<String> = []
    /// More than that many are not remembered.
    static let maximumAbandoned = 10_000
}

// What MQTT shows of rules and variables. All of it is retained, and none of it waits for the broker: it is said when
// the broker is back.
extension Hub {
    static let statisticsInterval = Duration.seconds(10)

    private var isBrokerConnected: Bool { if case .connected = broker { true } else { false } }

    /// All of it, when the broker is back.
    mutating func publishRuleTopics() {
        publishRulesState()
        // First: by now they may be the topics of something new.
        for topicName in ruleTopics.abandoned.sorted() { publish(topics.retained(topicName, [])) }
        ruleTopics.abandoned = []
        for rule in engine.set.rules { publishEnabled(rule.id, engine.isEnabled(rule: rule.id) ?? rule.isEnabled) }
        for variable in engine.set.variables {
            if let value = engine.value(of: variable.name) { publishVariable(variable.name, value) }
        }
        for (rule, line) in ruleTopics.lastRuns.sorted(by: { $0.key < $1.key }) {
            publish(topics.retained(topics.lastRun(rule: rule), line.encoded()))
        }
        for rule in engine.set.rules {
            guard let statistics = engine.statistics(of: rule.id), !statistics.counts.isEmpty else { continue }
            publish(topics.retained(topics.statistics(rule: rule.id), statistics.json.encoded()))
        }
    }

    mutating func publishRulesState() {
        var members: [JSONValue.Member] = [.init("state", .string(reload.fault == nil ? "ok" : "error"))]
        members.append(.init("active", .string(engine.set.fingerprint)))
        if reload.fault != nil {
            members.append(.init("errors", .array(reload.problems.filter { $0["severity"] == "error" })))
        }
        publish(topics.retained(topics.rules, redaction(.object(members)).encoded()))
    }

    mutating func publishEnabled(_ rule: String, _ isEnabled: Bool) {
        publish(topics.retained(topics.enabled(rule: rule), Array((isEnabled ? "true" : "false").utf8)))
    }

    mutating func publishVariable(_ name: String, _ value: Value) {
        tell(["kind": "variable", "variable": .string(name), "value": value.json])
        publish(topics.retained(topics.variable(name), Array(redaction(value.text ?? "").utf8)))
    }

    mutating func runEnded(_ run: RunID, rule: String, _ result: RunResult, at now: Instant) {
        statisticsChanged(of: rule, at: now)
        if isWatched {
            tell([
                "kind": "rule", "rule": .string(rule), "run": .integer(Int64(clamping: run.rawValue)),
                "outcome": .string(result.rawValue),
            ])
        }
        guard let trace = engine.traces(of: rule).last(where: { $0.run == run }) else { return }
        publishLastRun(
            of: rule, result: result, startedAt: trace.startedAt, button: trace.occurrence.button,
            event: trace.occurrence.facts.event, duration: trace.duration)
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
        // Of a rule that was taken out while nothing ran there are no topics.
        guard engine.statistics(of: rule) != nil else { return }
        let line = redaction(.object(members))
        ruleTopics.lastRuns[rule] = line
        if isBrokerConnected { publish(topics.retained(topics.lastRun(rule: rule), line.encoded())) }
    }

    mutating func statisticsChanged(of rule: String, at now: Instant) {
        ruleTopics.changed.insert(rule)
        guard !ruleTopics.isScheduled else { return }
        ruleTopics.isScheduled = true
        deadlines.set(.statistics, at: now + Hub.statisticsInterval)
    }

    mutating func publishStatistics(at now: Instant) {
        for rule in ruleTopics.changed.sorted() {
            guard let statistics = engine.statistics(of: rule) else { continue }
            publish(topics.retained(topics.statistics(rule: rule), statistics.json.encoded()))
        }
        ruleTopics.changed = []
        ruleTopics.isScheduled = false
    }

    /// Rules and variables that are gone leave nothing retained behind.
    mutating func ruleTopicsChanged(from before: PreparedRules) {
        let now = engine.prepared
        for (place, rule) in before.ruleIDs.enumerated() where !now.has(rule: rule, at: place) {
            ruleTopics.lastRuns[rule] = nil
            ruleTopics.failures[rule] = nil
            ruleTopics.changed.remove(rule)
            for topicName in [topics.enabled(rule: rule), topics.lastRun(rule: rule), topics.statistics(rule: rule)] {
                abandon(topicName)
            }
        }
        for variable in before.set.variables where !now.has(variable: variable.name) {
            abandon(topics.variable(variable.name))
        }
        for (place, rule) in now.ruleIDs.enumerated() where !before.has(rule: rule, at: place) {
            publishEnabled(rule, engine.isEnabled(rule: rule) ?? now.set.rules[place].isEnabled)
        }
        for variable in now.set.variables where !before.has(variable: variable.name) {
            if let value = engine.value(of: variable.name) { publishVariable(variable.name, value) }
        }
    }

    private mutating func abandon(_ topicName: String) {
        guard !isBrokerConnected else { return publish(topics.retained(topicName, [])) }
        if ruleTopics.abandoned.count < RuleTopicsState.maximumAbandoned { ruleTopics.abandoned.insert(topicName) }
    }
}

extension RuleStatistics {
    /// Counters by outcome, and the durations of the last hundred runs.
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
