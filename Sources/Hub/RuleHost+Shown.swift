import ButtonModel
import Expressions
import JSON
import MQTTTopics
import Rules

// Retained topics, `status`, metrics and answers to requests about rules.
extension RuleHost {
    /// The maximum number of rules for which the metrics have every outcome, so that a first failure is a step from 0 to 1.
    /// With more rules only outcomes that have happened are written, because the text of ten thousand rules would delay a
    /// press.
    static let maximumRulesInFull = 200

    /// The content of `bridge/rules`.
    var state: JSONValue {
        var members: [JSONValue.Member] = [.init("state", .string(fault == nil ? "ok" : "error"))]
        members.append(.init("active", .string(set.fingerprint)))
        if fault != nil {
            members.append(.init("errors", .array(problemsOnDisk.filter { $0.countOfErrors > 0 })))
        }
        return redaction(.object(members))
    }

    /// The part `rules` of `status`.
    ///
    /// - Parameter notices: what users should know although the rules have no errors, as sentences.
    func status(notices: [String]) -> JSONValue {
        [
            "loaded": .integer(Int64(set.rules.count)),
            "state": .string(fault == nil ? "ok" : "error"), "active": .string(set.fingerprint),
            "started": .integer(runs(.started)), "completed": .integer(runs(.completed)),
            "failed": .integer(runs(.failed)),
            "runtime_errors": .integer(Int64(stateFaultCount)),
            "contradictions": .array(modelContradictions.map(JSONValue.string)),
            "notices": .array(notices.map(JSONValue.string)),
        ]
    }

    /// The part `rules` of `bridge/health`.
    var counts: JSONValue {
        [
            "loaded": .integer(Int64(set.rules.count)), "errors": .integer(Int64(errorCount)),
            "started": .integer(runs(.started)), "completed": .integer(runs(.completed)),
            "failed": .integer(runs(.failed)),
        ]
    }

    /// The number of errors in the rules on disk; 0 if those rules run.
    var errorCount: Int { fault == nil ? 0 : problemsOnDisk.reduce(0) { $0 + $1.countOfErrors } }

    /// The number of runs of the loaded rules with this outcome, since the daemon was started.
    private func runs(_ outcome: Outcome) -> Int64 {
        set.rules.reduce(0) { $0 + Int64(statistics(of: $1.id)?.counts[outcome] ?? 0) }
    }

    /// The payload of a topic about rules; empty for a rule or variable that was removed, and for other topics.
    func payload(of topic: RetainedTopic) -> [UInt8] {
        switch topic {
        case .rules: state.encoded()
        case .ruleEnabled(let rule): isEnabled(rule: rule).map { Array(($0 ? "true" : "false").utf8) } ?? []
        case .lastRun(let rule): lastRun(of: rule)?.encoded() ?? []
        case .statistics(let rule): statistics(of: rule)?.json.encoded() ?? []
        case .variable(let name): value(of: name).map { Array(redaction($0.text ?? "").utf8) } ?? []
        case .bridgeInfo, .bridgeDevices, .bridgePairing, .bridgeHealth, .bridgeRadios, .bridgeConfig, .bridgeState,
            .status,
            .availability, .config:
            []
        }
    }

    /// The part of the inventory of retained topics that is about rules.
    func inventory(buttons: [ButtonID]) -> BrokerQueue.Inventory {
        BrokerQueue.Inventory(
            buttons: buttons, variables: set.variables.map(\.name), rules: set.rules.map(\.id),
            lastRuns: rulesWithLastRun,
            statistics: set.rules.map(\.id).filter { !(statistics(of: $0)?.counts.isEmpty ?? true) })
    }

    // MARK: Metrics

    func addOutcomes(to text: inout Exposition) {
        let isFull = set.rules.count <= Self.maximumRulesInFull
        for rule in set.rules {
            guard let counts = statistics(of: rule.id)?.counts, isFull || !counts.isEmpty else { continue }
            let labels = Exposition.Labels.none.adding("rule", rule.id)
            for outcome in Outcome.allCases where outcome != .notMatched {
                let count = counts[outcome] ?? 0
                guard isFull || count > 0 else { continue }
                text.add(.ruleOutcomes, count, labels.adding("outcome", outcome.rawValue))
            }
        }
    }

    func addConditionErrors(to text: inout Exposition) {
        let isFull = set.rules.count <= Self.maximumRulesInFull
        for rule in set.rules {
            guard let count = statistics(of: rule.id)?.conditionErrors, isFull || count > 0 else { continue }
            text.add(.ruleConditionErrors, count, .none.adding("rule", rule.id))
        }
    }

