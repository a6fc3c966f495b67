import ButtonModel
import Expressions
import Hub
import JSON
import Rules
import Simulator
import Testing

@Suite("Topics and requests of rules and variables")
struct RuleTopicScenarioTests {
    static let rules: HouseRules = """
        version: 1
        buttons:
          kitchen: {address: "80:E4:DA:00:00:01"}
        variables:
          text: a/b
          level: {initial: 30, min: 0, max: 100}
          scene: {initial: day, values: [day, night]}
        rules:
          - id: up
            triggers: {button: kitchen, event: down}
            conditions: variables.level < 100
            actions:
              - set: {level: "{{ variables.level + 10 }}"}
              - publish: {topic: out, payload: "{{ variables.level }} {{ trigger.manual }}"}
          - {id: idle, enabled: false, triggers: {button: kitchen, event: down}, actions: {log: never}}
          - {id: bad, triggers: {button: kitchen, event: up}, cooldown: 1h, actions: {publish: {topic: "a/{{ variables.text }}"}}}
        """

    private static func house(_ control: MQTTControl = .all) -> Household {
        var house = Household(rules: rules, control: control)
        house.pairAll()
        house.forgetWhatHappened()
        return house
    }

    @Test("the rule set, rules, variables and results of runs are retained")
    func retained() {
        var house = Self.house()
        #expect(house.retained["tryck/bridge/rules"]?.hasPrefix(#"{"state":"ok","active":""#) == true)
        #expect(house.retained["tryck/rules/up/enabled"] == "true")
        #expect(house.retained["tryck/rules/idle/enabled"] == "false")
        #expect(house.retained["tryck/variables/level"] == "30")
        #expect(house.retained["tryck/rules/up/last_run"] == nil)
        house.press("kitchen", .click)
        house.wait(.seconds(1))
        #expect(house.retained["tryck/variables/level"] == "40")
        #expect(house.retained["tryck/rules/up/last_run"]?.contains(#""result":"completed""#) == true)
        let failed = house.retained["tryck/rules/bad/last_run"]
        #expect(failed?.contains(#""result":"failed""#) == true)
        #expect(failed?.contains(#""step":"actions[0].publish","code":"R831""#) == true)
        #expect(house.retained["tryck/rules/up/stats"] == nil)
        house.wait(.seconds(10))
        #expect(house.retained["tryck/rules/up/stats"]?.contains(#""matched":1,"started":1,"completed":1"#) == true)
    }

