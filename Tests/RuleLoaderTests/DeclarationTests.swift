import Almanac
import ButtonModel
import Expressions
import RuleLoader
import Rules
import Testing
import YAMLFiles

/// The declarations at the top of a file, value by value: their meaning, and the diagnostics of mistakes.
@Suite("What a rules file declares")
struct DeclarationTests {
    // MARK: Buttons

    @Test(
        "the form of a text says how a button is found",
        arguments: [
            ("BF12-C34567", DeclaredButton.Hardware.serial("BF12-C34567")),
            ("80:e4:da:01:02:03", .address(ButtonID(BluetoothAddress(rawValue: 0x80E4_DA01_0203)))),
            ("8F2C0A61D5B34E0F9A7712C4B6D8E0F1", .uuid("8f2c0a61d5b34e0f9a7712c4b6d8e0f1")),
            ("{nickname: Küche}", .nickname("Küche")),
            ("{serial: BF12-C34567}", .serial("BF12-C34567")),
        ])
    func hardware(text: String, hardware: DeclaredButton.Hardware) throws {
        #expect(try LoadedText.good("buttons: {kitchen: \(text)}").buttons.map(\.hardware) == [hardware])
    }

    @Test(
        "every key of a button has its meaning",
        arguments: [
            ("", DeclaredButton(name: "a", hardware: .serial("BF12-C34567"))),
            ("model: twist", DeclaredButton(name: "a", hardware: .serial("BF12-C34567"), model: .twist)),
            ("trigger_mode: auto", DeclaredButton(name: "a", hardware: .serial("BF12-C34567"))),
            (
                "trigger_mode: click_and_hold",
                DeclaredButton(name: "a", hardware: .serial("BF12-C34567"), triggerMode: .clickAndHold)
            ),
            ("hold_after: 10s", DeclaredButton(name: "a", hardware: .serial("BF12-C34567"), holdAfter: .seconds(10))),
            (
                "click_gap: 100ms",
                DeclaredButton(name: "a", hardware: .serial("BF12-C34567"), clickGap: .milliseconds(100))
            ),
            ("queued: accept", DeclaredButton(name: "a", hardware: .serial("BF12-C34567"), queued: .accept)),
            ("description: 'a {{ b }}'", DeclaredButton(name: "a", hardware: .serial("BF12-C34567"))),
        ])
    func button(line: String, button: DeclaredButton) throws {
        #expect(try LoadedText.good("buttons: {a: {serial: BF12-C34567, \(line)}}").buttons == [button])
    }

    @Test(
        "a policy for late events is a word or a limit",
        arguments: [
            ("drop", QueuedPolicy.drop), ("accept", .accept),
            ("{max_age: 1m30s}", .limited(maximumAge: .seconds(90), keepLast: false)),
            ("{max_age: 0s, keep: all}", .limited(maximumAge: .zero, keepLast: false)),
            ("{max_age: 3s, keep: last}", .limited(maximumAge: .seconds(3), keepLast: true)),
        ])
    func queued(text: String, policy: QueuedPolicy) throws {
        #expect(try LoadedText.good("defaults: {queued: \(text)}").queued == policy)
        #expect(try LoadedText.rule("queued: \(text)").queued == policy)
        let set = try LoadedText.good("buttons: {a: {serial: BF12-C34567, queued: \(text)}}")
        #expect(set.buttons.first?.queued == policy)
    }

    // MARK: Groups

    @Test("a group is the buttons it means in the end, each once, in the order written")
    func groups() throws {
        let set = try LoadedText.good(
            """
            buttons: {a: BF12-C34561, b: BF12-C34562, c: BF12-C34563}
            groups: {all_of_them: [c, some, a], some: [b, a], one: b}
            """)
        #expect(set.groups == ["all_of_them": [2, 1, 0], "some": [1, 0], "one": [1]])
    }

    // MARK: States

