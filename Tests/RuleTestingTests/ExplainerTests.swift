import RuleTesting
import Rules
import Testing

@Suite("Explanations without a daemon")
struct ExplainerTests {
    private static let rules = """
        rules:
          - {id: short, triggers: {button: b, event: hold}, actions: {log: x}}
          - {id: long, triggers: {button: b, event: hold, for: 2s}, actions: {log: x}}
          - {id: secret, triggers: {button: a, pattern: [short, long]}, actions: {log: x}}
        """

    private func rules(for event: SimulatedEvent) throws -> [String]? {
        RuleExplainer(try Tested.set(Self.rules)).explain(event)?.verdicts.map(\.rule)
    }

    @Test(
        "a hold of a given time is explained at the last stage that it reaches",
        arguments: [(500, []), (600, ["short"]), (1999, ["short"]), (2000, ["long"]), (9000, ["long"])]
            as [(Int, [String])])
    func hold(milliseconds: Int, expected: [String]) throws {
        let event = SimulatedEvent(button: "b", event: .hold(after: nil), heldFor: .milliseconds(milliseconds))
        #expect(try rules(for: event) == expected)
    }

    @Test("a chord is explained with its gates, and only if a rule has it")
    func chord() throws {
        let rules = """
            rules:
              - {id: both, triggers: {chord: [a, b]}, conditions: "1 > 2", actions: {log: x}}
              - {id: one, triggers: {button: a, event: click}, actions: {log: x}}
            """
        let explainer = RuleExplainer(try Tested.set(rules))
        let explanation = try #require(explainer.explain(chord: ["b", "a"]))
        #expect(explanation.verdicts.map(\.rule) == ["both"])
        #expect(explanation.verdicts[0].stoppedBy == .conditions)
        #expect(explainer.explain(chord: ["a"]) == nil)
        #expect(explainer.explain(chord: ["a", "stranger"]) == nil)
    }

    @Test("the steps of a rule that runs are shown with the branches that they take, and those of another rule are not")
    func steps() throws {
        let rules = """
            rules:
              - id: runs
                triggers: {button: a, event: click}
                actions:
                  - {if: 1 < 2, then: {log: yes}, else: {log: no}}
                  - delay: 2s
                  - log: later
              - {id: stops, triggers: {button: a, event: click}, conditions: "1 > 2", actions: {log: x}}
            """
        let event = SimulatedEvent(button: "a", event: .click)
        let verdicts = try #require(RuleExplainer(try Tested.set(rules)).explain(event)).verdicts
        #expect(verdicts.map(\.rule) == ["runs", "stops"])
        #expect(verdicts[0].steps.contains { $0.hasPrefix("actions[0].if: ") })
        #expect(verdicts[0].steps.last?.hasPrefix("after 2s: actions[2].log") == true)
        #expect(verdicts[1].steps == [])
    }

    @Test("a pattern is written as short,long")
    func pattern() throws {
        let event = try #require(RuleExplainer.pattern("short,long"))
        #expect(try rules(for: SimulatedEvent(button: "a", event: event)) == ["secret"])
        let nine = String(repeating: "long,", count: 8) + "long"
        for text in ["", "short", "short,", "short, long", "short,lang", nine] {
            #expect(RuleExplainer.pattern(text) == nil)
        }
    }
}
