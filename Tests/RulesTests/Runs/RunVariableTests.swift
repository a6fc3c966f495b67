import ButtonModel
import Expressions
import TestSupport
import Testing

@testable import Rules

@Suite("Variables that a run sets")
struct RunSetTests {
    @Test("all values are taken before any is assigned")
    func together() throws {
        let swap = Step(
            .set([
                Assignment(variable: 3, value: try RunKit.value("{{ variables.volume }}")),
                Assignment(variable: RunKit.volume, value: try RunKit.value("{{ variables.volume + 1 }}")),
                Assignment(variable: 4, value: try RunKit.value("{{ variables.volume }}")),
            ]))
        let other = DeclaredVariable(name: "old", type: .integer, initial: .integer(0))
        var talk = Transcript<RunInWorld>(swap, variables: [other, other])
        talk.when(.begin)
        #expect(talk.machine.world.variables[RunKit.volume] == .integer(31))
        #expect(talk.machine.world.variables[3...] == [.integer(30), .integer(30)])
    }

    @Test("a number is clamped to what the variable may hold")
    func clamped() throws {
        var talk = Transcript<RunInWorld>(try .set(RunKit.volume, "{{ variables.volume + 99 }}"))
        talk.when(.begin)
        #expect(talk.machine.world.variables[RunKit.volume] == .integer(100))
        #expect(talk.machine.world.changed == [.variable(RunKit.volume)])
    }

    @Test("a value that is not among the variable's is R803, and nothing of the step is assigned")
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
    /// What a run says that begins in this world, and the world it leaves.
    private func said(_ set: RuleSet, in world: inout World, at now: Instant) -> [String] {
        var run = Run(RunKit.id, rule: 0, RunKit.occurrence, isDryRun: false, in: world, at: now)
        var effects: [RuleEngine.Effect] = []
        run.begin(in: &world, at: now, &effects)
        return effects.compactMap { if case .perform(_, .log(_, let text), _, _) = $0 { text } else { nil } }
    }

    @Test("each run does the next entry, after the last the first")
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

    @Test("it begins again when it was left alone for long enough, and not before")
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

    @Test("a position beyond the entries there are now begins again")
    func shortened() throws {
        let set = RunKit.set([.cycle([try .log("one")], [try .log("two")])])
        let now = Instant(sinceBoot: .zero)
        for next in [2, 99, -1] {
            var world = RunKit.world(set, at: now)
            world.cycles["hall/actions[0].cycle"] = CyclePosition(next: next, at: RunKit.noon)
            #expect(said(set, in: &world, at: now) == ["one"])
        }
    }

    @Test("that of a script is the same whoever calls it")
    func script() throws {
        let script = Script(name: "scenes", steps: [.cycle([try .log("one")], [try .log("two")])])
        let set = RunKit.set([.script(0), .script(0)], scripts: [script])
        let now = Instant(sinceBoot: .zero)
        var world = RunKit.world(set, at: now)
        #expect(said(set, in: &world, at: now) == ["one", "two"])
        #expect(world.changed == [.cycle("scenes.actions[0].cycle")])
    }
}
