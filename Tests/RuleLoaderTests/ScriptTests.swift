import Diagnostics
import Expressions
import RuleLoader
import Rules
import Testing

@Suite("Scripts")
struct ScriptTests {
    private func complaints(_ scripts: String, rule: String = "{script: first}", event: String = "hold") -> [String] {
        LoadedText.complaints(
            """
            buttons: {kitchen: BF12-C34567}
            rules: [{id: one, triggers: {button: kitchen, event: \(event)}, actions: [\(rule)]}]
            scripts:
              \(scripts.replacing("\n", with: "\n  "))
            """)
    }

    @Test("a script sees its inputs, and nothing of who calls it")
    func scope() throws {
        let set = try LoadedText.good(
            """
            buttons: {kitchen: BF12-C34567}
            scripts:
              first:
                inputs: {a: {type: string}, b: {type: integer, default: 3}}
                actions:
                  - log: "{{ inputs.a }} {{ inputs.b + 1 }} {{ trigger.button }}"
            rules:
              - id: one
                triggers: {button: kitchen, event: hold}
                actions: {script: first, with: {a: x}}
            """)
        guard case .log(_, let message) = set.scripts.first?.steps.first?.action else {
            Issue.record("not a log")
            return
        }
        #expect(message.reads == [.input(0), .input(1), .trigger(.button)])
        #expect(set.scripts.first?.steps.first?.path == "first.actions[0].log")
        #expect(complaints("first: {actions: {log: '{{ results.a.ok }}'}}").map { $0.prefix(4) } == ["E402"])
        #expect(complaints("first: {actions: {log: '{{ repeat.index }}'}}").map { $0.prefix(4) } == ["E402"])
        #expect(complaints("first: {actions: {log: '{{ error.code }}'}}").map { $0.prefix(4) } == ["E402"])
    }

    @Test("scripts may call scripts in any order of writing")
    func order() {
        #expect(complaints("first: {actions: {script: second}}\nsecond: {actions: {log: a}}") == [])
        #expect(complaints("second: {actions: {log: a}}\nfirst: {actions: {script: second}}") == [])
    }

    @Test("a circle of calls is refused once, at the call that closes it")
    func circles() {
        #expect(
            complaints("first: {actions: {script: first}}") == [
                "E307 script \"first\" calls itself; take one of the calls out; for repeating steps there is repeat:"
            ])
        #expect(
            complaints(
                """
                first: {actions: [{log: a}, {script: second}]}
                second: {actions: {cycle: {steps: [{log: a}, [{script: third}]]}}}
                third: {actions: {choose: [{if: 'true', then: {log: a}}], default: {script: first}}}
                """
            ) == [
                "E307 scripts call each other: first → second → third → first; take one of the calls out; for repeating steps there is repeat:"
            ])
    }

    @Test("a long chain of scripts is followed without end of the stack")
    func chain() {
        var scripts = "first: {actions: {script: s0}}\n"
        for index in 0..<900 { scripts += "s\(index): {actions: {script: s\(index + 1)}}\n" }
        #expect(complaints(scripts + "s900: {actions: {log: a}}") == [])
    }

    @Test("a script that repeats while held wants the rule that every such step wants")
    func held() {
        let scripts =
            "first: {actions: {script: second}}\nsecond: {actions: {repeat: {while: held, every: 1s, actions: {log: a}}}}"
        #expect(complaints(scripts) == [])
        #expect(complaints(scripts, event: "[hold, down]") == [])
        #expect(
            complaints(scripts, event: "[hold, click]") == [
                "E505 script \"first\" repeats while held, which needs a rule triggered only by hold or down; this rule also has click"
            ])
    }

    @Test("a rule that a chord triggers repeats nothing while held")
    func heldChord() {
        func complaints(_ actions: String) -> [String] {
            LoadedText.complaints(
                """
                buttons: {kitchen: BF12-C34567, hall: BF12-C34568}
                rules:
                  - {id: one, triggers: [{button: kitchen, event: hold}, {chord: [kitchen, hall]}], actions: [\(actions)]}
                scripts: {dim: {actions: {repeat: {while: held, every: 1s, actions: {log: a}}}}}
                """)
        }
        #expect(
            complaints("{repeat: {while: held, every: 1s, actions: {log: a}}}") == [
                "E505 repeat while held needs a rule triggered only by hold or down; this rule also has a chord"
            ])
        #expect(
            complaints("{script: dim}") == [
                "E505 script \"dim\" repeats while held, which needs a rule triggered only by hold or down; this rule also has a chord"
            ])
    }

    @Test("calls that grow from script to script are refused before anybody counts them one by one")
    func growth() {
        var scripts = "first: {actions: [{script: s0}]}\n"
        for index in 0..<30 {
            scripts += "s\(index): {actions: [{script: s\(index + 1)}, {script: s\(index + 1)}, {log: a}]}\n"
        }
        let said = complaints(scripts + "s30: {actions: {log: a}}")
        #expect(said.allSatisfy { $0.hasPrefix("E205") } && !said.isEmpty)
    }
}
