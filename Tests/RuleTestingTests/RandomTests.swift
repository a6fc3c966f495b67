import RuleTesting
import Rules
import Testing

@Suite("Random numbers in tests of rules")
struct RandomTests {
    private static let rules = """
        rules:
          - id: dice
            triggers: {button: a, event: click}
            actions: {publish: {topic: dice, payload: "{{ random(1, 6) }}{{ random(1, 6) }}"}}
          - id: slow
            triggers: {button: b, event: click}
            on_restart: resume
            actions:
              - delay: 1s
              - publish: {topic: slow, payload: "{{ random(1, 6) }}"}

        """
    private static let click = "      - event: {button: a, event: click}\n"

    private static func text(_ steps: String) -> String { "\(rules)tests:\n  - name: it\n    steps:\n\(steps)" }

    private static func failure(_ steps: String) throws -> String {
        let report = try Tested.report(text(steps))
        return report.failures.first?.failure?.text(of: "it") ?? "none"
    }

    @Test("the step gives the numbers in the order in which they are drawn, over reloads and restarts")
    func given() throws {
        try Tested.passes(
            Self.text(
                """
                      - random: [3, 1, 6, 6, 2]
                \(Self.click)      - expect: [publish: {payload: "31"}]
                      - reload
                \(Self.click)      - expect: [publish: {payload: "66"}]
                      - event: {button: b, event: click}
                      - restart
                      - advance: 1s
                      - expect: [publish: {topic: slow, payload: "2"}]
                      - random: [5, 5, 5]
                      - random: [1, 2]
                \(Self.click)      - expect: [publish: {payload: "12"}]
                """))
    }

    @Test("without a number the test fails, and says so")
    func noneLeft() throws {
        #expect(
            try Self.failure(Self.click).contains(
                """
                home.yaml:19:9: test failed: it
                ! expected  a number for random(1, 6)
                ! happened  none is left; give it before this step, such as random: [1]

                """))
        #expect(try Self.failure("      - random: [3]\n" + Self.click).contains("home.yaml:20:9: test failed"))
        // The end of the last step is the end of the test, for which nothing waits.
        #expect(try Self.failure("      - event: {button: b, event: click}\n") == "none")
    }

    @Test("a number that is missing while the clock advances fails the step that advances it, also at its very end")
    func advance() throws {
        let begin = "      - event: {button: b, event: click}\n"
        for (duration, last) in [("1s", ""), ("2s", ""), ("1s", "      - expect: []\n"), ("1s", "      - reload\n")] {
            let failure = try Self.failure(begin + "      - advance: \(duration)\n" + last)
            #expect(failure.contains("home.yaml:20:9: test failed"), "\(failure)")
            #expect(failure.contains("none is left; give it before this step"), "\(failure)")
        }
        // As the failure says: the number is given before the step.
        try Tested.passes(
            Self.text(
                begin + """
                          - random: [4]
                          - advance: 1s
                          - expect: [publish: {topic: slow, payload: "4"}]
                    """))
        #expect(try Self.failure(begin + "      - advance: 1s\n      - random: [4]\n").contains("home.yaml:20:9:"))
    }

    @Test("a number that is out of range fails the test, at the step that gave it")
    func outOfRange() throws {
        #expect(
            try Self.failure("      - random: [3, 7]\n" + Self.click).contains(
                """
                home.yaml:19:9: test failed: it
                ! expected  a number for random(1, 6)
                ! happened  E602 7 is not in the range from 1 to 6

                """))
    }

    @Test("an explanation shows one possible choice, and none that a test gives")
    func explained() throws {
        let explainer = RuleExplainer(try Tested.set(Self.rules))
        let explanation = try #require(explainer.explain(SimulatedEvent(button: "a", event: .click)))
        let steps = explanation.verdicts[0].steps.joined(separator: "\n")
        #expect(steps.contains("dice"))
    }
}