    @Test(
        "every key of a state has its meaning",
        arguments: [
            ("topic: a/b", DeclaredState(name: "s", topicName: "a/b")),
            ("topic: a, value: ''", DeclaredState(name: "s", topicName: "a")),
            ("topic: a, value: /b/0", DeclaredState(name: "s", topicName: "a", pointer: "/b/0")),
            (
                "topic: a, type: boolean, default: true",
                DeclaredState(name: "s", topicName: "a", type: .boolean, defaultValue: .boolean(true))
            ),
            (
                "topic: a, type: number, default: 2",
                DeclaredState(name: "s", topicName: "a", type: .number, defaultValue: .number(2))
            ),
            (
                "topic: a, type: integer, default: -2",
                DeclaredState(name: "s", topicName: "a", type: .integer, defaultValue: .integer(-2))
            ),
            ("topic: a, default: on", DeclaredState(name: "s", topicName: "a", defaultValue: .string("on"))),
            ("topic: a, max_age: 1h", DeclaredState(name: "s", topicName: "a", maximumAge: .seconds(3600))),
        ])
    func state(line: String, state: DeclaredState) throws {
        #expect(try LoadedText.good("states: {s: {\(line)}}").states == [state])
    }

    @Test("a state may be unknown, unless it has a default")
    func unknown() throws {
        let text = { (state: String) in
            "states: {s: {topic: a, type: number\(state)}}\n" + LoadedText.rules(with: "conditions: states.s < 3")
        }
        #expect(
            LoadedText.complaints(text(""))
                == ["E405 states.s may be unknown; write (states.s ?? 0) or give it a default"])
        #expect(LoadedText.complaints(text(", default: 0")) == [])
    }

    // MARK: Variables

    @Test(
        "the spelling of an initial value says the type of the variable",
        arguments: [
            ("true", ExpressionType.Scalar.boolean, Value.boolean(true)), ("-3", .integer, .integer(-3)),
            ("2.50", .number, .number(2.5)), ("\"3\"", .string, .string("3")), ("day", .string, .string("day")),
            ("\"on\"", .string, .string("on")), ("y", .string, .string("y")), ("22:00", .string, .string("22:00")),
            ("!literal '{{'", .string, .string("{{")), ("!env_var PLACE", .string, .string("home")),
        ])
    func variable(text: String, type: ExpressionType.Scalar, initial: Value) throws {
        let environment = LoadInputs(variables: ["PLACE": "home"])
        let variable = DeclaredVariable(name: "v", type: type, initial: initial)
        #expect(try LoadedText.good("variables: {v: \(text)}", in: environment).variables == [variable])
        #expect(try LoadedText.good("variables: {v: {initial: \(text)}}", in: environment).variables == [variable])
    }

    @Test(
        "every key of a variable has its meaning",
        arguments: [
            ("type: number, initial: 3", DeclaredVariable(name: "v", type: .number, initial: .number(3))),
            ("type: string, initial: 3", DeclaredVariable(name: "v", type: .string, initial: .string("3"))),
            (
                "initial: b, values: [a, b]",
                DeclaredVariable(name: "v", type: .string, initial: .string("b"), values: [.string("a"), .string("b")])
            ),
            (
                "initial: 2.0, values: [1, 2, 2.5]",
                DeclaredVariable(
                    name: "v", type: .number, initial: .number(2), values: [.number(1), .number(2), .number(2.5)])
            ),
            (
                "initial: 3, min: -0.5, max: 3",
                DeclaredVariable(name: "v", type: .integer, initial: .integer(3), minimum: -0.5, maximum: 3)
            ),
            (
                "initial: 3, persist: false",
                DeclaredVariable(name: "v", type: .integer, initial: .integer(3), isPersisted: false)
            ),
        ])
    func variable(line: String, variable: DeclaredVariable) throws {
        #expect(try LoadedText.good("variables: {v: {\(line)}}").variables == [variable])
    }

    @Test("if text is used as a number, the hint names the declaration and the change to make there")
    func remedies() {
        let text = LoadedText.rules(with: "conditions: [states.lamp == 1, variables.doses > 1]")
        let complaints = LoadedText.complaints("states: {lamp: {topic: a}}\nvariables: {doses: \"0\"}\n\(text)")
        #expect(complaints.contains { $0.hasSuffix("give lamp (2:10) type: integer") })
        #expect(complaints.contains { $0.hasSuffix("remove the quotes from doses (3:13)") })
    }

    // MARK: Scripts

    @Test("a script has its inputs in the order written, and its steps")
    func scripts() throws {
        let set = try LoadedText.good(
            """
            scripts:
              light:
                description: "{{ not read }}"
                inputs: {lamp: {type: string}, level: {type: integer, default: 254}, dim: {type: number, default: 1}}
                actions: {log: "{{ inputs.lamp }}"}
            """)
        let script = try #require(set.scripts.first)
        #expect(
            script.inputs == [
                .init(name: "lamp", type: .string), .init(name: "level", type: .integer, defaultValue: .integer(254)),
                .init(name: "dim", type: .number, defaultValue: .number(1)),
            ])
        #expect(script.steps.count == 1)
    }

    // MARK: Location and defaults

    @Test("a location is a place, a zone, or both")
    func location() throws {
        let environment = LoadInputs(timeZones: ["Europe/Amsterdam": try Project.zone("Europe/Amsterdam")])
        let place = try LoadedText.good("location: {latitude: 52.09, longitude: -5}")
        #expect(place.coordinates == Location(latitude: 52.09, longitude: -5))
        #expect(place.timeZone == .utc)
        let zone = try LoadedText.good("location: {timezone: Europe/Amsterdam}", in: environment)
        #expect(zone.coordinates == nil)
        #expect(zone.timeZone.name == "Europe/Amsterdam")
        #expect(try LoadedText.good("location: {timezone: UTC}").timeZone == .utc)
    }

    @Test("without a zone in the file the system's holds")
    func systemZone() throws {
        let octets = try Project.zone("Europe/Amsterdam")
        let environment = LoadInputs(systemTimeZone: .init(name: "Europe/Amsterdam", octets: octets))
        #expect(try LoadedText.good("x-a: 1", in: environment).timeZone.name == "Europe/Amsterdam")
        #expect(try LoadedText.good("location: {timezone: UTC}", in: environment).timeZone == .utc)
    }

    @Test("a zone that is not at hand, or whose data are none, is unknown")
    func unknownZone() throws {
        let environment = LoadInputs(timeZones: [
            "Broken": [1, 2, 3], "Europe/Oslo": try Project.zone("Europe/Oslo"),
        ])
        let complaint = { (name: String) in LoadedText.complaints("location: {timezone: \(name)}", in: environment) }
        #expect(complaint("Broken") == ["E204 the data of time zone \"Broken\" cannot be read"])
        #expect(complaint("Europe/Olso") == ["E204 unknown time zone \"Europe/Olso\"; did you mean \"Europe/Oslo\"?"])
    }

    @Test("the sun is there where a place is given, and nothing is said of it twice")
    func sun() {
        let rules = LoadedText.rules(with: "conditions: sun.is_up")
        #expect(LoadedText.complaints(rules) == ["E512 sun needs location: with latitude and longitude"])
        #expect(
            LoadedText.complaints("location: {timezone: UTC}\n\(rules)")
                == ["E512 sun needs location: with latitude and longitude"])
        #expect(LoadedText.complaints("location: {latitude: 1, longitude: 2}\n\(rules)") == [])
        #expect(LoadedText.complaints("location: {latitude: 91, longitude: 2}\n\(rules)").count == 1)
        #expect(LoadedText.complaints("locatoin: {latitude: 1, longitude: 2}\n\(rules)").count == 1)
    }

    @Test("defaults are what rules and steps have that say nothing")
    func defaults() throws {
        let text = { (rule: String, step: String) in
            """
            defaults: {queued: drop, mode: queued, cooldown: 2s, rate_limit: 5/1s, qos: 1, retain: true, max_age: 9s,
                       timeout: 7s}
            rules:
              - id: one
                triggers: {button: any, event: click}
                \(rule)
                actions: {publish: {topic: a\(step)}}
            """
        }
        let set = try LoadedText.good(text("", ""))
        let rule = try #require(set.rules.first)
        #expect(set.queued == .drop)
        #expect(rule.queued == nil)
        #expect(rule.mode == .queued && rule.maximumRuns == 10)
        #expect(rule.cooldown == .seconds(2))
        #expect(rule.rateLimit == .init(count: 5, per: .seconds(1)))
        let step = try #require(rule.steps.first)
        #expect(step.timeout == .seconds(7))
        let publish = PublishStep(
            topicName: Template(literal: "a"), qos: 1, retain: true, maximumAge: .seconds(9))
        #expect(step.action == .publish(publish))
        let written = try LoadedText.good(
            text(
                "mode: single\n    cooldown: 0s\n    rate_limit: 1/1h\n    queued: accept",
                ", qos: 0, retain: false, max_age: 0s"))
        let own = try #require(written.rules.first)
        #expect(own.mode == .single && own.maximumRuns == 1 && own.cooldown == .zero && own.queued == .accept)
        #expect(own.rateLimit == .init(count: 1, per: .seconds(3600)))
        let bare = PublishStep(topicName: Template(literal: "a"), maximumAge: .zero)
        #expect(own.steps.first?.action == .publish(bare))
    }

    // MARK: One mistake, one message

    @Test(
        "what could not be declared is not unknown where it is used",
        arguments: [
            ("states: {lamp: {topic: a, type: txt}}", "conditions: states.lamp == 'ON'"),
            ("states: {lamp: {topc: a}}", "conditions: \"'{{' == states.lamp\""),
            ("states: [lamp]", "conditions: states.lamp == 'ON'"),
            ("staets: {lamp: {topic: a}}", "conditions: states.lamp == 'ON'"),
            ("states: {Lamp: {topic: a}}", "conditions: states.Lamp == 'ON'"),
            ("variables: {scene: on}", "conditions: variables.scene == 'day'"),
            ("variables: {scene: {initial: a, values: b}}", "on_error: {set: {scene: day}}"),
            ("variables:", "on_error: {log: '{{ variables.scene }}'}"),
            ("groups: {some: {}}", "conditions: {time: {after: 22:00}}"),
            ("scripts: {off: {actions: {log: a}}}", "on_error: {script: off}"),
            ("scripts: {dim: {action: {log: a}}}", "on_error: {script: dim}"),
            ("scripts: {dim: {inputs: {level: {type: int}}, actions: {log: '{{ inputs.level }}'}}}", ""),
            ("scripts: [dim]", "on_error: {script: dim}"),
        ])
    func leftOut(declaration: String, use: String) {
        let complaints = LoadedText.complaints("\(declaration)\n\(LoadedText.rules(with: use))")
        #expect(complaints.count == 1, "\(complaints)")
    }

    @Test("a button that could not be declared is not unknown in a trigger, a group, a chord and an expression")
    func leftOutButton() {
        let complaints = LoadedText.complaints(
            """
            buttons: {kitchen: {serial: BF12-C34567, model: dou}, hall: BF12-C34568, attic: BF12}
            groups: {both: [kitchen, hall, attic]}
            rules:
              - id: one
                triggers:
                  - {button: [kitchen, both, attic], event: swipe_left}
                  - {chord: [kitchen, hall]}
                conditions: buttons.kitchen.held
                actions: {log: "{{ buttons.attic.battery ?? 0 }}"}
            """)
        #expect(complaints.map { $0.prefix(4) } == ["E204", "E203", "E501"])
    }

    @Test("a rule that could not be declared is not unknown where it is named")
    func leftOutRule() {
        let complaints = LoadedText.complaints(
            """
            rules:
              - {id: First, triggers: {button: any, event: click}, actions: {enable: First}}
              - {id: second, triggers: {button: any, event: clik}, conditions: rules.second.enabled, actions: {log: a}}
            """)
        #expect(complaints.map { $0.prefix(4) } == ["E209", "E204"])
    }

    @Test("names may be used before they are declared")
    func order() throws {
        let set = try LoadedText.good(
            """
            rules:
              - {id: one, triggers: {button: both, event: click}, conditions: variables.on_top, actions: {enable: two}}
              - {id: two, triggers: {button: hall, event: click}, actions: {script: dim}}
            scripts: {dim: {actions: {log: a}}}
            variables: {on_top: true}
            groups: {both: [kitchen, hall]}
            buttons: {kitchen: BF12-C34567, hall: BF12-C34568}
            """)
        #expect(set.rules.first?.triggers.first?.origin == .buttons([.declared(0), .declared(1)], [.click], parts: []))
        #expect(set.rules.first?.steps.first?.action == .enable([1], true))
    }
}

