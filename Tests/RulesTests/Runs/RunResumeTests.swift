import ButtonModel
import Expressions
import TestSupport
import Testing

@testable import Rules

@Suite("Restoring runs after a restart")
struct RunResumeTests {
    /// Saves the run and restores it in another process with the time it had left.
    private func resumed(
        _ talk: Transcript<RunInWorld>, in set: RuleSet? = nil,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) throws -> Transcript<RunInWorld> {
        let machine = talk.machine
        let waiting = try #require(machine.run.saved(in: machine.world, at: talk.now), sourceLocation: sourceLocation)
        let left = waiting.endsAt.milliseconds - machine.world.wallClock(at: talk.now).milliseconds
        // The time since boot begins again, as after a reboot.
        let now = Instant(sinceBoot: .seconds(3))
        let world = RunKit.world(set ?? machine.world.set, at: now)
        let run = try #require(
            Run(waiting, rule: 0, remaining: .milliseconds(left), in: world, at: now), sourceLocation: sourceLocation)
        #expect(run.id == machine.run.id)
        return Transcript(RunInWorld(world: world, run: run), at: now)
    }

    @Test("a delay goes on with the time it had left, and the run keeps its results and trigger")
    func delay() throws {
        var before = Transcript<RunInWorld>(
            try .run("/bin/a").saving(), try .delay("5m"), try .log("{{ results.answer.stdout }} {{ trigger.event }}"))
        before.given(.begin)
        before.given(.finished(0, .completed(ResultFacts(stdout: "on\n\"2\""))))
        before.wait(.seconds(180))
        var after = try resumed(before)
        #expect(after.trace == ["actions[1].delay: continues after a restart, 2m left"])
        #expect(after.machine.run.trace.lines[0].after == .seconds(180))
        #expect(after.machine.run.trace.startedAt == RunKit.noon)
        after.whenTimerFires(after: .seconds(120), expect: .perform(1, .said("on\n\"2\" double_click")))
        #expect(after.result == .completed)
        #expect(after.machine.run.trace.duration == .seconds(300))
    }

    @Test("a wait is checked at once after a restart, and keeps its timeout")
    func until() throws {
        var before = Transcript<RunInWorld>(try .wait("states.door == 'open'", .seconds(25)), try .log("open"))
        before.given(.begin)
        before.wait(.seconds(5))
        var after = try resumed(before)
        after.whenTimerFires(after: .zero)
        after.when(.state(RunKit.door, .string("open")), expect: .perform(0, .said("open")))
        after = try resumed(before)
        after.given(.timerFired)
        after.whenTimerFires(
            after: .seconds(20),
            expect: .failed("actions[0].wait", "R821", "states.door == 'open' did not become true within 25s"))
    }

    @Test("a wait with else runs the steps of else if its time is over after a restart, and a run inside else goes on")
    func otherwise() throws {
        var before = Transcript<RunInWorld>(
            try .wait("states.door == 'open'", .seconds(25), otherwise: [try .delay("10s"), try .log("closed")]),
            try .log("end"))
        before.given(.begin)
        before.wait(.seconds(5))
        var after = try resumed(before)
        after.given(.timerFired)
        after.whenTimerFires(after: .seconds(20))
        after.wait(.seconds(4))
        after = try resumed(after)
        after.whenTimerFires(after: .seconds(6), expect: .perform(0, .said("closed")), .perform(1, .said("end")))
        #expect(after.result == .completed)
    }

    @Test("a run inside branches, cycles, scripts with inputs and repeats goes on where it was")
    func frames() throws {
        let inputs = ["lamp", "i", "n", "d", "b"].map { Script.Input(name: $0, type: .string) }
        let script = Script(
            name: "light", inputs: inputs,
            steps: [
                .count(
                    2, every: .seconds(10), try .delay("1s"), try .log("{{ repeat.index }} {{ inputs.lamp }}"))
            ], resultCount: 1)
        var before = Transcript<RunInWorld>(
            try .choose(
                ("false", []),
                (
                    "true",
                    [
                        .cycle(
                            [try .log("no")],
                            [
                                .script(
                                    0, with: .value(.string("hall")), .value(.integer(2)), .value(.number(2)),
                                    .value(.duration(milliseconds: 1500)), .value(.list([.boolean(true), .unknown]))),
                                try .log("cycled"),
                            ])
                    ]
                ), otherwise: []),
            try .choose(otherwise: [try .delay("2s"), try .log("otherwise")]), try .log("end"), scripts: [script])
        var world = before.machine.world
        world.cycles["hall/"] = CyclePosition(next: 1, at: RunKit.noon)
        before = Transcript(RunInWorld(world: world, run: before.machine.run), at: before.now)
        before.when(.begin, expect: .nothing)
        before.wait(.milliseconds(400))
        var after = try resumed(before)
        #expect(after.machine.run.frames.count == 5)
        #expect(after.machine.run.locals == before.machine.run.locals)
        after.whenTimerFires(after: .milliseconds(600), expect: .perform(0, .said("0 hall")))
        after.whenTimerFires(after: .seconds(9))
        after.whenTimerFires(
            after: .seconds(1), expect: .perform(1, .said("1 hall")), .perform(2, .said("cycled")))
        after = try resumed(after)
        after.whenTimerFires(after: .seconds(2), expect: .perform(3, .said("otherwise")), .perform(4, .said("end")))
    }

    @Test("the time between saving and restoring counts for elapsed times and limits")
    func time() throws {
        var before = Transcript<RunInWorld>(
            .count(5, every: .seconds(2), limit: .seconds(60), try .delay("30s"), try .log("{{ repeat.elapsed }}")))
        before.given(.begin)
        let waiting = try #require(before.machine.run.saved(in: before.machine.world, at: before.now))
        let now = Instant(sinceBoot: .seconds(3))
        let world = RunKit.world(before.machine.world.set, at: now)
        let run = try #require(Run(waiting, rule: 0, remaining: .seconds(20), in: world, at: now))
        var after = Transcript(RunInWorld(world: world, run: run), at: now)
        after.whenTimerFires(after: .seconds(20), expect: .perform(0, .said("30s")))
        after.whenTimerFires(after: .seconds(30), expect: .perform(1, .said("1m")))
        #expect(after.result == .completed)
        #expect(after.machine.run.trace.duration == .seconds(60))
    }

    @Test("a repeat while held ends after a restart with the iteration that was saved")
    func held() throws {
        var before = Transcript<RunInWorld>(
            .whileHeld(every: .seconds(2), try .delay("1s"), try .log("tick")), try .log("behind"))
        before.given(.begin)
        var after = try resumed(before)
        #expect(!after.machine.run.isRepeatingWhileHeld)
        after.whenTimerFires(after: .seconds(1), expect: .perform(0, .said("tick")), .perform(1, .said("behind")))
    }

    @Test("a run in on_error keeps the failure after a restart, and still fails")
    func onError() throws {
        var before = Transcript<RunInWorld>(
            try .delay("{{ -1s }}"), onError: [try .delay("1s"), try .log("{{ error.code }} {{ error.step }}")])
        before.given(.begin)
        var after = try resumed(before)
        after.whenTimerFires(after: .seconds(1), expect: .perform(0, .said("R803 actions[0].delay")))
        #expect(after.result == .failed)
    }

    @Test("a dry run stays a dry run after a restart, and earlier delays count for the limit")
    func bounds() throws {
        var before = Transcript<RunInWorld>(try .delay("7d"), try .log("no"), try .delay("1ms"), isDryRun: true)
        before.given(.begin)
        var after = try resumed(before)
        after.whenTimerFires(
            after: .seconds(7 * 86_400),
            expect: .failed("actions[2].delay", "R803", "the delays of one run are at most 7 days together"))
    }

    @Test("a delay that is overdue after a restart is over at once")
    func overdue() throws {
        var before = Transcript<RunInWorld>(try .delay("1s"), try .log("on"))
        before.given(.begin)
        before.wait(.seconds(2))
        let waiting = try #require(before.machine.run.saved(in: before.machine.world, at: before.now))
        let run = try #require(
            Run(waiting, rule: 0, remaining: .seconds(-60), in: before.machine.world, at: before.now))
        var after = Transcript(RunInWorld(world: before.machine.world, run: run), at: before.now)
        after.whenTimerFires(after: .zero, expect: .perform(0, .said("on")))
    }

    @Test("after a clock that was set back, a delay is no longer than before")
    func clockSetBack() throws {
        var before = Transcript<RunInWorld>(try .delay("1h"), try .log("off"))
        before.given(.begin)
        let world = before.machine.world
        let waiting = try #require(before.machine.run.saved(in: world, at: before.now))
        let run = try #require(Run(waiting, rule: 0, remaining: .seconds(1_700_000_000), in: world, at: before.now))
        var after = Transcript(RunInWorld(world: world, run: run), at: before.now)
        after.whenTimerFires(after: .seconds(3600), expect: .perform(0, .said("off")))
    }

    @Test("only runs in a delay or a wait are saved")
    func others() throws {
        for step in [try Step.run("/bin/a"), .count(2, every: .seconds(1)), try .log("done")] {
            var talk = Transcript<RunInWorld>(step)
            talk.given(.begin)
            #expect(talk.machine.run.saved(in: talk.machine.world, at: talk.now) == nil)
        }
        var retry = Transcript<RunInWorld>(try .run("/bin/a").retrying(1))
        retry.given(.begin)
        retry.given(.finished(0, RunFailureTests.failure))
        #expect(retry.machine.run.saved(in: retry.machine.world, at: retry.now) == nil)
    }

    @Test("a run whose results exceed a megabyte is not saved")
    func length() throws {
        for (count, isKept) in [(1_048_000, true), (1_049_000, false)] {
            var talk = Transcript<RunInWorld>(try .run("/bin/a").saving(), try .delay("1s"))
            talk.given(.begin)
            let facts = ResultFacts(stdout: String(repeating: "x", count: count))
            talk.given(.finished(0, .completed(facts)))
            #expect((talk.machine.run.saved(in: talk.machine.world, at: talk.now) != nil) == isKept)
        }
    }

    @Test("a run of another rule or of a changed rule is not restored")
    func otherRules() throws {
        var before = Transcript<RunInWorld>(try .delay("1s"))
        before.given(.begin)
        let world = before.machine.world
        let waiting = try #require(before.machine.run.saved(in: world, at: before.now))
        #expect(Run(waiting, rule: 0, remaining: .zero, in: world, at: before.now) != nil)
        #expect(Run(waiting, rule: 1, remaining: .zero, in: world, at: before.now) == nil)
        #expect(Run(waiting, rule: 2, remaining: .zero, in: world, at: before.now) == nil)
        var changed = world.set
        changed.rules[0].fingerprint = "as it is"
        let other = RunKit.world(changed, at: before.now)
        #expect(Run(waiting, rule: 0, remaining: .zero, in: other, at: before.now) == nil)
    }

    @Test("damaged saved text is refused, or gives a run that ends", arguments: UInt64(0)..<40)
    func damage(seed: UInt64) throws {
        var before = Transcript<RunInWorld>(
            try .choose(("true", [.count(3, every: .seconds(1), try .delay("1s"), try .log("tick"))])))
        before.given(.begin)
        let world = before.machine.world
        let waiting = try #require(before.machine.run.saved(in: world, at: before.now))
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            var octets = Array(waiting.saved.utf8)
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let place = Int.random(in: octets.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: octets[place] = UInt8.random(in: 0x20..<0x7F, using: &random)
                case 1: octets[place] = UInt8.random(in: 0x30..<0x3A, using: &random)
                default: octets.removeSubrange(place...min(octets.count - 1, place + 3))
                }
                guard !octets.isEmpty else { break }
            }
            var damaged = waiting
            damaged.saved = String(decoding: octets, as: UTF8.self)
            guard let run = Run(damaged, rule: 0, remaining: .seconds(1), in: world, at: before.now) else { continue }
            var after = Transcript(RunInWorld(world: world, run: run), at: before.now)
            for _ in 0..<20 where after.result == nil {
                guard let timer = after.timer else { break }
                after.wait(timer)
                after.given(.timerFired)
            }
            #expect(after.result != nil)
        }
    }

    @Test(
        "saved text that does not fit the rule is refused",
        arguments: [
            "", "{}", "[]", "null", "{\"wait\":\"delay\"}",
            #"{"wait":"wait","frames":[["actions",0]],"locals":[{"results":[],"inputs":[]}],"next":0,"left":0,"elapsed":0,"delayed":0,"started":0,"dry":false}"#,
            #"{"wait":"delay","frames":[["actions",1]],"locals":[{"results":[],"inputs":[]}],"next":0,"left":0,"elapsed":0,"delayed":0,"started":0,"dry":false}"#,
            #"{"wait":"delay","frames":[["on_error",0]],"locals":[{"results":[],"inputs":[]}],"next":0,"left":0,"elapsed":0,"delayed":0,"started":0,"dry":false}"#,
            #"{"wait":"delay","frames":[],"locals":[{"results":[],"inputs":[]}],"next":0,"left":0,"elapsed":0,"delayed":0,"started":0,"dry":false}"#,
            #"{"wait":"delay","frames":[["actions",0]],"locals":[],"next":0,"left":0,"elapsed":0,"delayed":0,"started":0,"dry":false}"#,
            #"{"wait":"delay","frames":[["actions",0]],"locals":[{"results":[],"inputs":[]}],"next":-1,"left":0,"elapsed":0,"delayed":0,"started":0,"dry":false}"#,
            #"{"wait":"delay","frames":[["actions",0]],"locals":[{"results":[],"inputs":[]}],"next":0,"left":0,"elapsed":-1,"delayed":0,"started":0,"dry":false}"#,
            #"{"wait":"delay","frames":[["actions",0]],"locals":[{"results":[],"inputs":[]}],"next":9223372036854775807,"left":0,"elapsed":0,"delayed":0,"started":0,"dry":false}"#,
            #"{"wait":"delay","frames":[["actions",0]],"locals":[{"results":[],"inputs":[]}],"next":0,"left":0,"elapsed":0,"delayed":0,"started":0,"dry":false,"error":["a"]}"#,
        ])
    func notation(_ saved: String) throws {
        let set = RunKit.set([try .delay("1s")], onError: [try .delay("1s")])
        let now = Instant(sinceBoot: .zero)
        let world = RunKit.world(set, at: now)
        var waiting = WaitingRun(
            run: RunKit.id, rule: RunKit.rule, fingerprint: "as it was", cause: RunKit.cause,
            endsAt: RunKit.noon, saved: saved)
        #expect(Run(waiting, rule: 0, remaining: .zero, in: world, at: now) == nil)
        waiting.saved =
            #"{"wait":"delay","frames":[["actions",0]],"locals":[{"results":[],"inputs":[]}],"next":0,"left":0,"elapsed":0,"delayed":0,"started":0,"dry":false}"#
        #expect(Run(waiting, rule: 0, remaining: .zero, in: world, at: now) != nil)
    }
}

