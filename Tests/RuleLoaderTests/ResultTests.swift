import Diagnostics
import RuleLoader
import Rules
import Testing
import YAMLFiles

@Suite("What steps save for later ones")
struct ResultTests {
    private static let save = "{run: [date], save_as: answer}"
    private static let read = "{log: '{{ results.answer.stdout }}'}"

    /// The codes for steps in which `S` saves and `R` reads.
    private static func codes(_ steps: String) -> [String] {
        LoadedSteps.codes(
            steps.replacing("S", with: save).replacing("R", with: read).replacing("I", with: "if: states.open"))
    }

    @Test(
        "a result is known where every way saves it",
        arguments: [
            "- S\n- R",
            "- I\n  then: S\n  else: S\n- R",
            "- I\n  then: [S, R]\n- log: a",
            "- I\n  then: [{stop: a}]\n  else: S\n- R",
            "- I\n  then: S\n  else: {stop: a}\n- R",
            "- choose: [{I, then: S}, {I, then: {stop: a}}]\n  default: S\n- R",
            "- cycle: {steps: [S, [S, R]]}\n- R",
            "- repeat: {count: 2, every: 1s, actions: [S, R]}\n- R",
            "- S\n- I\n  then: R\n- repeat: {while: held, every: 1s, actions: R}\n- cycle: {steps: [R, R]}",
            "- I\n  then: {script: end}\n  else: S\n- R",
        ])
    func known(steps: String) {
        #expect(Self.codes(steps) == [])
    }

    @Test(
        "a result is not known where some way goes past the step that saves it",
        arguments: [
            "- R\n- S",
            "- I\n  then: S\n- R",
            "- choose: [{I, then: S}]\n- R",
            "- choose: [{I, then: S}, {I, then: {log: a}}]\n  default: S\n- R",
            "- cycle: {steps: [S, {log: a}]}\n- R",
            "- repeat: {while: held, every: 1s, actions: S}\n- R",
            "- {run: [date], save_as: answer, enabled: false}\n- R",
            "- repeat: {count: 2, every: 1s, actions: [R, S]}",
            "- I\n  then: S\n  enabled: false\n- R",
            "- I\n  enabled: false\n  then: S\n  else: S\n- R",
            "- wait: {until: states.open, timeout: 1s}\n  else: S\n- R",
            "- wait: {until: states.open, timeout: 1s}\n  else: [S, {stop: over}]\n- R",
        ])
    func notOnEveryPath(steps: String) {
        #expect(Self.codes(steps) == ["E402"])
    }

    @Test(
        "one way saves a name once",
        arguments: [
            "- S\n- S", "- I\n  then: S\n- S", "- S\n- cycle: {steps: [S, {log: a}]}",
            "- repeat: {while: held, every: 1s, actions: S}\n- S",
        ])
    func twice(steps: String) {
        #expect(Self.codes(steps) == ["E303"])
    }

    @Test("each name has a slot, whichever way saves it, and a script counts its own")
    func slots() throws {
        let set = try LoadedText.good(
            LoadedSteps.text(
                """
                - {run: [a], save_as: first}
                - if: states.open
                  then: {run: [b], save_as: second}
                  else: {shell: c, save_as: second}
                - {http: {url: 'https://a'}, save_as: third}
                - {script: own}
                """
            ).replacing("  end: {", with: "  own: {actions: [{run: [a], save_as: first}]}\n  end: {"))
        let rule = try #require(set.rules.first)
        #expect(rule.resultCount == 3)
        #expect(rule.steps.map(\.savesAs) == [0, nil, 2, nil])
        guard case .choose(let branches, let otherwise, _) = rule.steps[1].action else {
            Issue.record("not an if")
            return
        }
        #expect((branches.flatMap(\.steps) + otherwise).map(\.savesAs) == [1, 1])
        let script = try #require(set.scripts.first { $0.name == "own" })
        #expect(script.resultCount == 1)
        #expect(script.steps.first?.savesAs == 0)
    }

    @Test("what failed may have failed before anything was saved")
    func onError() {
        let codes = { (onError: String) in
            LoadedSteps.codes(
                "- \(Self.save)", rest: "")
                + LoadedText.set(
                    LoadedSteps.text("- \(Self.save)").replacing(
                        "- {id: two", with: "  on_error: \(onError)\n  - {id: two")
                )
                .diagnostics.map(\.code)
        }
        #expect(codes(Self.read) == ["E402"])
        #expect(codes("{log: '{{ error.code }} {{ error.step }}'}") == [])
        #expect(codes(Self.save) == ["E303"])
    }

    @Test(
        "what stands behind a step that always stops can never run",
        arguments: [
            "- stop: a\n- log: b", "- I\n  then: {stop: a}\n  else: {stop: b}\n- log: c",
            "- choose: [{I, then: {stop: a}}]\n  default: {stop: b}\n- log: c\n- log: d",
            "- cycle: {steps: [{stop: a}, {script: end}]}\n- log: b", "- script: end\n- log: b",
            "- repeat: {count: 3, every: 1s, actions: {stop: a}}\n- log: b",
            "- I\n  then: [{stop: a}, {log: b}]\n- log: c",
        ])
    func never(steps: String) {
        #expect(Self.codes(steps) == ["E510"])
    }

    @Test(
        "where one way goes on, so do the steps",
        arguments: [
            "- I\n  then: {stop: a}\n- log: b", "- {stop: a, enabled: false}\n- log: b",
            "- choose: [{I, then: {stop: a}}]\n- log: b", "- cycle: {steps: [{stop: a}, {log: b}]}\n- log: c",
            "- repeat: {while: held, every: 1s, actions: {stop: a}}\n- log: b",
            "- I\n  enabled: false\n  then: {stop: a}\n  else: {stop: b}\n- log: c",
        ])
    func goesOn(steps: String) {
        #expect(Self.codes(steps) == [])
    }
}
