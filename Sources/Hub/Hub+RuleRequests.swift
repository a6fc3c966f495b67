import ButtonModel
import JSON
import MQTTTopics
import Rules

/// Requests about rules and variables. Over MQTT, these have topics of their own instead of the names.
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

// Requests about rules and variables over the control socket and, with `control.mqtt: all`, over MQTT; and new sets of rules.
extension Hub {
    static let ruleRequests = RuleRequestName.allCases.map { name in
        RequestKind(name: name.rawValue, privilege: name.privilege, isOnBridge: false) { hub, data, context in
            hub.answer(name, data, at: context.now)
        }
    }

    static let reloadRequests = [
        RequestKind(name: "rules/reload", privilege: .settings) { hub, data, context in
            hub.reload(data, for: context.requester)
        }
    ]

    /// The maximum length in octets of a value that is set over MQTT.
    static let maximumValueLength = 64 << 10

    private mutating func answer(_ name: RuleRequestName, _ data: JSONValue, at now: Instant) -> RequestAnswer {
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
            let value = rules.takesText(name) ? .string(String(decoding: payload, as: UTF8.self)) : data
            answer = carryOut(rules.planSetting(name, to: value), at: now)
        }
        if case .error(let sentence) = answer { log(.badRuleRequest, .warning, "\(topicName): \(sentence)", at: now) }
    }

    // MARK: A new set of rules

    private mutating func reload(_ data: JSONValue, for requester: Requester) -> RequestAnswer {
        guard let withTests = data["test"].map(\.boolValue) ?? false else {
            return .error(#""test" must be true or false"#)
        }
        guard rules.requestLoad(withTests: withTests, for: requester) else {
            return .error("too many requests are waiting for a reload")
        }
        loadRules()
        return .later
    }

    mutating func reloadRules() {
        _ = rules.requestLoad(withTests: false, for: nil)
        loadRules()
    }

    private mutating func loadRules() {
        guard rules.hasToLoad else { return }
        let id = identifiers.jobID()
        emit(.loadRules(id, withTests: rules.beginLoad(id)))
    }

    mutating func rulesLoaded(_ id: JobID, _ loaded: RulesLoaded, at now: Instant) {
        guard let (verdict, requesters) = rules.loaded(id, loaded) else { return }
        let answer: RequestAnswer
        switch verdict {
        case .taken(let isSame):
            if let prepared = loaded.rules { take(prepared, at: now) }
            let set = rules.set
            let count = set.rules.count
            if isSame {
                log(.unchangedRules, .info, "the rules were read again and have not changed", at: now)
            } else {
                log(.info, "rules loaded: \(count) rule\(count == 1 ? "" : "s")")
            }
            answer = .ok([
                "state": "ok", "active": .string(set.fingerprint), "rules": .integer(Int64(count)),
                "changed": .bool(!isSame), "problems": .array(loaded.problems),
            ])
        case .failsTests:
            answer = .error("the rules are already in use, but do not pass their tests: \(loaded.summary)")
        case .refused(let sentence, let isNew):
            if isNew { log(.error, sentence) }
            answer = .error(sentence)
        }
        invalidate(.rules)
        invalidate(.bridgeInfo)
        broadcast(
            .rulesLoaded(
                isOK: rules.fault == nil, fingerprint: rules.set.fingerprint, count: rules.set.rules.count,
                problems: loaded.problems))
        for requester in requesters { respond(answer, to: requester) }
        reportServiceStatus()
        loadRules()
    }

    private mutating func take(_ prepared: PreparedRules, at now: Instant) {
        let before = rules.willTake(prepared.set)
        recordingHides(prepared.set.confidential)
        advanceRules(.reloaded(prepared), at: now)
        for topic in rules.took(insteadOf: before) { invalidate(topic) }
        invalidateStatuses()
        invalidate(.bridgeDevices)
        invalidateDevices(at: now)
        emit(.discard(before))
    }
}
