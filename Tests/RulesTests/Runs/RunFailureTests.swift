import ButtonModel
import Expressions
import JSON
import TestSupport
import Testing

@testable import Rules

@Suite("Values that cannot be inserted")
struct RunValueFailureTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var code: String
        var message: String
        /// The value of `variables.name`.
        var name = ""
        var step: @Sendable () throws -> Step
        var testDescription: String { code + " " + message }

        init(_ code: String, _ message: String, name: String = "", _ step: @escaping @Sendable () throws -> Step) {
            self.code = code
            self.message = message
            self.name = name
            self.step = step
        }
    }

    static let long = String(repeating: "x", count: 65_536)

    static let cases = [
        Case("R801", "states.door is unknown") { try .publish("a", "{{ states.door }}") },
        Case("R801", "states.door is unknown") {
            try .publish("a", json: .template(try RunKit.text("{{ states.door }}")))
        },
        Case("R802", "division by zero") { try .log("{{ 1 // (states.lux - 30) }}") },
        Case("R803", "\"soon\" is not a duration", name: "soon") { try .delay("{{ variables.name }}") },
        Case("R803", "a long text is not a duration", name: long) { try .delay("{{ variables.name }}") },
        Case("R803", "30 is not a duration") { try .delay("{{ states.lux }}") },
        Case("R803", "an unknown value is not a duration") { try .delay("{{ states.door }}") },
        Case("R803", "a delay cannot be -1s") { try .delay("{{ -1s }}") },
        Case("R803", "the delays of one run are at most 7 days together") { try .delay("{{ 7d + 1ms }}") },
        Case("R804", "the text is longer than 64 KiB", name: long) { try .log("{{ variables.name }}!") },
        Case("R804", "the topic is longer than 65535 octets", name: long) { try .publish("{{ variables.name }}") },
        Case("R804", "the values in the JSON are longer than 64 KiB", name: long) {
            try .publish("a", json: .array([.template(try RunKit.text("{{ variables.name }}"))]))
        },
        Case("R804", "the arguments together are longer than 128 KiB", name: long) {
            try .run("/bin/echo", "{{ variables.name }}", "{{ variables.name }}")
        },
        Case("R804", "the environment variables together are longer than 128 KiB", name: String(long.dropLast(2))) {
            try .run("/bin/echo", env: ["A": "{{ variables.name }}", "B": "{{ variables.name }}"])
        },
        Case("R811", "{{ variables.name }} begins with - and would be an option; write \"--\" before it", name: "-x") {
            try .run("/bin/rm", "{{ variables.name }}")
        },
        Case("R812", "a value with a NUL cannot be part of an argument", name: "a\0b") {
            try .run("/bin/echo", "{{ variables.name }}")
        },
        Case("R812", "a value with a NUL cannot be part of an environment variable", name: "a\0b") {
            try .run("/bin/echo", env: ["NAME": "{{ variables.name }}"])
        },
        Case("R831", "a value with / cannot be part of a topic", name: "a/b") {
            try .publish("lamp/{{ variables.name }}")
        },
        Case("R831", "an empty value cannot be part of a topic") { try .publish("lamp/{{ variables.name }}") },
        Case("R832", "a value with a line break or a NUL cannot be part of a header", name: "a\r\nb") {
            try .http("https://example.net/", headers: ["X": "{{ variables.name }}"])
        },
        Case("R832", "the header X has a line break or a NUL") {
            let header = ProcessStep.Variable("X", Template(literal: "a\nb"))
            return Step(.http(HTTPStep(url: Template(literal: "https://example.net/"), headers: [header])))
        },
    ]

    @Test("a value that cannot be used fails the step before it is performed, without a retry", arguments: cases)
    func values(of failing: Case) throws {
        var talk = Transcript<RunInWorld>(try failing.step().named("it").retrying(3), try .log("no"))
        talk.given(.variable(RunKit.name, .string(failing.name)))
        talk.when(.begin, expect: .failed("it", failing.code, failing.message))
        #expect(talk.result == .failed)
    }
}

@Suite("Values at their bounds")
struct RunValueBoundTests {
    private func begin(_ step: Step, _ count: Int) -> [RuleEngine.Effect] {
        var talk = Transcript<RunInWorld>(step)
        talk.given(.variable(RunKit.name, .string(String(repeating: "x", count: count))))
        return talk.given(.begin)
    }

    @Test("a topic of 65535 octets, JSON with 64 KiB of values and a delay of 7 days are accepted")
    func bounds() throws {
        let topic = String(repeating: "x", count: 65_535)
        #expect(begin(try .publish("{{ variables.name }}"), 65_535) == [.perform(0, .message(topic))])
        let json = JSONTemplate.template(try RunKit.text("{{ variables.name }}"))
        let text = String(repeating: "x", count: 65_534)
        #expect(begin(try .publish("a", json: json), 65_534) == [.perform(0, .message("a", "\"\(text)\""))])
        #expect(begin(try .delay("{{ 7d }}"), 0) == [])
    }
}

@Suite("Failing steps")
struct RunFailureTests {
    static let failure = ActionResult.failed(code: "R822", message: "exit status 1")

