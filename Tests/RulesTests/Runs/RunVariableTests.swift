import ButtonModel
import Expressions
import TestSupport
import Testing

@testable import Rules

@Suite("Set steps")
struct RunSetTests {
    @Test("a set step evaluates all values before it assigns any")
    func together() throws {
        let swap = Step(
            .set([
                Assignment(variable: 3, value: try RunKit.value("{{ variables.volume }}")),
                Assignment(variable: RunKit.volume, value: try RunKit.value("{{ variables.volume + 1 }}")),
                Assignment(variable: 4, value: try RunKit.value("{{ variables.volume }}")),
            ]))
        let other = DeclaredVariable(name: "old", type: .integer, initial: .integer(0))
        var talk = Transcript<RunInWorld>(swap, variables: [other, other])
        talk.when(.begin, expect: .nothing)
        #expect(talk.machine.world.variables[RunKit.volume] == .integer(31))
        #expect(talk.machine.world.variables[3...] == [.integer(30), .integer(30)])
    }

    @Test("a number is clamped to the bounds of its variable")
    func clamped() throws {
        var talk = Transcript<RunInWorld>(try .set(RunKit.volume, "{{ variables.volume + 99 }}"))
        talk.when(.begin, expect: .nothing)
        #expect(talk.machine.world.variables[RunKit.volume] == .integer(100))
        #expect(talk.machine.world.changed == [.variable(RunKit.volume)])
    }

    @Test("a value that its variable does not allow fails with R803, and the step assigns nothing")
    func values() throws {
        let step = Step(
            .set([
                Assignment(variable: RunKit.volume, value: .value(.integer(1))),
                Assignment(variable: RunKit.scene, value: try RunKit.value("{{ trigger.event }}")),
            ]))
        var talk = Transcript<RunInWorld>(step)
        talk.when(
            .begin,
            expect: .failed(
                "actions[0].set", "R803", "scene cannot be double_click: it must be one of day, night"))
        #expect(talk.machine.world.variables[RunKit.volume] == .integer(30))
        #expect(talk.machine.world.changed.isEmpty)
        #expect(talk.result == .failed)
    }
}

@Suite("Cycles")
struct RunCycleTests {
    /// The log lines of a run of rule 0 that begins in `world`, which the run changes.
    private func said(_ set: RuleSet, in world: inout World, at now: Instant) -> [String] {
        var run = Run(RunKit.id, rule: 0, RunKit.cause, isDryRun: false, in: world, at: now)
        var effects: [RuleEngine.Effect] = []
        run.begin(in: &world, at: now, &effects)
        return effects.compactMap { if case .perform(_, .log(_, let text), _, _) = $0 { text } else { nil } }
    }

    @Test("each run takes the next entry of a cycle, and the first after the last")
    func turns() throws {
        let set = RunKit.set([.cycle([try .log("one")], [try .log("two"), try .log("and")], [try .log("three")])])
        let now = Instant(sinceBoot: .zero)
        var world = RunKit.world(set, at: now)
        #expect(said(set, in: &world, at: now) == ["one"])
        #expect(world.changed == [.cycle("hall/actions[0].cycle")])
        #expect(world.cycles["hall/actions[0].cycle"] == CyclePosition(next: 1, at: RunKit.noon))
        #expect(said(set, in: &world, at: now) == ["two", "and"])
        #expect(said(set, in: &world, at: now) == ["three"])
        #expect(said(set, in: &world, at: now) == ["one"])
    }

    @Test("a cycle begins again after reset_after without a run, and not before")
    func reset() throws {
        let set = RunKit.set([
            .cycle([try .log("one")], [try .log("two")], [try .log("three")], resetAfter: .seconds(60))
        ])
        let start = Instant(sinceBoot: .zero)
        var world = RunKit.world(set, at: start)
        #expect(said(set, in: &world, at: start) == ["one"])
        #expect(said(set, in: &world, at: start + .milliseconds(59_999)) == ["two"])
        #expect(said(set, in: &world, at: start + .milliseconds(119_999)) == ["one"])
    }

    @Test("a cycle whose stored position is beyond its entries begins again")
    func shortened() throws {
        let set = RunKit.set([.cycle([try .log("one")], [try .log("two")])])
        let now = Instant(sinceBoot: .zero)
        for next in [2, 99, -1] {
            var world = RunKit.world(set, at: now)
            world.cycles["hall/actions[0].cycle"] = CyclePosition(next: next, at: RunKit.noon)
            #expect(said(set, in: &world, at: now) == ["one"])
        }
    }

    @Test("a cycle in a script has one position for all callers")
    func script() throws {
        let script = Script(name: "scenes", steps: [.cycle([try .log("one")], [try .log("two")])])
        let set = RunKit.set([.script(0), .script(0)], scripts: [script])
        let now = Instant(sinceBoot: .zero)
        var world = RunKit.world(set, at: now)
        #expect(said(set, in: &world, at: now) == ["one", "two"])
        #expect(world.changed == [.cycle("scenes.actions[0].cycle")])
    }
}
