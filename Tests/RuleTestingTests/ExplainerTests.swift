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
