import ButtonModel
import Diagnostics
import Expressions
import Gestures
import JSON
import RuleLoader
import Rules
import Testing
import YAMLFiles

@Suite("What a test of rules says")
struct RuleTestTests {
    private func test(
        _ lines: String, in environment: LoadInputs = LoadInputs(),
        _ location: Testing.SourceLocation = #_sourceLocation
    ) throws -> RuleTest {
        let set = try LoadedText.good(RuleTestTests.text(lines), in: environment, location)
        return try #require(set.tests.first, sourceLocation: location)
    }

    private static func text(_ lines: String) -> String {
        LoadedSteps.text("- log: a", rest: "tests:\n  - " + lines.replacing("\n", with: "\n    "))
            .replacing("longitude: 5.12}", with: "longitude: 5.12, timezone: Europe/Amsterdam}")
    }

    private static let zones = (try? Project.zone("Europe/Amsterdam")).map { ["Europe/Amsterdam": $0] } ?? [:]

    private func step(_ step: String, _ location: Testing.SourceLocation = #_sourceLocation) throws -> TestStep.Kind {
        let environment = LoadInputs(timeZones: RuleTestTests.zones)
        let test = try test("name: a\nsteps:\n  - \(step)", in: environment, location)
        return try #require(test.steps.first, sourceLocation: location).kind
    }

