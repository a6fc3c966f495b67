import ButtonModel
import Diagnostics
import JSON
import RuleLoader
import Rules
import Testing

@Suite("What a rules file says")
struct RuleValueTests {
    private func load(
        _ rest: String, buttons: String = "kitchen: BF12-C34567", environment: LoadEnvironment = LoadEnvironment()
    ) throws -> RuleSet {
        let text = "version: 1\nbuttons:\n  \(buttons)\n\(rest)"
        let loaded = RuleLoader.rules(SourceFile(name: "a.yaml", text: Array(text.utf8)), in: environment)
        #expect(loaded.diagnostics.filter { $0.severity == .error } == [])
        return try #require(loaded.value)
    }

    private func action(_ step: String, environment: LoadEnvironment = LoadEnvironment()) throws -> Action {
        let set = try load(
            "rules:\n  - id: one\n    triggers: {button: kitchen, event: click}\n    actions:\n      - \(step)\n",
            environment: environment)
        return try #require(set.rules.first?.actions.first)
    }

    @Test(
        "the form of a text says how a button is found",
        arguments: [
            ("BF12-C34567", DeclaredButton.Hardware.serial("BF12-C34567")),
            ("80:e4:da:01:02:03", .address(ButtonID(BluetoothAddress(rawValue: 0x80E4_DA01_0203)))),
            ("8F2C0A61D5B34E0F9A7712C4B6D8E0F1", .uuid("8f2c0a61d5b34e0f9a7712c4b6d8e0f1")),
            ("{nickname: Küche}", .nickname("Küche")),
        ])
    func hardware(text: String, hardware: DeclaredButton.Hardware) throws {
        #expect(try load("", buttons: "kitchen: \(text)").buttons.map(\.hardware) == [hardware])
    }

    @Test("a button has its mode and its policy")
    func button() throws {
        let set = try load(
            "", buttons: "a: {serial: BF12-C34567, trigger_mode: click_and_hold, queued: {max_age: 1m30s, keep: last}}")
        let button = try #require(set.buttons.first)
        #expect(button.triggerMode == .clickAndHold)
        #expect(button.queued == .limited(maximumAge: .seconds(90), keepLast: true))
    }

    @Test("without the values of tags, each stands for its name, and stays confidential")
    func placeholders() throws {
        let environment = LoadEnvironment(variables: ["CODE": "4711"], hasPlaceholders: true)
        for (tag, placeholder) in [
            ("!secret code", "***code***"), ("!env_var CODE", "***CODE***"), ("!env_var NONE x y", "***NONE***"),
        ] {
            let set = try load(
                "rules: [{id: a, triggers: {button: kitchen, event: hold}, actions: {log: \(tag)}}]",
                environment: environment)
            #expect(set.rules.first?.actions == [.log(.info, placeholder)])
            #expect(set.confidential == [placeholder])
        }
    }

    @Test("one thing and a list of one thing are the same")
    func oneOrMany() throws {
        let one = try load("rules: [{id: a, triggers: {button: kitchen, event: hold}, actions: {log: b}}]")
        let many = try load("rules: [{id: a, triggers: [{button: [kitchen], event: [hold]}], actions: [{log: b}]}]")
        #expect(one == many)
        #expect(one.rules.first?.triggers == [Trigger(buttons: [.named("kitchen")], events: [.gesture(.hold)])])
    }

