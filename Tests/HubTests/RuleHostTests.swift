import ButtonModel
import Expressions
import JSON
import MQTTTopics
import Rules
import Testing

@testable import Hub

@Suite("The host of the rules")
struct RuleHostTests {
    private static let now = Instant(sinceBoot: .seconds(5))
    private static let time = UTCTime(milliseconds: 1_795_000_000_000)
    private static let client = Hub.Requester.client(Hub.ClientID(rawValue: 1), transaction: nil)

    private static func set(_ rules: [String], variables: [String] = [], secrets: Set<String> = []) -> RuleSet {
        RuleSet(
            variables: variables.map { DeclaredVariable(name: $0, type: .boolean, initial: .boolean(false)) },
            rules: rules.map { Rule(id: $0, triggers: [], steps: []) }, confidential: secrets,
            fingerprint: (rules + variables).joined(separator: " "))
    }

    private static func host(_ set: RuleSet = RuleSet()) -> RuleHost {
        RuleHost(set, HubConfiguration(version: "0"), stored: StoredState(installationID: "00ff"))
    }

    private static func load(_ loaded: RuleLoadReport, in host: inout RuleHost) -> RuleHost.Verdict? {
        _ = host.requestLoad(withTests: false, for: nil)
        _ = host.beginLoad(JobID(rawValue: 1))
        return host.loaded(JobID(rawValue: 1), loaded)?.0
    }

    // MARK: Turns

    @Test("inputs are handled one after another, each in a turn of its own")
    func turns() {
        var host = Self.host(Self.set(["light"]))
        host.add(.requested(.run(rule: "light", ignoringConditions: false, isDryRun: false)))
        let first = host.takeTurn(at: Self.now)
        #expect(host.isCarryingOut && first?.effects.isEmpty == false)
        host.add(.requested(.setEnabled(rule: "light", false)))
        let second = host.takeTurn(at: Self.now)
        #expect(second?.effects.contains(.enabledChanged(rule: "light", false)) == true)
        let third = host.takeTurn(at: Self.now)
        #expect(third == nil && !host.isCarryingOut && host.problems().isEmpty)
    }

    @Test("a run is recorded before it is carried out, and a wait only if all messages of the run are written")
    func begun() {
        let run = RunID(rawValue: 7)
        let cause = RunCause(at: Self.time)
        let waiting = WaitingRun(
            run: run, rule: "light", fingerprint: "", cause: cause, endsAt: Self.time, saved: "")
        let effects: [RuleEngine.Effect] = [
            .started(run, rule: "light", cause), .store(.waiting(run, waiting)), .store(.enabled(rule: "light", nil)),
        ]
        func changes(hasWritten: Bool) -> [StoreChange] {
            var changes: [StoreChange] = []
            RuleHost.begun(
                by: effects, at: Self.time, cursor: { _ in nil }, hasWritten: { _ in hasWritten }, into: &changes)
            return changes
        }
        let started = StoreChange.runStarted(
            StoredRun(id: 7, rule: "light", button: nil, event: EventCursor(), startedAt: Self.time))
        let kept = StoreChange.rules(.enabled(rule: "light", nil))
        #expect(changes(hasWritten: true) == [started, .rules(.waiting(run, waiting)), kept])
        #expect(changes(hasWritten: false) == [started, .rules(.waiting(run, nil)), kept])
    }

    // MARK: Loading

    @Test("requests during a load are answered together by the load after it")
    func loads() {
        var host = Self.host()
        let isAccepted = host.requestLoad(withTests: false, for: nil)
        #expect(isAccepted && host.hasToLoad)
        let withoutTests = host.beginLoad(JobID(rawValue: 1))
        #expect(!withoutTests && !host.hasToLoad && host.isLoading)
        for withTests in [true, false] { _ = host.requestLoad(withTests: withTests, for: Self.client) }
        #expect(!host.hasToLoad)
        let stale = host.loaded(JobID(rawValue: 9), RuleLoadReport(set: RuleSet()))
        #expect(stale == nil && host.isLoading)
        let first = host.loaded(JobID(rawValue: 1), RuleLoadReport(set: RuleSet()))
        #expect(first?.0 == .taken(isSame: true) && first?.1 == [] && host.hasToLoad)
        let withTests = host.beginLoad(JobID(rawValue: 2))
        #expect(withTests)
        let second = host.loaded(JobID(rawValue: 2), RuleLoadReport(set: RuleSet()))
        #expect(second?.1 == [Self.client, Self.client] && !host.hasToLoad && host.problems().isEmpty)
    }

    @Test("no more than a bounded number of requesters wait for a load")
    func requesters() {
        var host = Self.host()
        _ = host.requestLoad(withTests: false, for: nil)
        _ = host.beginLoad(JobID(rawValue: 1))
        var accepted: [Bool] = []
        for _ in 0...RuleHost.maximumRequesters {
            accepted.append(host.requestLoad(withTests: false, for: Self.client))
        }
        #expect(accepted.count { $0 } == RuleHost.maximumRequesters && accepted.last == false)
    }

