import ButtonModel
import Expressions
import JSON
import TestSupport
import Testing

@testable import Rules

@Suite("Steps of a run")
struct RunStepTests {
    @Test("a message is done when the broker has accepted it, and then the next step begins")
    func publish() throws {
        var talk = Transcript<RunInWorld>(
            try .publish("lamp/{{ trigger.button }}/set", "{{ states.lux }}"), try .run("/bin/true"))
        talk.when(.begin, expect: .perform(0, .message("lamp/hall/set", "30")))
        #expect(talk.timer == nil)
        talk.when(.finished(0, .completed()), expect: .perform(1, .program("/bin/true")))
        talk.when(.finished(1, .completed()), expect: .nothing)
        #expect(talk.result == .completed)
    }

    @Test("values in JSON keep their types, and a value cannot end a JSON string")
    func json() throws {
        let json = JSONTemplate.object([
            .init("state", .value("ON")), .init("lux", .template(try RunKit.text("{{ states.lux + 0.5 }}"))),
            .init("late", .template(try RunKit.text("{{ trigger.queued }}"))),
            .init("names", .array([.template(try RunKit.text("<{{ variables.name }}>"))])),
        ])
        var talk = Transcript<RunInWorld>(try .publish("lamp/set", json: json))
        talk.given(.variable(RunKit.name, .string(#"a", "b": "c"#)))
        talk.when(
            .begin,
            expect: .perform(
                0, .message("lamp/set", #"{"state":"ON","lux":30.5,"late":false,"names":["<a\", \"b\": \"c>"]}"#)))
    }

    @Test("a request's URL has percent-encoded values, and a JSON body sets the content type")
    func http() throws {
        let body = PayloadTemplate.json(.object([.init("from", .template(try RunKit.text("{{ trigger.button }}")))]))
        var talk = Transcript<RunInWorld>(
            try .http(
                "https://example.net/{{ variables.name }}?x=1", headers: ["X-Event": "{{ trigger.event }}"], body: body)
        )
        talk.given(.variable(RunKit.name, .string("a/b&c")))
        talk.when(
            .begin,
            expect: .perform(
                0,
                .http(
                    HTTPAction(
                        url: "https://example.net/a%2Fb%26c?x=1", method: "POST",
                        headers: ["X-Event: double_click", "Content-Type: application/json"],
                        body: Array(#"{"from":"hall"}"#.utf8)))))
        talk.when(.finished(0, .completed(ResultFacts(status: 204))), expect: .nothing)
        #expect(talk.result == .completed)
    }

    @Test("a content type given by the step replaces the default one")
    func contentType() throws {
        var talk = Transcript<RunInWorld>(
            try .http(
                "https://example.net/", headers: ["content-type": "application/ld+json"], body: .json(.value([:]))))
        talk.when(
            .begin,
            expect: .perform(
                0,
                .http(
                    HTTPAction(
                        url: "https://example.net/", method: "POST", headers: ["content-type: application/ld+json"],
                        body: Array("{}".utf8)))))
    }

    @Test("a run of log steps only is over at once")
    func log() throws {
        var talk = Transcript<RunInWorld>(try .log("{{ trigger.clicks }} clicks"), try .log("done"))
        talk.when(.begin, expect: .perform(0, .said("2 clicks")), .perform(1, .said("done")))
        #expect(talk.result == .completed)
    }

    @Test("a disabled step is skipped")
    func disabled() throws {
        var talk = Transcript<RunInWorld>(try .log("no").switchedOff(), try .log("yes"))
        talk.when(.begin, expect: .perform(0, .said("yes")))
    }

    @Test("later steps can read the result of a program")
    func results() throws {
        var talk = Transcript<RunInWorld>(
            try .run("/bin/date").saving(), try .log("{{ results.answer.ok }} {{ results.answer.stdout }}"))
        talk.given(.begin)
        talk.when(
            .finished(0, .completed(ResultFacts(isOK: false, stdout: "noon"))), expect: .perform(1, .said("true noon")))
    }

    @Test("stop ends the run as completed, also inside a branch")
    func stop() throws {
        var talk = Transcript<RunInWorld>(
            try .choose(("states.lux > 20", [try .log("bright"), try .stop("no need"), try .log("no")])),
            try .log("no"))
        talk.when(.begin, expect: .perform(0, .said("bright")))
        #expect(talk.result == .completed)
    }

    @Test("the first branch whose condition holds is taken, else the default, else none")
    func choose() throws {
        let choose = try Step.choose(
            ("states.lux < 20", [try .log("dark")]), ("states.lux < 50", [try .log("dim")]),
            otherwise: [try .log("bright")])
        for (lux, word) in [(10, "dark"), (20, "dim"), (50, "bright")] {
            var talk = Transcript<RunInWorld>(choose, try .log("behind"))
            talk.given(.state(RunKit.lux, .integer(Int64(lux))))
            talk.when(.begin, expect: .perform(0, .said(word)), .perform(1, .said("behind")))
        }
        var talk = Transcript<RunInWorld>(try .choose(("states.lux < 20", [try .log("dark")])), try .log("behind"))
        talk.when(.begin, expect: .perform(0, .said("behind")))
    }

    @Test("a branch's condition is evaluated when the branch is reached, and a failure counts as false")
    func branches() throws {
        var talk = Transcript<RunInWorld>(
            try .set(RunKit.volume, "{{ 80 }}"),
            try .choose(
                ("integer(variables.name) > 0", [try .log("no")]), ("variables.volume == 80", [try .log("loud")])))
        talk.when(.begin, expect: .perform(0, .said("loud")))
        #expect(talk.result == .completed)
    }

    @Test("enable and disable steps record a change for each rule, of which the last counts")
    func enable() {
        var talk = Transcript<RunInWorld>(Step(.enable([1], true)), Step(.enable([1, 0], false)))
        talk.when(.begin, expect: .nothing)
        #expect(talk.machine.world.changed == [.enable(1, false), .enable(0, false)])
    }

    @Test("a dry run performs, assigns and enables nothing, and traces every step")
    func dryRun() throws {
        var talk = Transcript<RunInWorld>(
            try .publish("lamp/set"), try .run("/bin/date").saving(), try .http("https://example.net/"),
            try .choose(("results.answer.ok", [try .log("ok {{ results.answer.stdout }}")])),
            try .set(RunKit.volume, "{{ 80 }}"), .cycle([try .log("one")], [try .log("two")]),
            Step(.enable([1], false)), try .delay("1s"), isDryRun: true)
        let world = talk.machine.world
        talk.when(.begin, expect: .nothing)
        talk.whenTimerFires(after: .seconds(1))
        #expect(talk.result == .completed)
        #expect(talk.machine.world.variables == world.variables)
        #expect(talk.machine.world.cycles.isEmpty)
        #expect(talk.machine.world.changed.isEmpty)
        #expect(
            talk.trace == [
                "actions[0].publish: publish lamp/set on, not performed",
                "actions[1].run: run /bin/date, not performed",
                "actions[2].http: http POST https://example.net/, not performed",
                "actions[3].choose: branch 1 true: results.answer.ok is true", ": info: ok ",
                "actions[4].set: volume = 80, not assigned", "actions[5].cycle: entry 1 of 2", ": info: one",
                "actions[6].disable: other", "actions[7].delay: waits 1s", "actions[7].delay: completed",
            ])
    }
}

@Suite("Scripts")
struct RunScriptTests {
    @Test("a script gets the inputs it is given, and its defaults for the others")
    func inputs() throws {
        let script = Script(
            name: "light", inputs: [.init(name: "lamp", type: .string, defaultValue: .string("porch"))],
            steps: [try .publish("{{ inputs.lamp }}/set")])
        var talk = Transcript<RunInWorld>(
            .script(0, with: try RunKit.value("{{ trigger.button }}")), .script(0, with: nil), scripts: [script])
        talk.when(.begin, expect: .perform(0, .message("hall/set")))
        talk.when(.finished(0, .completed()), expect: .perform(1, .message("porch/set")))
    }

    @Test("a script and its caller do not see each other's results")
    func results() throws {
        let script = Script(
            name: "ask", inputs: [],
            steps: [
                try .choose(("known(results.answer.stdout)", [try .log("no")])),
                try .run("/bin/b").saving(), try .log("inside {{ results.answer.stdout }}"),
            ], resultCount: 1)
        var talk = Transcript<RunInWorld>(
            try .run("/bin/a").saving(), .script(0), try .log("outside {{ results.answer.stdout }}"),
            scripts: [script])
        talk.given(.begin)
        talk.when(.finished(0, .completed(ResultFacts(stdout: "a"))), expect: .perform(1, .program("/bin/b")))
        talk.when(
            .finished(1, .completed(ResultFacts(stdout: "b"))), expect: .perform(2, .said("inside b")),
            .perform(3, .said("outside a")))
        #expect(talk.result == .completed)
    }

    @Test("nested scripts are bounded to 64 steps inside one another")
    func depth() {
        let endless = Script(name: "endless", steps: [.script(0)])
        var talk = Transcript<RunInWorld>(.script(0), scripts: [endless])
        talk.when(
            .begin, expect: .failed("endless.actions[0].script", "R804", "more than 64 nested steps"))
        #expect(talk.trace.count { $0.hasSuffix("script endless") } == 63)
        #expect(talk.result == .failed)
    }

    @Test("a run that makes more than 10000 steps without waiting fails")
    func breadth() {
        let scripts = (0..<30).map { Script(name: "s\($0)", steps: [.script($0 + 1), .script($0 + 1)]) }
        var talk = Transcript<RunInWorld>(.script(0), scripts: scripts + [Script(name: "last")])
        let effects = talk.given(.begin)
        #expect(effects.count == 1)
        #expect(talk.trace.count + talk.machine.run.trace.omitted == 10_001)
        #expect(talk.result == .failed)
    }
}