    @Test("a publish has the defaults of the language, and what is written wins")
    func publish() throws {
        #expect(try action("publish: {topic: a/b}") == .publish(PublishAction(topicName: "a/b", payload: [])))
        let written = try action("publish: {topic: a, payload: on, qos: 2, retain: true, max_age: 0s}")
        #expect(
            written
                == .publish(
                    PublishAction(topicName: "a", payload: Array("on".utf8), qos: 2, retain: true, maximumAge: .zero)))
    }

    @Test(
        "under json the spelling decides the type only where no other reader disagrees",
        arguments: [
            ("{b: 1, a: -2.50}", #"{"b":1,"a":-2.5}"#), ("[true, false, null, ~x]", #"[true,false,null,"~x"]"#),
            (#"["on", 'true', "1"]"#, #"["on","true","1"]"#),
            ("[22:00, 2026-01-01, 1.2.3, y, -]", #"["22:00","2026-01-01","1.2.3","y","-"]"#),
            ("{on: 1, null: 2}", #"{"on":1,"null":2}"#), ("!literal '{{ x }}'", #""{{ x }}""#), ("text", #""text""#),
        ])
    func json(yaml: String, json: String) throws {
        guard case .publish(let publish) = try action("publish: {topic: a, json: \(yaml)}") else {
            return #expect(Bool(false), "not a publish")
        }
        #expect(String(decoding: publish.payload, as: UTF8.self) == json)
    }

    @Test("a program gets its arguments one by one, and environment, directory and input")
    func run() throws {
        #expect(try action("run: [sleep, 1]") == .process(ProcessAction(arguments: ["sleep", "1"])))
        let mapping = try action("run: {argv: [cat, '-'], env: {B: 2, A: one}, cwd: /tmp, stdin: hello}")
        #expect(
            mapping
                == .process(
                    ProcessAction(
                        arguments: ["cat", "-"], environment: [("B", "2"), ("A", "one")], directory: "/tmp",
                        standardInput: Array("hello".utf8))))
    }

    @Test("a script goes to the shell as it stands, its arguments after it")
    func shell() throws {
        #expect(
            try action("shell: echo $1")
                == .process(ProcessAction(arguments: ["/bin/sh", "-c", "echo $1", "sh"], isShell: true)))
        #expect(
            try action("shell: {script: 'echo $1', args: [a b]}")
                == .process(ProcessAction(arguments: ["/bin/sh", "-c", "echo $1", "sh", "a b"], isShell: true)))
    }

    @Test("log lines are information unless they say otherwise")
    func log() throws {
        #expect(try action("log: yes") == .log(.info, "yes"))
        #expect(try action("log: {message: a, level: debug}") == .log(.debug, "a"))
    }

    @Test("secrets and variables are text, whatever they look like")
    func tags() throws {
        let environment = LoadEnvironment(
            secrets: SourceFile(name: "secrets.yaml", text: Array("pin: 0123\nmark: '{{'\n".utf8)),
            variables: ["WHERE": "home"])
        #expect(
            try action(
                "publish: {topic: !env_var WHERE, json: [!secret pin, !secret mark, !env_var NO x y]}",
                environment: environment)
                == .publish(PublishAction(topicName: "home", payload: Array(#"["0123","{{","x y"]"#.utf8))))
    }

    @Test("merged keys fill in what is not written, and x- keys are left alone")
    func merge() throws {
        let set = try load(
            """
            x-base: &base {alias: common, triggers: {button: kitchen, event: click}}
            x-steps: &steps [log: a]
            rules:
              - {<<: *base, id: b, alias: mine, actions: *steps}
            """)
        #expect(
            set.rules == [
                Rule(
                    id: "b", alias: "mine",
                    triggers: [Trigger(buttons: [.named("kitchen")], events: [.gesture(.click)])],
                    actions: [.log(.info, "a")])
            ])
    }

    @Test("line ends and a byte order mark change nothing")
    func lineEnds() throws {
        let text =
            "version: 1\nbuttons:\n  a: BF12-C34567\nrules:\n  - id: b\n    triggers: {button: a, event: up}\n    actions: [log: c]\n"
        let windows = [0xEF, 0xBB, 0xBF] + Array(text.replacing("\n", with: "\r\n").utf8)
        let plain = RuleLoader.rules(SourceFile(name: "a", text: Array(text.utf8)), in: LoadEnvironment())
        let other = RuleLoader.rules(SourceFile(name: "a", text: windows), in: LoadEnvironment())
        #expect(plain.value != nil)
        #expect(plain.value == other.value)
    }

    @Test("an unused button is a warning and not an error, and any button uses it")
    func unused() throws {
        let unused = try load("")
        #expect(unused.buttons.count == 1)
        let used =
            "version: 1\nbuttons: {a: BF12-C34567}\nrules: [{id: b, triggers: {button: any, event: down}, actions: {log: c}}]"
        #expect(
            RuleLoader.rules(SourceFile(name: "a", text: Array(used.utf8)), in: LoadEnvironment()).diagnostics == [])
    }
}