    @Test("a load with errors leaves the old rules, and the same fault is reported once")
    func refused() {
        var host = Self.host(Self.set(["light"]))
        let bad = RuleLoadReport(set: nil, problems: [["severity": "error"]], summary: "home.yaml:1:1: x")
        let sentence = "the rules on disk have errors; the old rules stay in use: home.yaml:1:1: x"
        let first = Self.load(bad, in: &host)
        let again = Self.load(bad, in: &host)
        #expect(first == .refused(sentence, isNew: true) && again == .refused(sentence, isNew: false))
        #expect(host.fault == sentence && host.errorCount == 1 && host.state["errors"]?.arrayValue?.count == 1)
        let long = RuleLoadReport(
            set: nil, problems: [["severity": "warning"], ["severity": "error"], ["code": .null, "more": 11]],
            summary: "x")
        _ = Self.load(long, in: &host)
        #expect(host.errorCount == 12 && host.state["errors"]?.arrayValue?.count == 2)
        let failing = Self.load(RuleLoadReport(set: nil, failing: "light"), in: &host)
        #expect(failing == .failsTests && host.fault == nil && host.errorCount == 0)
    }

    @Test(
        "the secrets of a set that was refused are hidden, at the start and after a load, and those of the set that runs, too"
    )
    func refusedSecrets() {
        let configuration = HubConfiguration(version: "0", refusedValues: ConfidentialValues(["copper-4711"]))
        var host = RuleHost(
            Self.set(["light"], secrets: ["brass-0815"]), configuration, stored: StoredState(installationID: "00ff"))
        let text = "copper-4711 brass-0815 iron-7777 zinc-1234"
        #expect(host.redaction(text) == "*** *** iron-7777 zinc-1234")
        _ = Self.load(RuleLoadReport(set: nil, refusedValues: ConfidentialValues(["iron-7777"])), in: &host)
        #expect(host.redaction(text) == "*** *** *** zinc-1234")
        let failing = RuleLoadReport(set: nil, failing: "light", refusedValues: ConfidentialValues(["zinc-1234"]))
        #expect(Self.load(failing, in: &host) == .failsTests)
        #expect(host.redaction(text) == "*** *** *** ***")
    }

    @Test("a new set clears the topics of what it does not have, and publishes what is new")
    func took() {
        var host = Self.host(Self.set(["light", "fan"], variables: ["mode"]))
        let new = Self.set(["light", "door"], variables: ["guest"], secrets: ["hidden"])
        let before = host.willTake(new)
        #expect(host.redaction("hidden") != "hidden")
        host.add(.reloaded(PreparedRules(new)))
        while host.takeTurn(at: Self.now) != nil {}
        let topics = host.took(insteadOf: before)
        #expect(
            topics == [
                .ruleEnabled("fan"), .lastRun("fan"), .statistics("fan"), .variable("mode"), .ruleEnabled("door"),
                .variable("guest"),
            ])
        #expect(!host.has(rule: "fan") && host.has(variable: "guest") && host.problems().isEmpty)
    }

    // MARK: What is shown

    @Test("the last run shows the step that failed, once")
    func lastRun() {
        var host = Self.host(Self.set(["light"]))
        var facts = ResultFacts()
        facts.status = 3
        let step = ActionID(run: RunID(rawValue: 1), index: 0)
        host.add(.actionFinished(step, .failed(code: "R822", message: "exit status 3", facts)))
        let turn = host.takeTurn(at: Self.now)
        host.stepFailed(of: "light", step: "run", code: "R822", message: "exit status 3", after: turn?.result)
        func end() -> Bool {
            host.ended(
                "light", result: .failed, startedAt: Self.time, buttonLabel: "hall", event: "click", duration: nil)
        }
        let hasTopics = end()
        #expect(hasTopics && host.lastRun(of: "light")?["exit_status"] == 3)
        _ = end()
        #expect(host.lastRun(of: "light")?["exit_status"] == nil && host.rulesWithLastRun == ["light"])
        let isGone = host.ended(
            "gone", result: .failed, startedAt: Self.time, buttonLabel: nil, event: "", duration: nil)
        #expect(!isGone)
    }

    @Test("changed statistics wait for one timer, and only those of rules that exist are published")
    func statistics() {
        var host = Self.host(Self.set(["light", "fan"]))
        var isFirst: [Bool] = []
        for rule in ["light", "gone", "fan"] { isFirst.append(host.statisticsChanged(of: rule)) }
        #expect(isFirst == [true, false, false] && host.areStatisticsScheduled)
        let changed = host.takeChangedStatistics()
        #expect(changed == ["fan", "light"] && !host.areStatisticsScheduled)
    }

    @Test("a request is checked before anything happens")
    func plans() {
        let host = Self.host(Self.set(["light"], variables: ["mode"]))
        func plan(_ name: RuleRequestName, _ data: JSONValue) -> RuleHost.Plan {
            host.plan(name, data, label: { "\($0)" })
        }
        #expect(
            plan(.run, ["id": "light", "dry_run": true])
                == .run("light", ignoringConditions: false, isDryRun: true))
        #expect(plan(.disable, ["id": "light"]) == .setEnabled("light", false))
        #expect(plan(.setVariable, ["name": "mode", "value": true]) == .setVariable("mode", .boolean(true)))
        #expect(plan(.setVariable, ["name": "mode", "value": 3]) == .answer(.error("mode takes a boolean")))
        guard case .answer(.error(let sentence)) = plan(.trace, ["id": "lihgt"]) else {
            Issue.record("an unknown rule is traced")
            return
        }
        #expect(sentence.contains("did you mean \"light\"?"))
    }
}
