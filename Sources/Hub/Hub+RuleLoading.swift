import ButtonModel
import JSON
import MQTTTopics
import Rules

// Loads the rule files, on a request or after a change of them, and puts a new set of rules into use.
extension Hub {
    static let reloadRequests = [
        RequestKind(name: BridgeRequestName.reloadRules.rawValue, privilege: .settings) { hub, data, context in
            hub.reload(data, for: context.requester)
        }
    ]

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

    mutating func rulesLoaded(_ id: JobID, _ loaded: RuleLoadReport, at now: Instant) {
        guard let (verdict, requesters) = rules.loaded(id, loaded) else { return }
        recordingHides(loaded.refusedValues)
        let answer: RequestAnswer
        // This is computed where it is used, because `redaction` has the secrets of a new set only after the set was taken.
        var problems: [JSONValue] { redaction(.array(loaded.problems)).arrayValue ?? [] }
        switch verdict {
        case .taken(let isSame):
            if let prepared = loaded.rules { replaceRules(with: prepared, at: now) }
            let set = rules.set
            let count = set.rules.count
            if isSame {
                log(.unchangedRules, .info, "the rules were read again and have not changed", at: now)
            } else {
                log(.info, "rules loaded: \(count) rule\(count == 1 ? "" : "s")")
            }
            answer = .ok([
                "state": "ok", "active": .string(set.fingerprint), "rules": .integer(Int64(count)),
                "changed": .bool(!isSame), "problems": .array(problems),
            ])
        case .failsTests:
            answer = .refusedRules(
                "the rules are already in use, but do not pass their tests: \(loaded.summary)", problems: problems)
        case .refused(let sentence, let isNew):
            if isNew { log(.error, sentence) }
            answer = .refusedRules(sentence, problems: problems)
        }
        invalidate(.rules)
        invalidate(.bridgeInfo)
        invalidate(.bridgeHealth)
        broadcast(
            .rulesLoaded(
                isOK: rules.fault == nil, fingerprint: rules.set.fingerprint, count: rules.set.rules.count,
                problems: loaded.problems))
        for requester in requesters { respond(answer, to: requester) }
        reportServiceStatus()
        loadRules()
    }

    private mutating func replaceRules(with prepared: PreparedRules, at now: Instant) {
        let shownBefore = watchedButtons
        let before = rules.willTake(prepared.set)
        recordingHides(prepared.set.confidentialValues)
        advanceRules(.reloaded(prepared), at: now)
        for topic in rules.took(insteadOf: before) { invalidate(topic) }
        let shownNow = watchedButtons
        for button in buttons.keys.sorted() {
            let isDifferent = shownBefore[button] != shownNow[button]
            let name = rules.declaredName(of: button)
            announce(buttons.rulesReplaced(button, name: name, isDifferent: isDifferent), at: now)
        }
        invalidate(.bridgeDevices)
        invalidateDevices(at: now)
        emit(.discard(before))
    }

    /// The descriptions of all buttons, as clients that watch see them; empty if no client watches.
    private var watchedButtons: [ButtonID: JSONValue] {
        guard isWatched else { return [:] }
        return Dictionary(
            buttons.values.map { ($0.identity.id, describe($0)) }, uniquingKeysWith: { first, _ in first })
    }
}
