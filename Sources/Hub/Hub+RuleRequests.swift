import ButtonModel
import Expressions
import JSON
import MQTTTopics
import Rules

// What can be asked of rules and variables, over the control socket and, with `control.mqtt: all`, over MQTT.
extension Hub {
    static let ruleRequests = RuleRequestName.allCases.map { name in
        RequestKind(name: name.rawValue, privilege: name.privilege, isOnBridge: false) { hub, data, context in
            hub.answer(name, data, at: context.now)
        }
    }

    /// Over MQTT, rules and variables have topics of their own instead of these names.
    enum RuleRequestName: String, CaseIterable, Sendable {
        case rules
        case run = "rules/run"
        case enable = "rules/enable"
        case disable = "rules/disable"
        case trace = "rules/trace"
        case variables
        case setVariable = "variables/set"

        var privilege: Privilege {
            switch self {
            case .rules, .trace, .variables: .read
            case .run, .enable, .disable, .setVariable: .all
            }
        }
    }

    /// Octets of a value that is set over MQTT.
    static let maximumValueLength = 64 << 10

    mutating func answer(_ name: RuleRequestName, _ data: JSONValue, at now: Instant) -> RequestAnswer {
        switch name {
        case .rules: return .ok(redaction(.array(engine.set.rules.map(describe))))
        case .variables:
            return .ok(
                .array(
                    engine.set.variables.map { variable in
                        [
                            "name": .string(variable.name), "type": .string(variable.type.rawValue),
                            "value": redaction(engine.value(of: variable.name)?.json ?? .null),
                        ]
                    }))
        case .run, .enable, .disable, .trace:
            guard let id = data["id"]?.stringValue else {
                return .error(#"\#(name.rawValue) takes {"id": a rule's id}"#)
            }
            guard let rule = engine.set.rules.first(where: { $0.id == id }) else { return .error(unknownRule(id)) }
            switch name {
            case .run: return run(rule, data, at: now)
            case .trace:
                return .ok(["id": .string(id), "runs": redaction(.array(engine.traces(of: id).map(describe)))])
            default: return setEnabled(id, name == .enable, at: now)
            }
        case .setVariable:
            guard let variable = data["name"]?.stringValue, let value = data["value"] else {
                return .error(#"variables/set takes {"name": …, "value": …}"#)
            }
            return set(variable, to: value, at: now)
        }
    }

    mutating func ruleMessageReceived(
        _ request: RuleRequest, _ topicName: String, _ payload: [UInt8], retained: Bool, at now: Instant
    ) {
        guard !retained else { return ignoreRetained(topicName, at: now) }
        let data = (try? JSONValue(parsing: payload)) ?? .null
        let answer: RequestAnswer
        switch request {
        case .run(let rule):
            answer = self.answer(.run, ["id": .string(rule), "conditions": data["conditions"] ?? true], at: now)
        case .setEnabled(let rule):
            guard let isEnabled = data.boolValue else {
                answer = .error("the payload must be true or false")
                break
            }
            answer = self.answer(isEnabled ? .enable : .disable, ["id": .string(rule)], at: now)
        case .setVariable(let name):
            guard payload.count <= Hub.maximumValueLength else {
                answer = .error("a value has at most \(Hub.maximumValueLength >> 10) KiB")
                break
            }
            let isText = engine.set.variables.contains { $0.name == name && $0.type == .string }
            answer = set(name, to: isText ? .string(String(decoding: payload, as: UTF8.self)) : data, at: now)
        }
        if case .error(let sentence) = answer { log(.badRuleRequest, .warning, "\(topicName): \(sentence)", at: now) }
    }

    private func unknownRule(_ id: String) -> String {
        let near = Suggestions.nearest(to: id, among: engine.set.rules.map(\.id))
        return "there is no rule \"\(id)\""
            + (near.map { "; did you mean \"\($0)\"?" } ?? "; \"tryck rules\" lists them")
    }

    private mutating func run(_ rule: Rule, _ data: JSONValue, at now: Instant) -> RequestAnswer {
        guard let conditions = data["conditions"].map(\.boolValue) ?? true,
            let isDryRun = data["dry_run"].map(\.boolValue) ?? false
        else { return .error(#""conditions" and "dry_run" must be true or false"#) }
        let before = engine.statistics(of: rule.id)?.counts ?? [:]
        advanceRules(
            .requested(.run(rule: rule.id, ignoringConditions: !conditions, isDryRun: isDryRun)), at: now)
        let after = engine.statistics(of: rule.id)?.counts ?? [:]
        let stopped = Gate.allCases.compactMap { Outcome(rawValue: $0.rawValue) }.first {
            (after[$0] ?? 0) > (before[$0] ?? 0)
        }
        if let stopped { return .error("rule \(rule.id) did not run: \(stopped.rawValue)") }
        var members: [JSONValue.Member] = [
            .init("id", .string(rule.id)),
            .init("outcome", .string(engine.latestOutcome(of: rule.id)?.rawValue ?? Outcome.notMatched.rawValue)),
        ]
        if let trace = engine.traces(of: rule.id).last { members.append(.init("trace", redaction(describe(trace)))) }
        return .ok(.object(members))
    }

    private mutating func setEnabled(_ rule: String, _ isEnabled: Bool, at now: Instant) -> RequestAnswer {
        advanceRules(.requested(.setEnabled(rule: rule, isEnabled)), at: now)
        sync()
        return .ok(["id": .string(rule), "enabled": .bool(isEnabled)])
    }

    private mutating func set(_ name: String, to value: JSONValue, at now: Instant) -> RequestAnswer {
        guard let variable = engine.set.variables.first(where: { $0.name == name }) else {
            let near = Suggestions.nearest(to: name, among: engine.set.variables.map(\.name))
            return .error("there is no variable \"\(name)\"" + (near.map { "; did you mean \"\($0)\"?" } ?? ""))
        }
        guard let typed = Value(value, as: variable.type) else {
            return .error("\(name) takes \(variable.type == .integer ? "an" : "a") \(variable.type.rawValue)")
        }
        guard variable.values.isEmpty || variable.values.contains(where: { $0.isSame(as: typed) }) else {
            return .error("\(name) is one of \(variable.values.map { $0.text ?? "" }.joined(separator: ", "))")
        }
        advanceRules(.requested(.setVariable(name, typed)), at: now)
        sync()
        return .ok(["name": .string(name), "value": redaction(engine.value(of: name)?.json ?? .null)])
    }

    /// Syncs what was recorded, because the answer tells that it is so.
    private mutating func sync() { carryOut(journal.sync(identifiers.recordToken()), at: handledAt) }

    // MARK: For people and programs

    private func describe(_ rule: Rule) -> JSONValue {
        let statistics = engine.statistics(of: rule.id) ?? RuleStatistics()
        return [
            "id": .string(rule.id), "alias": rule.alias.map { .string($0) } ?? .null,
            "enabled": .bool(engine.isEnabled(rule: rule.id) ?? rule.isEnabled), "mode": .string(rule.mode.rawValue),
            "place": .string(rule.place.description),
            "last_outcome": engine.latestOutcome(of: rule.id).map { .string($0.rawValue) } ?? .null,
            "last_run": ruleTopics.lastRuns[rule.id] ?? .null, "stats": statistics.json,
        ]
    }

    private func describe(_ trace: RunTrace) -> JSONValue {
        [
            "run": .integer(Int64(clamping: trace.run.rawValue)), "started_at": .string(trace.startedAt.description),
            "result": trace.result.map { .string($0.rawValue) } ?? .null,
            "duration_ms": .integer(trace.duration.milliseconds),
            "button": trace.cause.button.map { .string(label(of: $0)) } ?? .null,
            "event": .string(trace.cause.facts.event),
            "steps": .array(
                trace.lines.map { line in
                    [
                        "after_ms": .integer(line.after.milliseconds), "step": .string(line.step),
                        "text": .string(line.text), "place": .string(line.place.description),
                    ]
                }),
            "omitted": .integer(Int64(trace.omitted)),
        ]
    }
}

extension Value {
    /// A value of JSON as a variable of that type holds it.
    fileprivate init?(_ json: JSONValue, as type: ExpressionType.Scalar) {
        switch (type, json) {
        case (.boolean, .bool(let value)): self = .boolean(value)
        case (.integer, .integer(let value)): self = .integer(value)
        case (.number, .integer(let value)): self = .number(Double(value))
        case (.number, .number(let value)) where value.isFinite: self = .number(value)
        case (.string, .string(let text)): self = .string(text)
        default: return nil
        }
    }
}
