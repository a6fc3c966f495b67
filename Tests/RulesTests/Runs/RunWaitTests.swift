import ButtonModel
import Expressions
import TestSupport
import Testing

@testable import Rules

@Suite("Delays and waits")
struct RunWaitTests {
    @Test("a delay takes its time, and no answer or change ends it earlier")
    func delay() throws {
        var talk = Transcript<RunInWorld>(try .delay("1m30s"), try .log("on"))
        talk.when(.begin, expect: .nothing)
        talk.when(.finished(0, .completed()), expect: .nothing)
        talk.when(.state(RunKit.lux, .integer(1)), expect: .nothing)
        talk.when(.released, expect: .nothing)
        talk.wait(.milliseconds(89_999))
        talk.when(.timerFired, expect: .nothing)
        talk.whenTimerFires(after: .milliseconds(1), expect: .perform(0, .said("on")))
    }

    @Test(
        "a delay is a duration or a text that can be read as a duration",
        arguments: ["{{ 2s * 3 }}", "{{ variables.name }}", "6s"])
    func durations(_ text: String) throws {
        var talk = Transcript<RunInWorld>(try .delay(text))
        talk.given(.variable(RunKit.name, .string("6s")))
        talk.given(.begin)
        #expect(talk.timer == .seconds(6))
    }

    @Test("all delays of a run together are at most seven days")
    func total() throws {
        var talk = Transcript<RunInWorld>(try .delay("3d12h"), try .delay("3d12h"), try .delay("1ms"))
        talk.given(.begin)
        talk.whenTimerFires(after: .seconds(302_400))
        talk.whenTimerFires(
            after: .seconds(302_400),
            expect: .failed("actions[2].delay", "R803", "the delays of one run are at most 7 days together"))
    }

    @Test("a wait is over when its condition becomes true")
    func until() throws {
        var talk = Transcript<RunInWorld>(try .wait("states.door == 'open'", .seconds(25)), try .log("open"))
        talk.when(.begin, expect: .nothing)
        #expect(talk.machine.run.isWaitingForWorld)
        talk.when(.state(RunKit.door, .string("closed")), expect: .nothing)
        talk.when(.state(RunKit.door, .string("open")), expect: .perform(0, .said("open")))
        #expect(!talk.machine.run.isWaitingForWorld)
    }

    @Test("a wait whose condition is true does not wait")
    func already() throws {
        var talk = Transcript<RunInWorld>(try .wait("states.lux == 30", .seconds(25)), try .log("done"))
        talk.when(.begin, expect: .perform(0, .said("done")))
    }

    @Test("a wait whose condition does not hold within its timeout fails with R821")
    func timeout() throws {
        var talk = Transcript<RunInWorld>(try .wait("states.door == 'open'", .seconds(25)))
        talk.given(.begin)
        talk.whenTimerFires(
            after: .seconds(25),
            expect: .failed("actions[0].wait", "R821", "states.door == 'open' did not become true within 25s"))
    }

    @Test("with else, the end of the time is no failure: the steps of else run, then the steps after the wait")
    func otherwise() throws {
        func talk() throws -> Transcript<RunInWorld> {
            Transcript<RunInWorld>(
                try .wait("states.door == 'open'", .seconds(25), otherwise: [try .log("closed"), try .delay("1s")]),
                try .log("end"))
        }
        var over = try talk()
        over.when(.begin, expect: .nothing)
        over.whenTimerFires(after: .seconds(25), expect: .perform(0, .said("closed")))
        over.when(.state(RunKit.door, .string("open")), expect: .nothing)
        over.whenTimerFires(after: .seconds(1), expect: .perform(1, .said("end")))
        #expect(over.result == .completed)
        #expect(
            over.trace == [
                "actions[0].wait: waits until states.door == 'open'",
                "actions[0].wait: states.door == 'open' is false (states.door = unknown)",
                "actions[0].wait: else: 25s is over", ": info: closed", ": waits 1s", ": completed",
                "actions[1].log: info: end",
            ])
        var open = try talk()
        open.when(.begin, expect: .nothing)
        open.when(.state(RunKit.door, .string("open")), expect: .perform(0, .said("end")))
        #expect(open.result == .completed)
    }

    @Test("a condition that cannot be evaluated counts as false, and the wait goes on")
    func failure() throws {
        var talk = Transcript<RunInWorld>(try .wait("integer(variables.name) > 3", .seconds(25)), try .log("on"))
        talk.when(.begin, expect: .nothing)
        talk.when(.variable(RunKit.name, .string("4")), expect: .perform(0, .said("on")))
    }

    @Test("a condition that depends on the time is checked every second")
    func time() throws {
        var talk = Transcript<RunInWorld>(
            .count(1, every: .seconds(1), try .wait("repeat.elapsed >= 2s", .seconds(25)), try .log("on")))
        talk.when(.begin, expect: .nothing)
        talk.whenTimerFires(after: .seconds(1))
        talk.whenTimerFires(after: .seconds(1), expect: .perform(0, .said("on")))
    }
}

