import ButtonModel
import Expressions
import RuleLoader
import Rules
import Testing
import YAMLFiles

/// A rule, key by key.
@Suite("What a rule says")
struct RuleTests {
    @Test("a rule that says nothing more has the defaults of the language")
    func bare() throws {
        let rule = try LoadedText.rule("")
        var bare = Rule(
            id: "one", triggers: [Trigger(buttons: [.declared(0)], events: [.click])],
            steps: [Step(.log(.info, Template(literal: "done")), path: "actions[0].log")])
        bare.fingerprint = rule.fingerprint
        #expect(rule == bare)
    }

    @Test("switches and words of a rule mean what they say")
    func switches() throws {
        #expect(try LoadedText.rule("enabled: false").isEnabled == false)
        #expect(try LoadedText.rule("fallback: true").isFallback)
        #expect(try LoadedText.rule("dry_run: true").isDryRun)
        #expect(try LoadedText.rule("on_restart: resume").onRestart == .resume)
        #expect(try LoadedText.rule("scope: button").scope == .button)
        #expect(try LoadedText.rule("alias: Good night\n    description: '{{'").alias == "Good night")
    }

    @Test(
        "the most runs at once follow from the mode",
        arguments: [
            ("mode: single", Rule.Mode.single, 1), ("mode: restart", .restart, 1), ("mode: queued", .queued, 10),
            ("mode: parallel", .parallel, 10), ("mode: queued\n    max: 1", .queued, 1),
            ("max: 100\n    mode: parallel", .parallel, 100),
        ])
    func mode(lines: String, mode: Rule.Mode, maximum: Int) throws {
        let rule = try LoadedText.rule(lines)
        #expect(rule.mode == mode)
        #expect(rule.maximumRuns == maximum)
    }

    @Test(
        "a rate is a number over a time",
        arguments: [("20/1m", 20, 60), ("1/1s", 1, 1), ("10000/1d", 10_000, 86_400), ("5/1m30s", 5, 90)])
    func rate(text: String, count: Int, seconds: Int) throws {
        #expect(try LoadedText.rule("rate_limit: \(text)").rateLimit == .init(count: count, per: .seconds(seconds)))
    }

    @Test(
        "what is no rate is refused",
        arguments: ["20", "20/", "/1m", "20/1m/1m", "-1/1m", "2.5/1m", "0/1m", "10001/1m", "20/0s", "20/1", "020/1m"])
    func wrongRate(text: String) {
        let complaints = LoadedText.complaints(LoadedText.rules(with: "rate_limit: \(text)"))
        #expect(complaints.count == 1)
        #expect(complaints.first?.hasPrefix("E20") == true)
    }

    @Test("a cooldown is a time")
    func cooldown() throws {
        #expect(try LoadedText.rule("cooldown: 1d").cooldown == .seconds(86_400))
        #expect(try LoadedText.rule("cooldown: 0s").cooldown == .zero)
    }

    @Test("on_error sees the failure, and no result it could count on")
    func onError() throws {
        let rule = try LoadedText.rule("on_error: {log: '{{ error.message }}'}")
        #expect(rule.onError.map(\.path) == ["on_error[0].log"])
        #expect(
            LoadedText.complaints(LoadedText.rules(with: "conditions: error.code == ''"))
                == ["E402 there is no \"error\" here; error belongs inside on_error"])
        let saved = """
            rules:
              - id: one
                triggers: {button: any, event: click}
                actions: [{run: [ls], save_as: list}]
                on_error: {log: "{{ results.list.stdout }}"}
            """
        #expect(LoadedText.complaints(saved) == ["E402 not every path to this step saves \"list\""])
        let set = try LoadedText.good(saved.replacing("results.list.stdout", with: "error.step"))
        #expect(set.rules.first?.resultCount == 1)
    }

    @Test("one thing and a list of one thing are the same")
    func oneOrMany() throws {
        let one = try LoadedText.good(
            "buttons: {a: BF12-C34567}\nrules: [{id: b, triggers: {button: a, event: hold}, actions: {log: c}}]")
        var many = try LoadedText.good(
            "buttons: {a: BF12-C34567}\nrules: [{id: b, triggers: [{button: [a], event: [hold]}], actions: [{log: c}]}]"
        )
        many.fingerprint = one.fingerprint
        many.rules[0].fingerprint = one.rules[0].fingerprint
        #expect(one == many)
    }

    @Test("merged keys fill in what is not written, and x- keys are left alone")
    func merge() throws {
        let set = try LoadedText.good(
            """
            x-base: &base {alias: common, cooldown: 5s, triggers: {button: any, event: click}}
            x-steps: &steps [log: a]
            rules:
              - {<<: *base, id: b, alias: mine, actions: *steps}
            """)
        let rule = try #require(set.rules.first)
        #expect(rule.alias == "mine")
        #expect(rule.cooldown == .seconds(5))
        #expect(rule.steps.map(\.action) == [.log(.info, Template(literal: "a"))])
    }

    @Test("a rule is where its id stands")
    func place() throws {
        #expect(try LoadedText.rule("").location.description == "home.yaml:4:9")
    }

    @Test("line ends and a byte order mark change nothing")
    func lineEnds() throws {
        let text = "version: 1\n\(LoadedText.rules(with: ""))\n"
        let windows = [0xEF, 0xBB, 0xBF] + Array(text.replacing("\n", with: "\r\n").utf8)
        let plain = FileLoader.rules(SourceFile(name: "a", text: Array(text.utf8)), in: LoadInputs())
        let other = FileLoader.rules(SourceFile(name: "a", text: windows), in: LoadInputs())
        #expect(plain.value != nil)
        #expect(plain.value == other.value)
    }
}
