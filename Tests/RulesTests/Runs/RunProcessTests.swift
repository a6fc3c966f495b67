import ButtonModel
import Expressions
import TestSupport
import Testing

@testable import Rules

@Suite("Arguments of a program")
struct RunProcessTests {
    /// True if the step is performed when `variables.name` is `-rf`.
    private func isPerformed(_ step: Step) -> Bool {
        var talk = Transcript<RunInWorld>(step)
        talk.given(.variable(RunKit.name, .string("-rf")))
        return talk.given(.begin).contains { if case .perform = $0 { true } else { false } }
    }

    @Test("an argument made of values may not begin with - where it could be an option")
    func options() throws {
        #expect(!isPerformed(try .run("/bin/rm", "{{ variables.name }}")))
        #expect(!isPerformed(try .run("/bin/rm", "{{ variables.name }}.txt")))
        #expect(!isPerformed(try .run("/bin/rm", "{{ '' }}-x")))
        #expect(!isPerformed(try .run("/bin/rm", "{{ trigger.steps }}")))
        #expect(isPerformed(try .run("/bin/rm", "file {{ variables.name }}")))
        #expect(isPerformed(try .run("/bin/rm", "-{{ variables.name }}")))
    }

    @Test("after a literal -- a value may begin with -, until the next literal argument")
    func endOfOptions() throws {
        #expect(isPerformed(try .run("/bin/rm", "--", "{{ variables.name }}")))
        #expect(isPerformed(try .run("/bin/rm", "--", "a{{ states.lux }}", "{{ variables.name }}")))
        #expect(!isPerformed(try .run("sudo", "--", "rm", "{{ variables.name }}")))
        #expect(isPerformed(try .run("sudo", "--", "rm", "--", "{{ variables.name }}")))
        #expect(!isPerformed(try .run("/bin/rm", "{{ '--' }}", "{{ variables.name }}")))
    }

    @Test("each entry is one argument, whatever its value contains")
    func words() throws {
        var talk = Transcript<RunInWorld>(try .run("/bin/say", "{{ variables.name }}", stdin: "<{{ variables.name }}>"))
        talk.given(.variable(RunKit.name, .string("a b; $(reboot) \"c\n")))
        talk.when(
            .begin,
            expect: .perform(
                0, .program("/bin/say", "a b; $(reboot) \"c\n", stdin: "<a b; $(reboot) \"c\n>")))
    }

    @Test("the arguments of a shell script may not begin with - either")
    func shell() throws {
        func shell(_ arguments: String...) throws -> Step {
            let fixed = ["/bin/sh", "-c", "rm -r \"$1\"", "sh"].map { Template(literal: $0) }
            return Step(
                .process(ProcessStep(arguments: fixed + (try arguments.map { try RunKit.text($0) }), isShell: true)))
        }
        #expect(!isPerformed(try shell("{{ variables.name }}")))
        #expect(isPerformed(try shell("--", "{{ variables.name }}")))
    }

    @Test("a program's environment has the trigger's facts, followed by the step's own variables")
    func environment() throws {
        var talk = Transcript<RunInWorld>(
            try .run("/bin/env", env: ["LUX": "{{ states.lux }}", "TRYCK_RULE": "mine"]), cause: RunKit.late)
        let effects = talk.given(.begin)
        guard case .perform(_, .external(.process(let process)), _, _)? = effects.first else {
            Issue.record("nothing was performed")
            return
        }
        #expect(
            process.environment == [
                "TRYCK_RULE=hall", "TRYCK_BUTTON=hall", "TRYCK_UUID=00112233445566778899aabbccddeeff",
                "TRYCK_SERIAL=BA00-K00001", "TRYCK_EVENT=double_click", "TRYCK_CLICKS=2", "TRYCK_STEPS=-3",
                "TRYCK_QUEUED=true", "TRYCK_AGE_MS=2500", "LUX=30", "TRYCK_RULE=mine",
            ])
    }

    @Test("two arguments of 64 KiB each are accepted")
    func bounds() throws {
        let step = try Step.run("/b", "{{ variables.name }}", "{{ slice(variables.name, 2, 70000) }}")
        var talk = Transcript<RunInWorld>(step)
        talk.given(.variable(RunKit.name, .string(String(repeating: "x", count: 65_536))))
        #expect(talk.given(.begin).count == 1)
        #expect(talk.result == nil)
    }

    @Test("a literal argument may have 64 KiB and not more")
    func literal() throws {
        for (count, isTaken) in [(65_536, true), (65_537, false)] {
            let long = Template(literal: String(repeating: "x", count: count))
            #expect(isPerformed(Step(.process(ProcessStep(arguments: [long])))) == isTaken)
        }
    }
}