    @Test("the counters of a rule that never runs are published, too")
    func drops() {
        var house = Self.house()
        house.press("kitchen", .click)
        house.wait(.seconds(20))
        #expect(house.retained["tryck/rules/idle/stats"]?.contains(#""disabled":1"#) == true)
        house.ask(#"{"request":"variables/set","data":{"name":"level","value":100}}"#)
        house.press("kitchen", .click)
        house.wait(.seconds(20))
        #expect(house.retained["tryck/rules/up/stats"]?.contains(#""dropped_conditions":1"#) == true)
        #expect(house.retained["tryck/rules/bad/stats"]?.contains(#""dropped_cooldown":1"#) == true)
    }

    @Test("a broker that has lost its retained messages gets all of them at the next connection")
    func reconnect() {
        var house = Self.house()
        house.press("kitchen", .click)
        house.wait(.seconds(20))
        let before = house.retained
        house.loseBroker()
        house.clearRetained()
        house.ask(#"{"request":"variables/set","data":{"name":"scene","value":"night"}}"#)
        house.ask(#"{"request":"rules/enable","data":{"id":"idle"}}"#)
        house.bringBrokerBack()
        for topic in before.keys where topic.hasPrefix("tryck/rules/") || topic.hasPrefix("tryck/variables/") {
            #expect(house.retained[topic] != nil, "\(topic)")
        }
        #expect(house.retained["tryck/variables/scene"] == "night")
        #expect(house.retained["tryck/rules/idle/enabled"] == "true")
    }

    @Test("the topics of removed rules and variables are cleared, and those of new ones are published")
    func cleared() {
        var house = Self.house()
        house.press("kitchen", .click)
        house.wait(.seconds(20))
        house.rulesOnDisk = """
            version: 1
            variables: {fresh: 1}
            rules:
              - {id: new, triggers: {button: any, event: down}, actions: {log: new}}
            """
        house.tell(.reloadRules)
        house.wait(.seconds(20))
        let left = house.retained.keys.filter { $0.hasPrefix("tryck/rules/") || $0.hasPrefix("tryck/variables/") }
        #expect(left.sorted() == ["tryck/rules/new/enabled", "tryck/variables/fresh"])
    }

    @Test("a reload publishes only the rules and variables that it changes")
    func changed() {
        var house = Self.house()
        house.ask(#"{"request":"variables/set","data":{"name":"scene","value":"night"}}"#)
        let text = Self.rules.text.replacing("{initial: 30, min: 0, max: 100}", with: "high").replacing(
            "variables.level < 100", with: "variables.level == 'high'"
        ).replacing(#"{level: "{{ variables.level + 10 }}"}"#, with: "{level: low}")
        house.rulesOnDisk = HouseRules(
            text.replacing("idle, enabled: false", with: "idle").replacing("id: up", with: "id: up\n    enabled: false")
        )
        house.tell(.reloadRules)
        #expect(house.retained["tryck/variables/level"] == "high")
        #expect(house.retained["tryck/variables/scene"] == "night")
        #expect(house.retained["tryck/rules/up/enabled"] == "false")
        #expect(house.retained["tryck/rules/idle/enabled"] == "true")
    }

    // MARK: Requests

    @Test("rules are listed, run, disabled and traced over the control socket")
    func requests() {
        var house = Self.house()
        house.ask(#"{"request":"rules"}"#)
        #expect(house.data[0]?["id"] == "up")
        #expect(house.data[1]?["enabled"] == false)
        house.ask(#"{"request":"rules/run","data":{"id":"up"}}"#)
        // A message with QoS 0 is done when it is handed over.
        #expect(house.data["outcome"] == "completed")
        #expect(house.data["trace"]?["result"] == "completed")
        #expect(house.payloads(on: "out") == ["40 true"])
        house.ask(#"{"request":"rules/run","data":{"id":"up","dry_run":true}}"#)
        #expect(house.data["outcome"] == "completed")
        #expect(house.payloads(on: "out") == ["40 true"])
        house.ask(#"{"request":"variables/set","data":{"name":"level","value":100}}"#)
        house.ask(#"{"request":"rules/run","data":{"id":"up"}}"#)
        #expect(
            house.responses.last?["error"]
                == "rule up did not run: dropped_conditions: variables.level < 100 is false (variables.level = 100)")
        house.ask(#"{"request":"rules/run","data":{"id":"up","conditions":false}}"#)
        #expect(house.payloads(on: "out") == ["40 true", "100 true"])
        house.ask(#"{"request":"rules/disable","data":{"id":"up"}}"#)
        #expect(house.store.state.rules.enabled["up"]?.isEnabled == false)
        house.press("kitchen", .click)
        house.wait(.seconds(1))
        #expect(house.payloads(on: "out").count == 2)
        house.ask(#"{"request":"rules/trace","data":{"id":"up"}}"#)
        #expect(house.data["runs"]?[2]?["steps"]?[0]?["step"] == "actions[0].set")
        #expect(house.data["stopped"]?[0]?["gate"] == "dropped_conditions")
        #expect(house.data["stopped"]?[0]?["reason"]?.stringValue?.contains("100") == true)
        #expect(house.data["stopped"]?[1]?["gate"] == "disabled")
        house.ask(#"{"request":"rules"}"#)
        #expect(house.data[0]?["last_stopped"]?["event"] == "down")
    }

    @Test("the list of rules counts the runs of each rule, and no run that has ended")
    func runningCounts() {
        var house = Household(
            rules: """
                version: 1
                rules:
                  - {id: slow, triggers: {button: any, event: down}, mode: parallel, actions: {delay: 10s}}
                  - {id: other, triggers: {button: any, event: down}, actions: {delay: 6s}}
                  - {id: quick, triggers: {button: any, event: down}, actions: {log: done}}
                """)
        house.pairAll()
        func counts() -> [JSONValue?] {
            house.ask(#"{"request":"rules"}"#)
            return (house.data.arrayValue ?? []).map { $0["running"] }
        }
        #expect(counts() == [0, 0, 0])
        house.press("kitchen", .click)
        house.wait(.seconds(5))
        #expect(counts() == [1, 1, 0])
        // The rule `other` drops this press.
        house.press("hall", .click)
        house.wait(.milliseconds(500))
        #expect(counts() == [2, 1, 0])
        house.wait(.seconds(2))
        #expect(counts() == [2, 0, 0])
        house.wait(.seconds(4))
        #expect(counts() == [1, 0, 0])
        house.wait(.seconds(5))
        #expect(counts() == [0, 0, 0])
    }

    @Test(
        "an invalid request about rules is answered with the error",
        arguments: [
            (#"{"request":"rules/run"}"#, #"rules/run takes {"id": a rule's id}"#),
            (#"{"request":"rules/run","data":{"id":"upp"}}"#, #"there is no rule "upp"; did you mean "up"?"#),
            (
                #"{"request":"rules/trace","data":{"id":"zzzzzz"}}"#,
                #"there is no rule "zzzzzz"; "tryck rules" lists them"#
            ),
            (
                #"{"request":"rules/run","data":{"id":"up","dry_run":1}}"#,
                #""conditions" and "dry_run" must be true or false"#
            ),
            (#"{"request":"variables/set","data":{"name":"level"}}"#, #"variables/set takes {"name": …, "value": …}"#),
            (
                #"{"request":"variables/set","data":{"name":"levl","value":1}}"#,
                #"there is no variable "levl"; did you mean "level"?"#
            ),
            (#"{"request":"variables/set","data":{"name":"level","value":"1"}}"#, "level takes an integer"),
            (#"{"request":"variables/set","data":{"name":"scene","value":"noon"}}"#, "scene is one of day, night"),
        ])
    func badRequests(line: String, sentence: String) {
        var house = Household(rules: Self.rules)
        house.ask(line)
        #expect(house.responses.last?["error"] == .string(sentence))
    }

    @Test("variables are set within their bounds, stored immediately, and continue runs that wait for them")
    func variables() {
        var house = Self.house()
        house.ask(#"{"request":"variables/set","data":{"name":"level","value":500}}"#)
        #expect(house.data["value"] == 100)
        #expect(house.store.state.rules.variables["level"] == .integer(100))
        let isRecorded = house.journal.prefix { $0 != "publish tryck/variables/level" }.contains("record")
        #expect(isRecorded)
        #expect(house.journal.contains("sync"))
        house.ask(#"{"request":"variables"}"#)
        #expect(house.data[1]?["value"] == 100)
    }

    @Test("with control: all, the same requests work over MQTT, and retained requests are ignored")
    func mqtt() {
        var house = Self.house()
        house.say("{}", on: "tryck/rules/up/run")
        #expect(house.payloads(on: "out") == ["40 true"])
        house.say("false", on: "tryck/rules/up/enabled/set")
        #expect(house.retained["tryck/rules/up/enabled"] == "false")
        house.say("50", on: "tryck/variables/level/set")
        house.say("night", on: "tryck/variables/scene/set")
        #expect(house.retained["tryck/variables/level"] == "50")
        #expect(house.retained["tryck/variables/scene"] == "night")
        house.say("100", on: "tryck/variables/level/set")
        house.say("{}", on: "tryck/rules/up/run")
        house.say(#"{"conditions":false}"#, on: "tryck/rules/up/run")
        #expect(house.payloads(on: "out") == ["40 true", "100 true"])
        house.tell(.messageReceived(topicName: "tryck/variables/level/set", payload: Array("1".utf8), retained: true))
        house.tell(.messageReceived(topicName: "tryck/rules/up/run", payload: [], retained: true))
        #expect(house.retained["tryck/variables/level"] == "100")
        for (topic, payload, sentence) in [
            ("rules/up/enabled/set", "maybe", "true or false"), ("variables/level/set", "much", "level takes"),
            ("variables/level/set", "1.5", "level takes"), ("variables/scene/set", "moon", "scene is one of"),
            ("variables/leve/set", "1", "did you mean"), ("rules/upp/run", "", "did you mean \"up\"?"),
            ("variables/level/set", String(repeating: "1", count: 65 << 10), "at most 16 KiB"),
            ("rules/nobody/enabled/set", "true", "there is no rule"),
        ] {
            // This line is logged at most once a minute.
            house.wait(.seconds(60))
            house.forgetWhatHappened()
            house.say(payload, on: "tryck/\(topic)")
            #expect(house.logged.count == 1)
            #expect(house.logged.first?.contains(sentence) == true, "\(house.logged)")
        }
    }

    @Test("without control: all, rules and variables cannot be changed over MQTT")
    func settingsOnly() {
        var house = Self.house(.settings)
        #expect(!house.subscriptions.contains { $0.contains("/rules/") })
        house.say("{}", on: "tryck/rules/up/run")
        house.say("50", on: "tryck/variables/level/set")
        #expect(house.payloads(on: "out") == [])
        #expect(house.retained["tryck/variables/level"] == "30")
    }

    @Test("a secret is hidden in traces and lists in each form in which it is written")
    func secrets() {
        let secret = #"a "b" c"#
        var rules: HouseRules = """
            version: 1
            variables: {place: ""}
            rules:
              - id: one
                alias: 'a "b" c'
                triggers: {button: any, event: down}
                actions:
                  - publish: {topic: t, json: {key: 'a "b" c'}}
                  - set: {place: 'a "b" c'}
                  - http: {url: "https://web/{{ variables.place }}"}
                  - run: [prog, 'a "b" c']
            """
        rules.set.confidential = [secret]
        var house = Household(rules: rules)
        house.ask(#"{"request":"watch"}"#)
        for request in ["rules/run", "rules/trace"] { house.ask(#"{"request":"\#(request)","data":{"id":"one"}}"#) }
        for request in ["rules", "variables"] { house.ask(#"{"request":"\#(request)"}"#) }
        let shown = (house.responses + house.told).map(\.description) + house.logged + Array(house.retained.values)
        #expect(shown.contains { $0.contains("***") })
        for form in [secret, #"a \"b\" c"#, #"a \\\"b\\\" c"#, "a%20%22b%22%20c"] {
            #expect(!shown.contains { $0.contains(form) }, "\(form)")
        }
    }
}

extension JSONValue {
    fileprivate subscript(place: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(place) else { return nil }
        return elements[place]
    }
}
