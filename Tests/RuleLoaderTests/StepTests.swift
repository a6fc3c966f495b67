import ButtonModel
import Expressions
import JSON
import RuleLoader
import Rules
import Testing
import YAMLFiles

@Suite("What a step says")
struct StepTests {
    private func action(_ step: String, _ location: Testing.SourceLocation = #_sourceLocation) throws -> StepAction {
        try LoadedSteps.action(step, location)
    }

    // MARK: publish, http, log

    @Test("a publish has the defaults of the language, and what is written wins")
    func publish() throws {
        #expect(
            try action("publish: {topic: a/b}") == .publish(PublishStep(topicName: Template(literal: "a/b"))))
        #expect(
            try action("publish: {topic: a, payload: on, qos: 2, retain: true, max_age: 0s}")
                == .publish(
                    PublishStep(
                        topicName: Template(literal: "a"), payload: .text(Template(literal: "on")), qos: 2,
                        retain: true, maximumAge: .zero)))
    }

    @Test("what defaults say holds where a publish says nothing")
    func defaults() throws {
        let set = try LoadedText.good(
            "defaults: {qos: 1, retain: true, max_age: 1m, timeout: 7s}\n"
                + LoadedSteps.text("- publish: {topic: a}\n- run: [b]\n- log: c"))
        let steps = try #require(set.rules.first).steps
        #expect(
            steps[0].action
                == .publish(
                    PublishStep(topicName: Template(literal: "a"), qos: 1, retain: true, maximumAge: .seconds(60))))
        #expect(steps.map(\.timeout) == [.seconds(7), .seconds(7), nil])
    }

    @Test(
        "templates are kept where they stand",
        arguments: [
            #"publish: {topic: "home/{{ trigger.button }}/set", payload: "{{ variables.volume }}%"}"#,
            #"publish: {topic: 'home/{{ trigger.button }}/set', payload: '{{ variables.volume }}%'}"#,
        ])
    func templates(step: String) throws {
        guard case .perform(.publish(let publish)) = try action(step), case .text(let payload) = publish.payload else {
            Issue.record("not a publish with a payload")
            return
        }
        #expect(publish.topicName.written == "home/{{ trigger.button }}/set")
        #expect(publish.topicName.insertion == .topic)
        #expect(payload.written == "{{ variables.volume }}%")
        #expect(payload.insertion == .plain)
    }

    @Test(
        "under json the spelling decides the type",
        arguments: [
            ("{b: 1, a: -2.50}", #"{"b":1,"a":-2.5}"#), ("[true, false, null, ~x]", #"[true,false,null,"~x"]"#),
            (#"["on", 'true', "1"]"#, #"["on","true","1"]"#),
            ("[22:00, 2026-01-01, 1.2.3, y, -]", #"["22:00","2026-01-01","1.2.3","y","-"]"#),
            ("{on: 1, null: 2}", #"{"on":1,"null":2}"#), ("!literal '{{ x }}'", #""{{ x }}""#), ("text", #""text""#),
            ("[]", "[]"), ("{}", "{}"),
        ])
    func json(yaml: String, json: String) throws {
        guard case .perform(.publish(let publish)) = try action("publish: {topic: a, json: \(yaml)}"),
            case .json(.value(let value)) = publish.payload
        else {
            Issue.record("not a value")
            return
        }
        #expect(String(decoding: value.encoded(), as: UTF8.self) == json)
    }

    @Test("leaves of json may be templates, and the rest stays as it is")
    func jsonTemplates() throws {
        guard
            case .perform(.publish(let publish)) = try action(
                #"publish: {topic: a, json: {on: [1, "{{ variables.volume }}"], off: {x: 1}}}"#),
            case .json(.object(let members)) = publish.payload, members.count == 2,
            case .array(let entries) = members[0].value, case .template(let leaf) = entries[1]
        else {
            Issue.record("not an object with a template")
            return
        }
        #expect(entries[0] == .value(1))
        #expect(leaf.onlyExpression?.type == .integer)
        #expect(members[1].value == .value(["x": 1]))
    }

    @Test("a web hook has the defaults of the language, and what is written wins")
    func http() throws {
        #expect(
            try action("http: {url: 'https://example.net'}")
                == .http(HTTPStep(url: Template(literal: "https://example.net"))))
        #expect(
            try action(
                "http: {url: 'http://a/b?c', method: POST, headers: {X-A: b}, json: {c: d}, expect: [204, 3xx]}")
                == .http(
                    HTTPStep(
                        url: Template(literal: "http://a/b?c"), method: "POST",
                        headers: [.init("X-A", Template(literal: "b"))], body: .json(.value(["c": "d"])),
                        expectation: [.exactly(204), .family(3)])))
        guard
            case .perform(.http(let http)) = try action(
                #"http: {url: "https://a/{{ states.lamp }}", headers: {A: "{{ states.lamp }}"}, body: "{{ states.lamp }}"}"#
            ), case .text(let body) = http.body
        else {
            Issue.record("not a web hook with a body")
            return
        }
        #expect(http.url.insertion == .url)
        #expect(http.headers.first?.value.insertion == .header)
        #expect(body.insertion == .plain)
    }

    @Test("log lines are information unless they say otherwise")
    func log() throws {
        #expect(try action("log: yes") == .log(.info, Template(literal: "yes")))
        #expect(try action("log: {message: a, level: debug}") == .log(.debug, Template(literal: "a")))
    }

    // MARK: run and shell

    @Test("a program gets its arguments one by one, and environment, directory and input")
    func run() throws {
        #expect(
            try action("run: [sleep, 1]")
                == .process(ProcessStep(arguments: ["sleep", "1"].map(Template.init(literal:)))))
        #expect(
            try action("run: {argv: [cat, '-'], env: {B: 2, A: one}, cwd: /tmp, stdin: hello}")
                == .process(
                    ProcessStep(
                        arguments: ["cat", "-"].map(Template.init(literal:)),
                        environment: [.init("B", Template(literal: "2")), .init("A", Template(literal: "one"))],
                        directory: "/tmp", standardInput: Template(literal: "hello"))))
    }

    @Test("a script goes to the shell as it stands, its arguments after it")
    func shell() throws {
        let words = { (words: [String]) in words.map(Template.init(literal:)) }
        #expect(
            try action("shell: echo $1 ${x%.*}")
                == .process(
                    ProcessStep(arguments: words(["/bin/sh", "-c", "echo $1 ${x%.*}", "sh"]), isShell: true)))
        #expect(
            try action("shell: {script: 'echo $1', args: [a b], env: {PATH: /bin}}")
                == .process(
                    ProcessStep(
                        arguments: words(["/bin/sh", "-c", "echo $1", "sh", "a b"]),
                        environment: [.init("PATH", Template(literal: "/bin"))], isShell: true)))
    }

    // MARK: delay and wait

    @Test("a delay is a duration, or what gives one")
    func delay() throws {
        #expect(try action("delay: 1m30s") == .delay(Template(literal: "1m30s")))
        for text in ["{{ 5m if variables.guest else 10s }}", "{{ variables.volume }}s"] {
            guard case .delay(let template) = try action("delay: \"\(text)\"") else {
                Issue.record("not a delay")
                continue
            }
            #expect(template.written == text)
        }
    }

    @Test("a wait has an expression and an end")
    func wait() throws {
        guard case .wait(let until, let timeout, nil) = try action("wait: {until: states.open, timeout: 25s}") else {
            Issue.record("not a wait")
            return
        }
        #expect(until.source == "states.open")
        #expect(timeout == .seconds(25))
        let text = "wait: {until: states.open, timeout: 25s}\nelse: {log: closed}"
        guard case .wait(_, _, let otherwise?) = try action(text) else {
            Issue.record("not a wait with else")
            return
        }
        #expect(otherwise.map(\.path) == ["actions[0].wait.else[0].log"])
    }

    // MARK: set, enable

    @Test("variables get values of their own type, or templates")
    func set() throws {
        #expect(
            try action("set: {scene: night, volume: -3, ratio: 2, guest: true}")
                == .set([
                    Assignment(variable: 0, value: .value(.string("night"))),
                    Assignment(variable: 1, value: .value(.integer(-3))),
                    Assignment(variable: 2, value: .value(.number(2))),
                    Assignment(variable: 3, value: .value(.boolean(true))),
                ]))
        guard
            case .set(let assignments) = try action(#"set: {ratio: "{{ variables.volume }}"}"#),
            case .template(let template)? = assignments.first?.value
        else {
            Issue.record("not a template")
            return
        }
        #expect(template.onlyExpression?.type == .number)
    }

    @Test("rules are switched by their place")
    func enable() throws {
        #expect(try action("enable: two") == .enable([1], true))
        #expect(try action("disable: [one, two]") == .enable([0, 1], false))
    }

    // MARK: Steps in steps

    @Test("each entry of a cycle is a list of steps")
    func cycle() throws {
        guard
            case .cycle(let entries, let resetAfter) = try action(
                "cycle: {reset_after: 20m, steps: [{log: a}, [{log: b}, {log: c}]]}")
        else {
            Issue.record("not a cycle")
            return
        }
        #expect(
            entries.map { $0.map(\.path) } == [
                ["actions[0].cycle[0][0].log"], ["actions[0].cycle[1][0].log", "actions[0].cycle[1][1].log"],
            ])
        #expect(resetAfter == .seconds(1200))
    }

    @Test("a repeat goes on while held, or for a number of times")
    func repetition() throws {
        guard
            case .repeat(let held) = try action(
                #"repeat: {while: held, every: 200ms, actions: {log: "{{ repeat.index }}"}}"#),
            case .repeat(let counted) = try action("repeat: {count: 3, every: 1s, limit: 10m, actions: [{log: a}]}")
        else {
            Issue.record("not a repeat")
            return
        }
        #expect(held.extent == .whileHeld)
        #expect(held.every == .milliseconds(200))
        #expect(held.limit == .seconds(15))
        #expect(held.steps.map(\.path) == ["actions[0].repeat.actions[0].log"])
        #expect(counted.extent == .count(3))
        #expect(counted.limit == .seconds(600))
    }

    @Test("an if has one branch, a choose has several")
    func branches() throws {
        guard
            case .choose(let branches, let otherwise, isIf: true) = try action(
                "if: [variables.guest, {time: {after: sunset}}]\nthen: {log: a}\nelse: [{log: b}]")
        else {
            Issue.record("not an if")
            return
        }
        #expect(branches.map { $0.conditions.map(\.text) } == [["variables.guest", "time: after sunset"]])
        #expect(branches.first?.steps.map(\.path) == ["actions[0].if.then[0].log"])
        #expect(otherwise.map(\.path) == ["actions[0].if.else[0].log"])

        guard
            case .choose(let choices, let rest, isIf: false) = try action(
                "choose: [{if: variables.guest, then: {log: a}}, {if: states.open, then: {log: b}}]\ndefault: {log: c}")
        else {
            Issue.record("not a choose")
            return
        }
        #expect(
            choices.flatMap(\.steps).map(\.path) == [
                "actions[0].choose[0].then[0].log", "actions[0].choose[1].then[0].log",
            ])
        #expect(rest.map(\.path) == ["actions[0].choose.default[0].log"])
    }

    @Test("a script is given what its inputs want; the others have their own")
    func script() throws {
        #expect(
            try action("script: greet\nwith: {whom: you, ratio: 3}")
                == .script(0, with: [.value(.string("you")), nil, .value(.number(3))]))
        #expect(try action("script: end") == .script(1, with: []))
    }

    // MARK: Common keys

    @Test("a step has the keys that every step may have")
    func common() throws {
        let step = try #require(
            try LoadedSteps.steps(
                """
                - run: [date]
                  alias: what time it is
                  enabled: false
                  timeout: 1m
                  retry: {count: 3, delay: 500ms, backoff: 1.5}
                  continue_on_error: true
                  save_as: time
                """
            ).first)
        #expect(step.alias == "what time it is")
        #expect(!step.isEnabled)
        #expect(step.timeout == .seconds(60))
        #expect(step.retry == Retry(count: 3, delay: .milliseconds(500), backOff: 1.5))
        #expect(step.continuesOnError)
        #expect(step.savesAs == 0)
        #expect(step.path == "actions[0].run")
        #expect(step.location.line > 1 && step.location.file == "home.yaml")
    }

    @Test("what can wait has a time of its own, everything else has none")
    func timeouts() throws {
        let steps = try LoadedSteps.steps(
            "- publish: {topic: a}\n- run: [a]\n- shell: a\n- http: {url: 'https://a'}\n- log: a\n- delay: 1s\n- stop: done"
        )
        #expect(steps.map(\.timeout) == [.seconds(5), .seconds(30), .seconds(30), .seconds(10), nil, nil, nil])
        #expect(steps.map(\.action.kind) == [.publish, .run, .shell, .http, .log, .delay, .stop])
    }

    @Test("secrets and variables of the environment are literal, whatever they hold")
    func tags() throws {
        let environment = LoadInputs(
            secrets: SourceFile(name: "secrets.yaml", text: Array("pin: 0123\nmark: '{{'\n".utf8)),
            variables: ["WHERE": "home/door"])
        let text = LoadedSteps.text(
            "- publish: {topic: !env_var WHERE, json: [!secret pin, !secret mark, !env_var NO x y]}\n- log: !literal '{{ x }}'"
        )
        let set = try LoadedText.good(text, in: environment)
        #expect(
            try #require(set.rules.first).steps.map(\.action) == [
                .publish(
                    PublishStep(
                        topicName: Template(literal: "home/door"), payload: .json(.value(["0123", "{{", "x y"])))),
                .log(.info, Template(literal: "{{ x }}")),
            ])
        #expect(set.confidential == ["home/door", "0123", "{{", "x y"])
    }
}