@Suite("A run during a reload")
struct RunReloadTests {
    @Test("a run goes on in a set in which its rule and script have other indices")
    func moved() throws {
        let script = Script(name: "light", steps: [try .delay("1s"), try .log("on")])
        let first = RunKit.set([.script(0), try .log("behind")], scripts: [script])
        var second = RunKit.set([.script(1), try .log("behind")], scripts: [Script(name: "new"), script])
        second.rules.insert(second.rules.remove(at: 1), at: 0)
        var talk = Transcript<RunInWorld>(set: first)
        talk.given(.begin)
        var run = talk.machine.run
        run.rule = 1
        talk = Transcript(RunInWorld(world: RunKit.world(second, at: talk.now), run: run), at: talk.now)
        talk.whenTimerFires(after: .seconds(1), expect: .perform(0, .said("on")), .perform(1, .said("behind")))
        #expect(talk.result == .completed)
    }

    @Test("a run in a set that it was not made for ends and does not trap")
    func strange() throws {
        var talk = Transcript<RunInWorld>(
            try .choose(("true", [.count(2, every: .seconds(1), try .run("/bin/a"))])), try .log("no"))
        talk.given(.begin)
        let world = RunKit.world(RunKit.set([]), at: talk.now)
        for rule in [0, 5] {
            var run = talk.machine.run
            run.rule = rule
            var other = Transcript(RunInWorld(world: world, run: run), at: talk.now)
            other.when(.finished(0, .completed()), expect: .nothing)
            #expect(other.result == .completed)
        }
    }
}
