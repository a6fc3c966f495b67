import ButtonModel
package import JSON
import MQTTTopics
package import Rules

/// What became of reading the rule files.
package struct RulesLoaded: Hashable, Sendable {
    /// `nil`: there are errors, or a test failed, and the old set goes on. Prepared by whoever read them, beside the loop.
    package var rules: PreparedRules?
    /// The files of the set, for a recording; of bad ones nothing is kept.
    package var source: RecordedRules?
    /// What is wrong, errors and warnings: `code`, `severity`, `file`, `line`, `column`, `message`, `hint`.
    package var problems: [JSONValue]
    /// The first of the errors in one line: `rules/home.yaml:14:15: unknown button "kitchn"`.
    package var summary: String
    /// Of a set without errors, one of whose tests failed.
    package var failing: String?

    package init(
        set: RuleSet?, source: RecordedRules? = nil, problems: [JSONValue] = [], summary: String = "",
        failing: String? = nil
    ) {
        rules = set.map { PreparedRules($0) }
        self.source = source
        self.problems = problems
        self.summary = summary
        self.failing = failing
    }
}

extension RulesLoaded {
    package var set: RuleSet? {
        get { rules?.set }
        set { rules = newValue.map { PreparedRules($0) } }
    }
}

struct ReloadState: Sendable {
    /// Why the rules on disk are not the ones that run.
    var fault: String?
    var problems: [JSONValue] = []
    /// The load that goes on, and who waits for it.
    var loading: (id: JobID, withTests: Bool, requesters: [Hub.Requester])?
    /// Asked for while one goes on: the files may have changed under it.
    var next: (withTests: Bool, requesters: [Hub.Requester])?
}

// A new set of rules takes the place of the old one, or changes nothing.
extension Hub {
    static let reloadRequests = [
        RequestKind(name: "rules/reload", privilege: .settings) { hub, data, context in
            hub.reload(data, for: context.requester)
        }
    ]

    /// The maximum number of requesters that wait for one answer.
    static let maximumRequesters = 64

    private mutating func reload(_ data: JSONValue, for requester: Requester) -> RequestAnswer {
        guard let withTests = data["test"].map(\.boolValue) ?? false else {
            return .error(#""test" must be true or false"#)
        }
        guard (reload.next?.requesters.count ?? 0) < Hub.maximumRequesters else {
            return .error("too many requests are waiting for a reload")
        }
        reloadRules(withTests: withTests, for: requester)
        return .later
    }

    mutating func reloadRules(withTests: Bool, for requester: Requester?) {
        let requesters = requester.map { [$0] } ?? []
        guard reload.loading != nil else { return load(withTests: withTests, for: requesters) }
        reload.next = (
            withTests || (reload.next?.withTests ?? false), (reload.next?.requesters ?? []) + requesters
        )
    }

    private mutating func load(withTests: Bool, for requesters: [Requester]) {
        let id = identifiers.jobID()
        reload.loading = (id, withTests, requesters)
        effects.append(.loadRules(id, withTests: withTests))
    }

    mutating func rulesLoaded(_ id: JobID, _ loaded: RulesLoaded, at now: Instant) {
        guard let loading = reload.loading, loading.id == id else { return }
        reload.loading = nil
        reload.problems = loaded.problems
        let answer: RequestAnswer
        if let rules = loaded.rules {
            let set = rules.set
            let count = set.rules.count
            // The fingerprint is shown, and so nothing of a secret is in it.
            let isSame = set.fingerprint == engine.set.fingerprint && set.confidential == engine.set.confidential
            reload.fault = nil
            take(rules, at: now)
            if isSame {
                log(.unchangedRules, .info, "the rules were read again and have not changed", at: now)
            } else {
                log(.info, "rules loaded: \(count) rule\(count == 1 ? "" : "s")")
            }
            answer = .ok([
                "state": "ok", "active": .string(set.fingerprint), "rules": .integer(Int64(count)),
                "changed": .bool(!isSame), "problems": .array(loaded.problems),
            ])
        } else if loaded.failing == engine.set.fingerprint {
            // They have been read since they were saved: nothing else is to run, and nothing is wrong with them.
            reload.fault = nil
            answer = .error("the rules are already in use, but do not pass their tests: \(loaded.summary)")
        } else {
            let sentence = "the rules on disk have errors; the old rules stay in use: \(loaded.summary)"
            if reload.fault != sentence { log(.error, sentence) }
            reload.fault = sentence
            answer = .error(sentence)
        }
        invalidate(.rules)
        invalidate(.bridgeInfo)
        broadcast([
            "kind": "rules", "state": .string(reload.fault == nil ? "ok" : "error"),
            "active": .string(engine.set.fingerprint), "rules": .integer(Int64(engine.set.rules.count)),
            "problems": .array(loaded.problems),
        ])
        for requester in loading.requesters { respond(answer, to: requester) }
        reportServiceStatus()
        if let next = reload.next {
            reload.next = nil
            load(withTests: next.withTests, for: next.requesters)
        }
    }

    private mutating func take(_ rules: PreparedRules, at now: Instant) {
        let before = engine.prepared
        let set = rules.set
        // What was a secret before may still be on its way into the log.
        redaction = redaction.hiding(set.confidential)
        if let recording { self.recording?.redaction = recording.redaction.hiding(set.confidential) }
        advanceRules(.reloaded(rules), at: now)
        stateTopics = Set(set.states.map(\.topicName))
        ruleTopicsChanged(from: before)
        for button in buttons.keys.sorted() { invalidate(.status(button)) }
        invalidate(.bridgeDevices)
        invalidateDevices(at: now)
        effects.append(.discard(before))
    }
}
