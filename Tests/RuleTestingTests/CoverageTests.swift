import RuleTesting
import TestSupport
import Testing

/// Reports of the steps that no test has reached.
@Suite("Coverage of rule tests")
struct CoverageTests {
    private func gaps(_ rules: String, _ steps: String) throws -> [String] {
        let report = try Tested.report(Tested.text(rules, given: "{}", steps: steps))
        #expect(report.failures.isEmpty)
        return report.unreached.map { "\($0.location) \($0.text)" }
    }

    private static let rules = """
        variables: {n: 1}
        scripts:
          say: {actions: [{log: a}, {if: variables.n > 5, then: {log: b}}]}
          unused: {actions: {log: c}}
        rules:
          - id: one
            triggers: {button: a, event: click}
            actions:
              - choose:
                  - if: variables.n == 1
                    then: {script: say}
                  - if: variables.n == 2
                    then:
                      - log: two
                      - log: three
                default: {log: four}
              - if: variables.n == 3
                then: {log: five}
                else: {log: six}
              - cycle:
                  steps: [{log: seven}, {log: eight}]
              - enabled: false
                log: nine
            on_error: {log: ten}
          - {id: two, triggers: {button: b, event: click}, actions: {log: eleven}}
        """

    @Test("without an event every rule and script step is reported as unreached")
    func none() throws {
        let none = try gaps(Self.rules, "- advance: 1s")
        #expect(
            none == [
                "home.yaml:11:9 rule one", "home.yaml:30:10 rule two", "home.yaml:8:20 script say.actions[0].log",
                "home.yaml:8:30 script say.actions[1].if", "home.yaml:9:22 script unused.actions[0].log",
            ])
    }

    @Test("unreached rules, branches, entries, steps and scripts are reported, each without the steps inside it")
    func some() throws {
        let some = try gaps(Self.rules, "- event: {button: a, event: click}")
        #expect(
            some == [
                "home.yaml:17:13 one › actions[0].choose[1]", "home.yaml:21:19 one › actions[0].choose.default",
                "home.yaml:22:13 one › actions[1].if.then", "home.yaml:26:34 one › actions[2].cycle[1]",
                "home.yaml:29:16 one › on_error[0].log", "home.yaml:30:10 rule two",
                "home.yaml:8:34 script say.actions[1].if.then", "home.yaml:9:22 script unused.actions[0].log",
            ])
    }

    @Test("the else of a wait is reached if its time is over")
    func wait() throws {
        let rules = """
            states: {open: {topic: open, type: boolean, default: false}}
            rules:
              - id: one
                triggers: {button: a, event: click}
                actions:
                  - wait: {until: states.open, timeout: 10s}
                    else: {log: closed}
            """
        let click = "- event: {button: a, event: click}\n"
        #expect(
            try gaps(rules, click + "- state: {open: true}") == ["home.yaml:12:16 one › actions[0].wait.else"])
        #expect(try gaps(rules, click + "- advance: 10s\n- expect_rules: {one: completed}") == [])
    }

    @Test("a step beyond the 200 lines of a trace counts as reached")
    func longRuns() throws {
        let rules = """
            rules:
              - id: one
                triggers: {button: a, event: click}
                actions:
                  - repeat: {count: 300, every: 20ms, actions: {log: x}}
                  - log: y
            """
        #expect(try gaps(rules, "- event: {button: a, event: click}\n- advance: 1m") == [])
        #expect(
            try gaps(rules, "- event: {button: a, event: click}\n- advance: 1s") == [
                "home.yaml:11:9 one › actions[1].log"
            ])
    }

    @Test("steps that two rules share by an alias are reached for each rule apart")
    func shared() throws {
        let rules = """
            x-steps: &steps [{log: x}, {delay: 1s}, {log: y}]
            rules:
              - {id: one, triggers: {button: a, event: click}, actions: *steps}
              - {id: two, triggers: {button: b, event: click}, actions: *steps}
            """
        let steps = "- event: {button: a, event: click}\n- advance: 1s\n- event: {button: b, event: click}"
        let shared = try gaps(rules, steps)
        #expect(shared == ["home.yaml:6:42 two › actions[2].log"])
    }

    @Test("steps of a run that a restart cut off count as reached up to there")
    func cut() throws {
        let rules = """
            rules:
              - {id: one, on_restart: resume, triggers: {button: a, event: click}, actions: [{log: x}, {delay: 1m}]}
            """
        #expect(try gaps(rules, "- event: {button: a, event: click}\n- restart: 1h") == [])
        #expect(try gaps(rules, "- event: {button: a, event: click}\n- restart") == [])
    }

    @Test("a hundred tests of ten thousand rules take less than a minute")
    func large() throws {
        var text = "rules:\n"
        for number in 0..<10_000 {
            text += "  - {id: r\(number), triggers: {button: a, clicks: \(number % 8 + 1)}, conditions: \(number < 8), "
            text += "actions: {log: x}}\n"
        }
        text += "tests:\n"
        for number in 0..<100 {
            text += "  - {name: t\(number), steps: [{press: {button: a, times: 2}}, {advance: 5s}]}\n"
        }
        let set = try Tested.set(text)
        let time = processorTime { #expect(RuleTestRunner.run(set).results.count == 100) }
        #expect(time < .seconds(60))
    }
}