    // MARK: Requests

    /// The consequence of a request about rules.
    enum Plan: Hashable, Sendable {
        case answer(RequestAnswer)
        case run(String, ignoringConditions: Bool, isDryRun: Bool)
        case setEnabled(String, Bool)
        case setVariable(String, Value)
    }

    /// Checks a request.
    ///
    /// - Parameter label: the name of a button for users.
    func plan(_ name: RuleRequestName, _ data: JSONValue, label: (ButtonID) -> String) -> Plan {
        switch name {
        case .rules:
            let running = runningCounts
            let rules = set.rules.map { describe($0, running: running[$0.id] ?? 0, label: label) }
            return .answer(.ok(redaction(.array(rules))))
        case .variables: return .answer(.ok(.array(set.variables.map { describe($0) })))
        case .states: return .answer(.ok(redaction(.array(set.states.map(describe)))))
        case .run: return planForRule(name, data) { planRun($0, data) }
        case .enable: return planForRule(name, data) { .setEnabled($0, true) }
        case .disable: return planForRule(name, data) { .setEnabled($0, false) }
        case .trace:
            return planForRule(name, data) { id in
                let runs = traces(of: id).map { describe($0, label: label) }
                let stopped = stoppedMatches(of: id).map { describe($0, label: label) }
                return .answer(
                    .ok(["id": .string(id), "runs": redaction(.array(runs)), "stopped": redaction(.array(stopped))]))
            }
        case .setVariable:
            guard let variable = data["name"]?.stringValue, let value = data["value"] else {
                return .answer(.error(#"variables/set takes {"name": …, "value": …}"#))
            }
            return planSetting(variable, to: value)
        }
    }

    /// - Parameter plan: called with the id of the rule that the request names, if there is such a rule.
    private func planForRule(_ name: RuleRequestName, _ data: JSONValue, _ plan: (String) -> Plan) -> Plan {
        guard let id = data["id"]?.stringValue else {
            return .answer(.error(#"\#(name.rawValue) takes {"id": a rule's id}"#))
        }
        guard set.rules.contains(where: { $0.id == id }) else { return .answer(.error(unknownRule(id))) }
        return plan(id)
    }

    private func planRun(_ rule: String, _ data: JSONValue) -> Plan {
        guard let conditions = data["conditions"].map(\.boolValue) ?? true,
            let isDryRun = data["dry_run"].map(\.boolValue) ?? false
        else { return .answer(.error(#""conditions" and "dry_run" must be true or false"#)) }
        return .run(rule, ignoringConditions: !conditions, isDryRun: isDryRun)
    }

    func planSetting(_ name: String, to value: JSONValue) -> Plan {
        guard let variable = set.variables.first(where: { $0.name == name }) else {
            let near = Suggestions.nearest(to: name, among: set.variables.map(\.name))
            return .answer(
                .error("there is no variable \"\(name)\"" + (near.map { "; did you mean \"\($0)\"?" } ?? "")))
        }
        guard let typed = Value(value, as: variable.type) else {
            return .answer(
                .error("\(name) takes \(variable.type == .integer ? "an" : "a") \(variable.type.rawValue)"))
        }
        guard variable.values.isEmpty || variable.values.contains(where: { $0.isEqual(to: typed) }) else {
            return .answer(
                .error("\(name) is one of \(variable.values.map { $0.text ?? "" }.joined(separator: ", "))"))
        }
        return .setVariable(name, typed)
    }

    /// The answer to a request that has run a rule.
    ///
    /// - Parameters:
    ///   - before: the outcomes of the rule before the request.
    ///   - label: the name of a button for users.
    func ranAnswer(_ rule: String, before: [Outcome: Int], label: (ButtonID) -> String) -> RequestAnswer {
        let after = statistics(of: rule)?.counts ?? [:]
        let stopped = Gate.allCases.compactMap { Outcome(rawValue: $0.rawValue) }.first {
            (after[$0] ?? 0) > (before[$0] ?? 0)
        }
        if let stopped {
            let match = stoppedMatches(of: rule).last { $0.gate.rawValue == stopped.rawValue }
            let reason = match.map { $0.reason.isEmpty ? "" : ": \(redaction($0.reason))" } ?? ""
            return .error("rule \(rule) did not run: \(stopped.rawValue)\(reason)")
        }
        var members: [JSONValue.Member] = [
            .init("id", .string(rule)),
            .init("outcome", .string(latestOutcome(of: rule)?.rawValue ?? Outcome.notMatched.rawValue)),
        ]
        if let trace = traces(of: rule).last {
            members.append(.init("trace", redaction(describe(trace, label: label))))
        }
        return .ok(.object(members))
    }

    /// The redacted value of a variable.
    func shownValue(of variable: String) -> JSONValue { redaction(value(of: variable)?.json ?? .null) }

    /// True if the payload of a message sets the variable as it is, without being parsed.
    func takesText(_ variable: String) -> Bool {
        set.variables.contains { $0.name == variable && $0.type == .string }
    }

    private func unknownRule(_ id: String) -> String {
        let near = Suggestions.nearest(to: id, among: set.rules.map(\.id))
        return "there is no rule \"\(id)\""
            + (near.map { "; did you mean \"\($0)\"?" } ?? "; \"tryck rules\" lists them")
    }

    private func describe(_ variable: DeclaredVariable) -> JSONValue {
        [
            "name": .string(variable.name), "type": .string(variable.type.rawValue),
            "value": shownValue(of: variable.name),
        ]
    }

    private func describe(_ state: DeclaredState) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("name", .string(state.name)), .init("topic", .string(state.topicName)),
            .init("type", .string(state.type.rawValue)),
        ]
        if let combination = state.combination { members.append(.init("as", .string(combination.rawValue))) }
        return .object(members + [.init("value", value(ofState: state.name)?.json ?? .null)])
    }

    private func describe(_ match: StoppedMatch, label: (ButtonID) -> String) -> JSONValue {
        [
            "at": .string(match.at.description), "button": match.button.map { .string(label($0)) } ?? .null,
            "event": .string(match.event), "gate": .string(match.gate.rawValue), "reason": .string(match.reason),
        ]
    }

    private func describe(_ rule: Rule, running: Int, label: (ButtonID) -> String) -> JSONValue {
        let statistics = statistics(of: rule.id) ?? RuleStatistics()
        return .object(
            [
                .init("id", .string(rule.id)), .init("alias", rule.alias.map { .string($0) } ?? .null),
                .init("enabled", .bool(isEnabled(rule: rule.id) ?? rule.isEnabled)),
                .init("mode", .string(rule.mode.rawValue)),
            ] + rule.location.members + [
                .init("last_outcome", latestOutcome(of: rule.id).map { .string($0.rawValue) } ?? .null),
                .init("running", .integer(Int64(running))), .init("last_run", lastRun(of: rule.id) ?? .null),
                .init("last_stopped", stoppedMatches(of: rule.id).last.map { describe($0, label: label) } ?? .null),
                .init("stats", statistics.json),
            ])
    }

    private func describe(_ trace: RunTrace, label: (ButtonID) -> String) -> JSONValue {
        let members: [JSONValue.Member] = [
            .init("run", .integer(Int64(clamping: trace.run.rawValue))),
            .init("started_at", .string(trace.startedAt.description)),
            .init("result", trace.result.map { .string($0.rawValue) } ?? .null),
            .init("duration_ms", .integer(trace.duration.milliseconds)),
            .init("button", trace.cause.button.map { .string(label($0)) } ?? .null),
            .init("event", .string(trace.cause.facts.event)),
        ]
        let steps = trace.lines.map { line in
            JSONValue.object(
                [
                    .init("after_ms", .integer(line.after.milliseconds)), .init("step", .string(line.step)),
                    .init("text", .string(line.text)),
                ] + line.location.members)
        }
        return .object(
            members + trace.cause.changeMembers + [
                .init("steps", .array(steps)), .init("omitted", .integer(Int64(trace.omitted))),
            ])
    }
}

extension Value {
    /// The value that a variable of this type gets from JSON; `nil` for JSON of another type.
    fileprivate init?(_ json: JSONValue, as type: ExpressionType.Scalar) {
        switch (type, json) {
        case (.boolean, .bool(let value)): self = .boolean(value)
        case (.integer, .integer(let value)): self = .integer(value)
        case (.number, .integer(let value)): self = .number(Double(value))
        case (.number, .number(let value)) where value.isFinite: self = .number(value)
        case (.string, .string(let text)): self = .string(text)
        case (.boolean, _), (.integer, _), (.number, _), (.string, _), (.duration, _): return nil
        }
    }
}

extension JSONValue {
    /// For an element of a list of problems, the number of errors that it stands for. The last element may be the number of
    /// errors that were left out.
    fileprivate var countOfErrors: Int {
        if let more = self["more"]?.integerValue { return Int(clamping: more) }
        return self["severity"] == "error" ? 1 : 0
    }
}
