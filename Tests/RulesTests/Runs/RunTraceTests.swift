import ButtonModel
import Expressions
import TestSupport
import Testing

@testable import Rules

@Suite("Trace of a run")
struct RunTraceTests {
    @Test("a trace has each step with its outcome and each decision with the values it saw")
    func lines() throws {
        let script = Script(name: "light", steps: [try .publish("lamp/set").named("lamp on")])
        var talk = Transcript<RunInWorld>(
            try .choose(("states.lux < 20", []), otherwise: [.script(0)]), try .set(RunKit.volume, "{{ 80 }}"),
            try .run("/bin/a", "two words").retrying(1), try .delay("1s"),
            try .wait("states.lux < 20", .seconds(5)), try .stop("enough"), scripts: [script])
        talk.given(.begin)
        talk.wait(.milliseconds(12))
        talk.given(.finished(0, .completed()))
        talk.given(.finished(1, RunFailureTests.failure))
        talk.wait(.seconds(1))
        talk.given(.timerFired)
        talk.given(.finished(2, .completed()))
        talk.wait(.seconds(1))
        talk.given(.timerFired)
        talk.wait(.seconds(2))
        talk.given(.state(RunKit.lux, .integer(3)))
        #expect(
            talk.trace == [
                "actions[0].choose: branch 1 false: states.lux < 20 is false (states.lux = 30)",
                "actions[0].choose: default", ": script light", "lamp on: publish lamp/set on",
                "lamp on: completed in 12ms", "actions[1].set: volume = 80", "actions[2].run: run /bin/a two words",
                "actions[2].run: R822 exit status 1; retried in 1s", "actions[2].run: completed in 0s",
                "actions[3].delay: waits 1s", "actions[3].delay: completed",
                "actions[4].wait: waits until states.lux < 20",
                "actions[4].wait: states.lux < 20 is true (states.lux = 3)", "actions[4].wait: completed in 2s",
                "actions[5].stop: stops the run: enough",
            ])
        let trace = talk.machine.run.trace
        #expect(trace.lines.map(\.after).last == .milliseconds(4012))
        #expect(trace.duration == .milliseconds(4012))
        #expect(trace.result == .completed)
        #expect(trace.startedAt == RunKit.noon)
    }

    @Test("a program's error output and a server's status are in the trace once")
    func remarks() throws {
        var talk = Transcript<RunInWorld>(
            try .run("/bin/a"), try .run("/bin/b").continuing(), try .run("/bin/c").continuing(),
            try .http("https://example.net/"))
        talk.given(.begin)
        talk.given(.finished(0, .completed(ResultFacts(stderr: "careful\nmore"))))
        let facts = ResultFacts(status: 3, stderr: "no such file\nusage")
        talk.given(.finished(1, .failed(code: "R822", message: "exit status 3", facts)))
        talk.given(.finished(2, .failed(code: "R822", message: "exit status 3: no such file", facts)))
        talk.given(.finished(3, .completed(ResultFacts(status: 204))))
        let answers = talk.trace.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        #expect(
            answers == [
                "actions[0].run: completed in 0s: careful", "actions[1].run: R822 exit status 3: no such file",
                "actions[2].run: R822 exit status 3: no such file", "actions[3].http: completed in 0s: status 204",
            ])
    }

    @Test("a trace keeps at most 200 lines and counts the others")
    func bound() throws {
        var talk = Transcript<RunInWorld>(set: RunKit.set(Array(repeating: try .log("again"), count: 250)))
        talk.given(.begin)
        #expect(talk.trace.count == 200)
        #expect(talk.machine.run.trace.omitted == 50)
    }

    @Test("a long text is omitted and not cut, so that no part of a secret stays visible")
    func longTexts() throws {
        var talk = Transcript<RunInWorld>(try .log("{{ variables.name }}"))
        talk.given(.variable(RunKit.name, .string(String(repeating: "s3cret ", count: 30))))
        talk.given(.begin)
        #expect(talk.trace == ["actions[0].log: info: (210 octets)"])
    }

    @Test("a trace shows no headers, environment or standard input")
    func secrets() throws {
        var talk = Transcript<RunInWorld>(
            try .run("/bin/a", stdin: "s3cret", env: ["TOKEN": "s3cret"]),
            try .http(
                "https://example.net/", headers: ["Authorization": "s3cret"], body: .text(try RunKit.text("s3cret"))))
        talk.given(.begin)
        talk.given(.finished(0, .completed()))
        talk.given(.finished(1, .completed(ResultFacts(status: 200))))
        #expect(talk.trace.count == 4)
        #expect(!talk.trace.contains { $0.contains("s3cret") })
    }

    @Test("the trace of a cancelled run ends with the step it was in")
    func cancelled() throws {
        var talk = Transcript<RunInWorld>(try .delay("1m"))
        talk.given(.begin)
        talk.wait(.seconds(3))
        talk.given(.cancel)
        #expect(talk.trace.last == "actions[0].delay: cancelled: the rule was changed")
        #expect(talk.machine.run.trace.result == .cancelled)
        #expect(talk.machine.run.trace.duration == .seconds(3))
    }
}