@Suite("What tags bring in, among declarations")
struct ConfidentialDeclarationTests {
    private let environment = LoadInputs(
        secrets: SourceFile(name: "secrets.yaml", text: Array("code: hunter2\nserial: BF12-C34567\n".utf8)))

    @Test(
        "no message shows a secret",
        arguments: [
            "buttons: {a: !secret code}", "buttons: {a: {uuid: !secret code}}", "buttons: {a: {address: !secret code}}",
            "location: {timezone: !secret code}", "states: {a: {topic: a, value: !secret code}}",
            "variables: {a: {initial: !secret code, values: [b, c]}}",
            "variables: {a: {initial: b, values: [!secret code]}}",
        ])
    func messages(text: String) {
        let complaints = LoadedText.complaints(text, in: environment)
        #expect(complaints.count == 1)
        #expect(!complaints.joined().contains("hunter2"))
        #expect(complaints.joined().contains("***"))
    }

    @Test(
        "words and names cannot come from a tag",
        arguments: [
            "{button: !secret code, event: click}", "{button: any, event: !secret code}",
            "{chord: [!secret code, kitchen]}", "{button: any, pattern: [short, !secret code]}",
            "{button: any, event: click, part: !secret code}", "{button: any, event: hold, for: !secret code}",
        ])
    func words(trigger: String) {
        let complaints = LoadedText.complaints(LoadedText.triggers(trigger), in: environment)
        #expect(complaints.count == 1)
        #expect(complaints.first?.hasSuffix("!secret gives text") == true)
    }