    private func effect(_ effect: String, _ location: Testing.SourceLocation = #_sourceLocation) throws
        -> ExpectedEffect
    {
        guard case .expect(let effects) = try step("expect: [\(effect)]", location) else {
            Issue.record("not an expect", sourceLocation: location)
            throw CancellationError()
        }
        return try #require(effects.first, sourceLocation: location)
    }

    // MARK: given

    @Test("what is not given is as it always is")
    func standard() throws {
        let test = try test("name: a\nsteps: [{advance: 1s}]", in: LoadInputs(timeZones: Self.zones))
        #expect(test == RuleTest(name: "a", given: RuleTest.Given(), steps: [TestStep(.advance(.seconds(1)))]))
        #expect(test.location.line > 1)
    }

    @Test(
        "local time is that of the set's zone",
        arguments: [
            ("2026-01-10 23:15", "2026-01-10T22:15:00.000Z"), ("2026-07-10 23:15:30", "2026-07-10T21:15:30.000Z"),
            ("2026-10-25 02:30", "2026-10-25T00:30:00.000Z"), ("2026-10-25 02:30, fold: 0", "2026-10-25T00:30:00.000Z"),
            ("2026-10-25 02:30, fold: 1", "2026-10-25T01:30:00.000Z"),
        ])
    func now(written: String, time: String) throws {
        let environment = LoadInputs(timeZones: Self.zones)
        let test = try test("name: a\ngiven: {now: \(written)}\nsteps: [{advance: 1s}]", in: environment)
        #expect(test.given.now?.description == time)
    }

    @Test("states are texts as payloads bring them, variables are values")
    func values() throws {
        let test = try test(
            """
            name: a
            given:
              states: {lux: 3.50, lamp: ON, open: OFF}
              variables: {scene: night, volume: 3, ratio: 2, guest: true}
              broker: offline
              disabled: [one, two]
            steps: [{advance: 1s}]
            """, in: LoadInputs(timeZones: Self.zones))
        #expect(
            test.given.states == [
                .init("lux", .string("3.50")), .init("lamp", .string("ON")), .init("open", .string("OFF")),
            ])
        #expect(
            test.given.variables == [
                .init("scene", .string("night")), .init("volume", .integer(3)), .init("ratio", .number(2)),
                .init("guest", .boolean(true)),
            ])
        #expect(!test.given.brokerIsOnline)
        #expect(test.given.disabled == ["one", "two"])
    }

    @Test("what the world answers begins as the program, the script, or the URL")
    func results() throws {
        let test = try test(
            """
            name: a
            given:
              results:
                - {run: mpc next, exit: 3, stdout: "a", stderr: b, takes: 2s}
                - {shell: "echo {{"}
                - {http: "https://a", status: 404, body: c}
            steps: [{advance: 1s}]
            """, in: LoadInputs(timeZones: Self.zones))
        #expect(
            test.given.results == [
                .init(kind: .run, prefix: "mpc next", exit: 3, stdout: "a", stderr: "b", takes: .seconds(2)),
                .init(kind: .shell, prefix: "echo {{"),
                .init(kind: .http, prefix: "https://a", status: 404, body: "c"),
            ])
    }

    // MARK: Steps

    @Test(
        "an event is what a trigger waits for",
        arguments: [
            ("{button: hall, event: click}", SimulatedEvent(button: "hall", event: .click)),
            ("{button: hall, clicks: 3}", SimulatedEvent(button: "hall", event: .pattern([.short, .short, .short]))),
            (
                "{button: hall, pattern: [short, long]}",
                SimulatedEvent(button: "hall", event: .pattern([.short, .long]))
            ),
            (
                "{button: hall, event: hold, held_for: 3s}",
                SimulatedEvent(button: "hall", event: .hold(after: nil), heldFor: .seconds(3))
            ),
            (
                "{button: hall, event: click, queued: true, age: 2s, last: true}",
                SimulatedEvent(
                    button: "hall", event: .click, wasQueued: true, wasQueuedLast: true, age: .seconds(2))
            ),
            (
                "{button: desk, event: rotate_clockwise, part: push}",
                SimulatedEvent(
                    button: "desk", event: .rotate(.clockwise, collect: .milliseconds(100)), part: .push, steps: 1)
            ),
            (
                "{button: desk, event: rotate_counter_clockwise}",
                SimulatedEvent(
                    button: "desk", event: .rotate(.counterClockwise, collect: .milliseconds(100)), steps: -1)
            ),
            (
                "{button: desk, event: rotate_counter_clockwise, steps: 4}",
                SimulatedEvent(
                    button: "desk", event: .rotate(.counterClockwise, collect: .milliseconds(100)), steps: -4)
            ),
            (
                "{button: desk, event: rotate_counter_clockwise, steps: -4}",
                SimulatedEvent(
                    button: "desk", event: .rotate(.counterClockwise, collect: .milliseconds(100)), steps: -4)
            ),
        ])
    func event(written: String, event: SimulatedEvent) throws {
        #expect(try step("event: \(written)") == .event(event))
    }

    @Test(
        "each step is what it says",
        arguments: [
            ("down: hall", TestStep.Kind.down("hall")), ("up: hall", .up("hall")),
            (
                "press: {button: hall}",
                .press("hall", times: 1, gap: .milliseconds(150), duration: .milliseconds(80))
            ),
            (
                "press: {button: hall, times: 3, gap: 200ms, for: 1s}",
                .press("hall", times: 3, gap: .milliseconds(200), duration: .seconds(1))
            ),
            ("chord: [hall, kitchen]", .chord(["hall", "kitchen"])), ("advance: 1m30s", .advance(.seconds(90))),
            ("time: \"23:59:50\"", .time(.ofDay(second: 86_390))),
            ("time: 2026-01-15 12:00", .time(.moment(UTCTime(milliseconds: 1_768_474_800_000)))),
            ("state: {lux: 3}", .state([.init("lux", .string("3"))])), ("broker: offline", .broker(isOnline: false)),
            ("broker: online", .broker(isOnline: true)), ("run: two", .run("two")), ("reload", .reload(nil)),
            ("reload:", .reload(nil)), ("restart", .restart(stoppedFor: .zero)),
            ("restart:", .restart(stoppedFor: .zero)),
            ("restart: 10m", .restart(stoppedFor: .seconds(600))), ("expect: []", .expect([])),
            ("expect_variables: {volume: 3}", .expectVariables([.init("volume", .integer(3))])),
            (
                "expect_rules: {one: dropped_queued, two: not_matched}",
                .expectRules([.init(rule: "one", outcome: .droppedQueued), .init(rule: "two", outcome: .notMatched)])
            ),
        ])
    func steps(written: String, kind: TestStep.Kind) throws {
        #expect(try step(written) == kind)
    }

    // MARK: Expectations

    @Test("an expected effect has only the fields the test cares about")
    func effects() throws {
        #expect(
            try effect("{publish: {}}").kind == .publish(topic: nil, payload: nil, qos: nil, retain: nil))
        #expect(
            try effect("{publish: {topic: a, json: {b: [1, x]}, qos: 1, retain: true}, at: 200ms}")
                == ExpectedEffect(
                    .publish(topic: "a", payload: .json(["b": [1, "x"]]), qos: 1, retain: true),
                    at: .milliseconds(200)))
        #expect(
            try effect("{publish: {payload: on}}").kind
                == .publish(topic: nil, payload: .text("on"), qos: nil, retain: nil))
        #expect(
            try effect("{run: [mpc, 3]}").kind
                == .run(arguments: ["mpc", "3"], environment: [], directory: nil, stdin: nil))
        #expect(
            try effect("{run: {env: {TRYCK_RULE: one}, cwd: /tmp, stdin: x}}").kind
                == .run(
                    arguments: nil, environment: [.init("TRYCK_RULE", "one")], directory: "/tmp", stdin: "x"))
        #expect(
            try effect("{shell: echo 1}").kind
                == .shell(script: "echo 1", arguments: nil, environment: [], directory: nil, stdin: nil))
        #expect(
            try effect("{shell: {args: [a]}}").kind
                == .shell(script: nil, arguments: ["a"], environment: [], directory: nil, stdin: nil))
        #expect(
            try effect("{http: {url: 'https://a', method: POST, headers: {A: b}, body: c}}").kind
                == .http(url: "https://a", method: "POST", headers: [.init("A", "b")], body: .text("c")))
        #expect(try effect("{log: hello}").kind == .log(level: nil, message: "hello"))
        #expect(try effect("{log: {level: debug}}").kind == .log(level: .debug, message: nil))
    }

    @Test("a secret is compared by its value and kept to oneself")
    func secret() throws {
        let environment = LoadInputs(
            secrets: SourceFile(name: "secrets.yaml", text: Array("pin: '4711'\n".utf8)), timeZones: Self.zones)
        let set = try LoadedText.good(
            RuleTestTests.text("name: a\nsteps: [{expect: [{publish: {payload: !secret pin}}]}]"), in: environment)
        guard case .expect(let effects) = set.tests.first?.steps.first?.kind else {
            Issue.record("not an expect")
            return
        }
        #expect(effects.first?.kind == .publish(topic: nil, payload: .text("4711"), qos: nil, retain: nil))
        #expect(set.confidential == ["4711"])
    }

    // MARK: Mistakes

    @Test(
        "a step that cannot be is refused",
        arguments: [
            ("event: {button: kitchn, event: click}", "E601"), ("event: {button: downstairs, event: click}", "E602"),
            ("event: {button: any, event: click}", "E602"), ("event: {button: hall}", "E202"),
            ("event: {button: hall, event: clik}", "E204"), ("event: {button: hall, event: [click, hold]}", "E602"),
            ("event: {button: hall, event: click, clicks: 2}", "E210"), ("event: {button: hall, clicks: 9}", "E205"),
            ("event: {button: hall, event: swipe_left}", "E501"),
            ("event: {button: hall, event: click, steps: 3}", "E210"),
            ("event: {button: desk, event: rotate_clockwise, steps: 0}", "E602"),
            ("event: {button: desk, event: rotate_clockwise, steps: -1}", "E602"),
            ("event: {button: desk, event: click, part: big}", "E501"),
            ("event: {button: hall, event: click, held_for: 3s}", "E210"),
            ("event: {button: hall, event: click, last: true}", "E210"), ("event: click", "E203"),
            ("down: kitchn", "E601"), ("up: downstairs", "E602"), ("press: hall", "E203"),
            ("press: {times: 2}", "E202"),
            ("press: {button: hall, times: 0}", "E205"), ("press: {button: hall, gap: 3}", "E206"),
            ("time: sunset", "E203"), ("time: 2026-02-30 12:00", "E602"), ("time: [1]", "E203"),
            ("chord: [hall]", "E602"), ("chord: [hall, hall]", "E602"), ("chord: hall", "E203"),
            ("chord: [hall, kitchn]", "E601"), ("advance: 3", "E206"), ("advance: null", "E114"),
            ("state: {lx: 3}", "E601"), ("state: {lux: much}", "E203"), ("state: {open: maybe}", "E203"),
            ("state: {lamp: '{{ x }}'}", "E407"), ("state: lux", "E203"), ("broker: away", "E204"),
            ("run: three", "E601"),
            ("restart: soon", "E206"), ("reload: other.yaml", "E308"), ("expect: log", "E603"),
            ("expect: {log: a}", "E603"),
            ("expect: [log]", "E603"), ("expect: [{at: 3s}]", "E603"), ("expect: [{log: a, publish: {}}]", "E603"),
            ("expect: [{run: mpc next}]", "E603"), ("expect: [{run: {argv: mpc}}]", "E603"),
            ("expect: [{run: {env: a}}]", "E603"), ("expect: [{publish: {payload: a, json: b}}]", "E210"),
            ("expect: [{publish: {json: '{{ trigger.id }}'}}]", "E407"), ("expect: [{publish: {max_age: 3s}}]", "E201"),
            ("expect: [{log: a, at: 3}]", "E206"), ("expect: [{delay: 3s}]", "E201"), ("expect: [null]", "E114"),
            ("expect_variables: {volum: 3}", "E601"), ("expect_variables: {volume: x}", "E203"),
            ("expect_variables: {scene: dusk}", "E204"), ("expect_variables: volume", "E603"),
            ("expect_rules: {three: started}", "E601"), ("expect_rules: {one: complete}", "E603"),
            ("expect_rules: [one]", "E603"), ("delay: 3s", "E201"), ("{}", "E213"), ("{down: hall, up: hall}", "E213"),
            ("hello", "E203"), ("null", "E114"),
        ])
    func mistakes(step: String, code: String) {
        #expect(codes("name: a\nsteps:\n  - \(step)") == [code])
    }

    @Test(
        "what cannot be given is refused",
        arguments: [
            ("now: noon", "E203"), ("now: 2026-03-29 02:30", "E602"), ("now: 2026-02-29 02:30", "E602"),
            ("now: 2026-01-15 25:00", "E602"), ("now: 2026-01-15 12:00, fold: 1", "E602"), ("fold: 1", "E210"),
            ("now: 2026-01-15 12:00, fold: 2", "E205"), ("states: {lx: 3}", "E601"), ("states: {lux: 'a'}", "E203"),
            ("states: {lux: '3'}", "E203"), ("states: [lux]", "E203"), ("states: {lux: null}", "E114"),
            ("variables: {volum: 3}", "E601"), ("variables: {volume: '3'}", "E203"),
            ("variables: {scene: dusk}", "E204"),
            ("variables: {guest: on}", "E203"), ("broker: maybe", "E204"), ("disabled: three", "E601"),
            ("disabled: []", "E212"), ("results: {run: a}", "E203"), ("results: [{exit: 1}]", "E202"),
            ("results: [{run: a, http: b}]", "E210"), ("results: [{run: a, status: 200}]", "E210"),
            ("results: [{http: a, exit: 0}]", "E210"), ("results: [{run: a, exit: 256}]", "E205"),
            ("results: [{http: a, status: 20}]", "E205"), ("results: [{run: a, takes: 3}]", "E206"),
            ("state: {}", "E201"),
        ])
    func given(given: String, code: String) {
        #expect(codes("name: a\ngiven: {\(given)}\nsteps: [{advance: 1s}]") == [code])
    }

    @Test(
        "no message shows what a tag brought in",
        arguments: [
            "given: {now: T, fold: T, states: {lux: T, lamp: T}, variables: {scene: T}, broker: T, disabled: T}",
            "given: {results: [{run: T, exit: T}, T]}",
            "steps: [T, {event: T}, {event: {button: T, event: T, part: T}}]",
            "steps: [{down: T}, {up: T}, {press: T}, {press: {button: T, times: T}}, {chord: T}, {chord: [T, T]}]",
            "steps: [{advance: T}, {state: T}, {broker: T}, {run: T}, {reload: T}, {restart: T}]",
            "steps: [{expect: T}, {expect: [T]}, {expect_variables: T}, {expect_rules: {one: T}}]",
            "steps: [{expect: [{run: T}, {run: [T]}, {http: T}, {publish: {qos: T, json: T}}, {log: {level: T}}]}]",
        ])
    func secrets(lines: String) {
        let environment = LoadInputs(
            secrets: SourceFile(name: "secrets.yaml", text: Array("token: hunter+2\n".utf8)), timeZones: Self.zones)
        let text = RuleTestTests.text("name: a\n\(lines.replacing("T", with: "!secret token"))")
        for diagnostic in LoadedText.set(text, in: environment).diagnostics {
            #expect(!"\(diagnostic.message) \(diagnostic.hint ?? "")".contains("hunter"))
        }
    }

    @Test("tests that reload too many files are refused, at the step that goes too far")
    func manyReloads() {
        func said(_ count: Int) -> [String] {
            let steps = (1...count).map { "{reload: other\($0).yaml}" }.joined(separator: ", ")
            return codes("name: a\nsteps: [\(steps)]").filter { $0 != "E308" }
        }
        #expect(said(100) == [])
        #expect(said(103) == ["E205", "E205", "E205"])
    }

    @Test("a test has a name and steps")
    func required() {
        #expect(codes("steps: [{advance: 1s}]") == ["E202"])
        #expect(codes("name: a") == ["E202"])
        #expect(codes("name: a\nsteps: []") == ["E212"])
        #expect(codes("name: a\nsteps: {advance: 1s}") == ["E203"])
        #expect(LoadedText.set("tests: {name: a}").diagnostics.map(\.code) == ["E203"])
    }

    private func codes(_ lines: String) -> [String] {
        LoadedText.set(RuleTestTests.text(lines), in: LoadInputs(timeZones: Self.zones)).diagnostics.map(\.code)
    }
}