    @Test("a step that fails fails the run")
    func failure() throws {
        var talk = Transcript<RunInWorld>(try .run("/bin/false"), try .log("no"))
        talk.given(.begin)
        talk.when(.finished(0, Self.failure), expect: .failed("actions[0].run", "R822", "exit status 1"))
        #expect(talk.result == .failed)
        talk.when(.finished(0, .completed()), expect: .nothing)
        talk.when(.cancel, expect: .nothing)
    }

    @Test("only the first line of a failure's message is kept")
    func oneLine() throws {
        var talk = Transcript<RunInWorld>(try .run("/bin/false"))
        talk.given(.begin)
        talk.when(
            .finished(0, .failed(code: "R822", message: "exit status 1: no such file\nusage: …")),
            expect: .failed("actions[0].run", "R822", "exit status 1: no such file"))
    }

    @Test("a program and a request are cancelled at their time limit and not before")
    func timeout() throws {
        for (step, word, wait) in [
            (try Step.run("/bin/sleep"), "run", 30), (try Step.http("https://example.net/"), "http", 10),
        ] {
            var talk = Transcript<RunInWorld>(step)
            talk.given(.begin)
            #expect(talk.timer == .seconds(wait))
            talk.wait(.seconds(wait) - .milliseconds(1))
            talk.when(.timerFired, expect: .nothing)
            talk.wait(.milliseconds(1))
            talk.when(
                .timerFired, expect: .cancel(0),
                .failed("actions[0].\(word)", "R821", "\(word) did not finish within \(wait)s"))
            #expect(talk.result == .failed)
        }
    }

    @Test("the time limit of a message begins when the message is first handed to the broker")
    func messageTimeout() throws {
        var talk = Transcript<RunInWorld>(try .publish("a").within(.seconds(2)))
        talk.given(.begin)
        talk.wait(.seconds(60))
        talk.when(.timerFired, expect: .nothing)
        talk.when(.handedOver(1), expect: .nothing)
        talk.when(.handedOver(0), expect: .nothing)
        talk.wait(.seconds(1))
        talk.when(.handedOver(0), expect: .nothing)
        talk.whenTimerFires(
            after: .seconds(1), expect: .cancel(0),
            .failed("actions[0].publish", "R821", "publish did not finish within 2s"))
    }

    @Test("a message that fails because the broker was away fails its step")
    func offline() throws {
        var talk = Transcript<RunInWorld>(try .publish("a"))
        talk.given(.begin)
        talk.when(
            .finished(0, .failed(code: "R824", message: "the broker was away for 5s")),
            expect: .failed("actions[0].publish", "R824", "the broker was away for 5s"))
    }

    @Test(
        "a status decides whether an HTTP request failed",
        arguments: [(200, true), (299, true), (300, false), (304, true), (404, false), (199, false), (0, false)])
    func status(_ status: Int, isExpected: Bool) throws {
        var talk = Transcript<RunInWorld>(
            try .http("https://example.net/", expect: [.family(2), .exactly(304)]).saving().continuing(),
            try .log("{{ results.answer.ok }} {{ results.answer.status }} {{ results.answer.body }}"))
        talk.given(.begin)
        let answer = RunInWorld.Input.finished(0, .completed(ResultFacts(status: Int64(status), body: "hello")))
        if isExpected {
            talk.when(answer, expect: .perform(1, .said("true \(status) hello")))
        } else {
            talk.when(
                answer,
                expect: .failed(
                    "actions[0].http", "R823", "the server answered \(status), not 2xx or 304", isFinal: false),
                .perform(1, .said("false \(status) hello")))
        }
    }

    @Test("with continue_on_error a failure is reported and saved, and the run goes on")
    func continuing() throws {
        var talk = Transcript<RunInWorld>(
            try .run("/bin/false").continuing().saving(),
            try .log("{{ results.answer.ok }} {{ results.answer.status }} {{ results.answer.stderr }}"))
        talk.given(.begin)
        talk.when(
            .finished(
                0, .failed(code: "R822", message: "exit status 3", ResultFacts(isOK: true, status: 3, stderr: "oh"))),
            expect: .failed("actions[0].run", "R822", "exit status 3", isFinal: false),
            .perform(1, .said("false 3 oh")))
        #expect(talk.result == .completed)
    }

    @Test("a failure inside a step with continue_on_error ends only that step")
    func continuingAround() throws {
        let script = Script(name: "light", steps: [try .run("/bin/false"), try .log("no")])
        var talk = Transcript<RunInWorld>(
            .count(3, every: .seconds(1), try .choose(("true", [.script(0), try .log("no")]))).continuing(),
            try .log("behind"), scripts: [script])
        talk.given(.begin)
        talk.when(
            .finished(0, Self.failure),
            expect: .failed("light.actions[0].run", "R822", "exit status 1", isFinal: false),
            .perform(1, .said("behind")))
        #expect(talk.result == .completed)
    }

    @Test("answers for other steps change nothing")
    func stray() throws {
        var talk = Transcript<RunInWorld>(try .run("/bin/a"), try .run("/bin/b"))
        talk.given(.begin)
        talk.when(.finished(1, .completed()), expect: .nothing)
        talk.when(.finished(0, .completed()), expect: .perform(1, .program("/bin/b")))
        talk.when(.finished(0, .completed()), expect: .nothing)
        talk.when(.handedOver(1), expect: .nothing)
        #expect(talk.timer == .seconds(30))
    }
}