@Suite("Cancelled runs")
struct RunCancelTests {
    /// Cancels the run, expects these effects, and expects no effect of any later input.
    private func expectCancelled(
        _ talk: inout Transcript<RunInWorld>, _ effects: RuleEngine.Effect...,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) {
        #expect(talk.given(.cancel) == effects, sourceLocation: sourceLocation)
        #expect(talk.result == .cancelled, sourceLocation: sourceLocation)
        #expect(talk.timer == nil, sourceLocation: sourceLocation)
        #expect(!talk.machine.run.isWaitingForWorld && !talk.machine.run.isRepeatingWhileHeld)
        talk.wait(.seconds(10_000))
        talk.when(.cancel, expect: .nothing, sourceLocation: sourceLocation)
        talk.when(.timerFired, expect: .nothing, sourceLocation: sourceLocation)
        talk.when(.begin, expect: .nothing, sourceLocation: sourceLocation)
        talk.when(.finished(0, .completed()), expect: .nothing, sourceLocation: sourceLocation)
        talk.when(.state(RunKit.door, .string("open")), expect: .nothing, sourceLocation: sourceLocation)
        talk.when(.released, expect: .nothing, sourceLocation: sourceLocation)
    }

    private static func begun(_ steps: Step...) throws -> Transcript<RunInWorld> {
        var talk = Transcript<RunInWorld>(set: RunKit.set(steps + [try .log("no")], onError: [try .log("no")]))
        talk.given(.begin)
        return talk
    }

    @Test("cancelling a run cancels its message, program or request")
    func performed() throws {
        for step in [try Step.publish("a"), try .run("/bin/a"), try .http("https://example.net/")] {
            var talk = try Self.begun(step)
            expectCancelled(&talk, .cancel(0))
        }
    }

    @Test("a run is cancelled during a delay and during a wait")
    func waits() throws {
        var delay = try Self.begun(try .delay("1s"))
        expectCancelled(&delay)
        var wait = try Self.begun(try .wait("states.door == 'open'", .seconds(9)))
        expectCancelled(&wait)
    }

    @Test("a run is cancelled between two attempts of a retry")
    func retry() throws {
        var talk = try Self.begun(try .run("/bin/a").retrying(2))
        talk.given(.finished(0, RunFailureTests.failure))
        expectCancelled(&talk)
    }

    @Test("a run is cancelled between two iterations of a repeat, and during one")
    func repetition() throws {
        var between = try Self.begun(.whileHeld(every: .seconds(1), try .log("tick")))
        expectCancelled(&between)
        var inside = try Self.begun(.count(9, every: .seconds(1), try .run("/bin/a")))
        expectCancelled(&inside, .cancel(0))
    }

    @Test("a run is cancelled during on_error")
    func onError() throws {
        var talk = Transcript<RunInWorld>(try .delay("{{ -1s }}"), onError: [try .delay("1s"), try .log("no")])
        talk.given(.begin)
        expectCancelled(&talk)
    }
}