    @Test("texts can, and are kept confidential")
    func texts() throws {
        let set = try LoadedText.good(
            """
            buttons: {a: !secret serial}
            states: {s: {topic: !secret code, default: !secret code}}
            variables: {v: !secret code}
            """, in: environment)
        #expect(set.buttons.map(\.hardware) == [.serial("BF12-C34567")])
        #expect(set.states.map(\.topicName) == ["hunter2"])
        #expect(set.variables.map(\.initial) == [.string("hunter2")])
        #expect(set.confidential == ["hunter2", "BF12-C34567"])
        #expect(set.placeholders == ["hunter2": "***code***", "BF12-C34567": "***serial***"])
    }

    @Test("what stands for a value that is not available is accepted where the value has a form")
    func unavailable() throws {
        let text = """
            buttons: {a: !secret a, b: {address: !env_var B}, c: {uuid: !secret c}, d: {serial: !secret d}, e: !secret e}
            rules:
              - {id: r, triggers: {button: {address: !env_var B}, event: click}, actions: {http: {url: !secret hook}}}
            """
        var environment = LoadInputs(hasPlaceholders: true)
        environment.fileInputs.identities = [
            "***B***": "80:E4:DA:00:00:01", "***d***": "BF12-C34567", "***e***": "BF12-C34568",
        ]
        let set = try LoadedText.good(text, in: environment)
        #expect(
            set.buttons.map(\.hardware) == [
                .nickname("***a***"), .address(ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0001))),
                .nickname("***c***"), .serial("BF12-C34567"), .serial("BF12-C34568"),
            ])
    }
}
