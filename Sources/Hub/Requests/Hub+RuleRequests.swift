import ButtonModel
import JSON
import MQTTTopics
import Rules

// Requests about rules and variables over the control socket and, with `control.mqtt: all`, over MQTT.
extension Hub {
    static let ruleRequests = RuleRequestName.allCases.map { name in
        RequestKind(name: name.rawValue, privilege: .owner) { hub, data, context in
            hub.answerRuleRequest(name, data, at: context.now)
        }
    }

    /// The maximum length in octets of a value that is set over MQTT.
    static let maximumValueLength = 64 << 10

    private mutating func answerRuleRequest(
        _ name: RuleRequestName, _ data: JSONValue, at now: Instant
    ) -> RequestAnswer {
        carryOut(rules.plan(name, data, label: { label(of: $0) }), at: now)
    }

    private mutating func carryOut(_ plan: RuleHost.Plan, at now: Instant) -> RequestAnswer {
        switch plan {
        case .answer(let answer): return answer
        case .run(let rule, let ignoringConditions, let isDryRun):
            let before = rules.statistics(of: rule)?.counts ?? [:]
            advanceRules(
                .requested(.run(rule: rule, ignoringConditions: ignoringConditions, isDryRun: isDryRun)), at: now)
            return rules.ranAnswer(rule, before: before, label: { label(of: $0) })
        case .setEnabled(let rule, let isEnabled):
            advanceRules(.requested(.setEnabled(rule: rule, isEnabled)), at: now)
            sync(identifiers.recordToken())
            return .ok(["id": .string(rule), "enabled": .bool(isEnabled)])
        case .setVariable(let name, let value):
            advanceRules(.requested(.setVariable(name, value)), at: now)
            sync(identifiers.recordToken())
            return .ok(["name": .string(name), "value": rules.shownValue(of: name)])
        }
    }

    mutating func ruleMessageReceived(
        _ request: RuleRequest, _ topicName: String, _ payload: [UInt8], at now: Instant
    ) {
        let data = (try? JSONValue(parsing: payload)) ?? .null
        let answer: RequestAnswer
        switch request {
        case .run(let rule):
            answer = answerRuleRequest(.run, ["id": .string(rule), "conditions": data["conditions"] ?? true], at: now)
        case .setEnabled(let rule):
            guard let isEnabled = data.boolValue else {
                answer = .error("the payload must be true or false")
                break
            }
            answer = answerRuleRequest(isEnabled ? .enable : .disable, ["id": .string(rule)], at: now)
        case .setVariable(let name):
            guard payload.count <= Hub.maximumValueLength else {
                answer = .error("a value has at most \(Hub.maximumValueLength >> 10) KiB")
                break
            }
            let value = rules.takesText(name) ? .string(String(decoding: payload, as: UTF8.self)) : data
            answer = carryOut(rules.planSetting(name, to: value), at: now)
        }
        if let refusal = answer.refusal {
            log(.badRuleRequest, .warning, "\(topicName): \(refusal)", at: now)
            publishRefusal(refusal, of: topicName)
        }
    }
}
