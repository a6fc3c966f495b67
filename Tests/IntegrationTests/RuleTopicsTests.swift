import Foundation
import JSON
import Testing

/// Rules, variables and states over MQTT.
@Suite("Topics of rules", .serialized, .ownThread)
struct RuleTopicsTests {
    private static let rules = """
        version: 1
        states:
          lux: {topic: sensor/hall, value: /light/0, type: number, default: 0}
          door: {topic: home/door, max_age: 3s}
          word: {topic: home/word, default: ""}
        variables:
          volume: {initial: 30, min: 0, max: 100}
          scene: {initial: day, values: [day, night]}
          guest: false
          note: {initial: ""}
        rules:
          - id: lamp
            triggers: {button: any, event: click}
            conditions: not variables.guest
            actions: {publish: {topic: test/lamp, payload: "{{ variables.volume }} {{ variables.note }} {{ trigger.manual }}"}}
          - id: reads
            triggers: {button: any, event: click}
            actions: {publish: {topic: test/reads, payload: "{{ states.lux }} {{ states.door ?? 'unknown' }}"}}
          - id: seven
            triggers: {button: any, event: click}
            actions: [{wait: {until: states.lux == 7, timeout: 1m}}, {publish: {topic: test/seven, payload: seen}}]
          - id: fails
            alias: The one that fails
            triggers: {button: any, event: click}
            actions: {run: [sh, -c, "echo no such luck >&2; exit 3"], alias: luck}
        """

    @Test("enabled rules, results and values are retained, and can be changed over MQTT")
    func topics() throws {
        let house = try RuleHouse(Self.rules)
        #expect(try JSONValue(parsing: house.retained("tryck/bridge/rules"))["state"] == "ok")
        #expect(try house.retained("tryck/rules/lamp/enabled") == "true")
        #expect(try house.retained("tryck/variables/volume") == "30")
        #expect(try house.retained("tryck/variables/scene") == "day")

        try house.publish("tryck/variables/volume/set", "150")
        try house.heard("tryck/variables/volume 100")
        try house.publish("tryck/variables/note/set", #"é "quoted""#)
        try house.heard(#"tryck/variables/note é "quoted""#)
        try house.publish("tryck/rules/lamp/run", "")
        try house.heard(#"test/lamp 100 é "quoted" true"#)
        let last = try JSONValue(
            parsing: try #require(house.messages).line(containing: "tryck/rules/lamp/last_run {")
                .drop { $0 != "{" }.description)
        #expect(last["result"] == "completed" && last["button"] == .null)
        #expect(last["duration_ms"]?.integerValue.map { $0 >= 0 } == true)

        // The first of these is logged; the others would be logged a minute later.
        for (topicName, payload) in [
            ("variables/volume/set", "loud"), ("variables/volume/set", "1.5"), ("variables/scene/set", "moon"),
            ("variables/volum/set", "1"), ("variables/note/set", String(repeating: "x", count: 65 << 10)),
            ("rules/lamp/enabled/set", "on"), ("rules/lamb/run", ""),
        ] { try house.publish("tryck/\(topicName)", payload) }
        let line = try house.daemon.line(containing: "tryck/variables/volume/set: ")
        #expect(line.contains("volume takes an integer"))

        try house.publish("tryck/variables/guest/set", "true")
        try house.publish("tryck/rules/lamp/run", "")
        try house.daemon.line(containing: "dropped_conditions")
        try house.publish("tryck/rules/lamp/run", #"{"conditions": false}"#)
        try house.heard("test/lamp 100")
        try house.publish("tryck/rules/lamp/enabled/set", "false")
        try house.heard("tryck/rules/lamp/enabled false")
        try house.publish("tryck/rules/fails/run", "")
        let failed = try JSONValue(
            parsing: try #require(house.messages).line(containing: #"tryck/rules/fails/last_run {"result":"failed""#)
                .drop { $0 != "{" }.description)
        #expect(failed["step"] == "luck" && failed["code"] == "R822")
        #expect(failed["message"] == "exit status 3: no such luck" && failed["exit_status"] == 3)

        let statistics = try JSONValue(
            parsing: try #require(house.messages).line(containing: "tryck/rules/lamp/stats {").drop { $0 != "{" }
                .description)
        #expect(statistics["matched"] == 3 && statistics["completed"] == 2)
        #expect(statistics["dropped_conditions"] == 1)
        #expect(try house.retained("tryck/rules/lamp/stats") == statistics.description)
    }

    @Test("a retained message on a request topic is ignored, and logged")
    func retainedRequests() throws {
        let house = try RuleHouse(Self.rules) { workshop, port in
            for (topicName, payload) in [
                ("rules/lamp/run", ""), ("rules/lamp/run", "{}"), ("rules/lamp/enabled/set", "false"),
                ("variables/volume/set", "1"), ("bridge/request/rules/reload", "{}"),
            ] { try RuleHouse.publish(workshop, port, "tryck/" + topicName, payload, retain: true) }
        }
        try house.daemon.line(containing: "a retained request is ignored")
        try house.publish("tryck/rules/lamp/run", "")
        try house.heard("test/lamp 30")
        #expect(try house.retained("tryck/rules/lamp/enabled") == "true")
        #expect(try #require(house.messages).lines.count { $0.hasPrefix("test/lamp") } == 1)
        #expect(try !#require(house.messages).text.contains("bridge/response"))
    }

    @Test("control.mqtt determines which requests work over MQTT", arguments: ["none", "settings", "all"])
    func control(_ setting: String) throws {
        let house = try RuleHouse(Self.rules, configuration: "control: {mqtt: \(setting)}")
        try house.run("seven")
        try house.publish("tryck/rules/lamp/enabled/set", "false")
        try house.publish("tryck/variables/volume/set", "31")
        try house.publish("tryck/bridge/request/rules/reload", "")
        // Messages arrive in order, so all earlier ones have arrived with this one.
        try house.publish("sensor/hall", #"{"light": [7]}"#)
        try house.heard("test/seven seen")
        let rules = try JSONValue(parsing: house.tryck("rules", "--json"))
        let variables = try house.ask("variables")
        #expect(rules.arrayValue?.first?["enabled"] == .bool(setting != "all"))
        #expect(variables.arrayValue?.first?["value"] == (setting == "all" ? 31 : 30))
        if setting == "none" {
            #expect(try !#require(house.messages).text.contains("response/rules/reload {"))
        } else {
            try #require(house.messages).wait(forLineContaining: "response/rules/reload {")
        }
    }

    @Test("topics of removed rules and variables are cleared")
    func gone() throws {
        let house = try RuleHouse(Self.rules)
        try house.run("lamp")
        try house.heard("tryck/rules/lamp/last_run {")
        try house.workshop.write("rules/home.yaml", "version: 1\nvariables: {volume: loud}\nrules: []\n")
        try house.reloaded()
        for topicName in ["rules/lamp/enabled", "rules/lamp/last_run", "variables/note"] {
            try #require(house.messages).wait { $0.contains("tryck/\(topicName) (null)") }
        }
        #expect(try house.retained("tryck/variables/volume") == "loud")
        try house.workshop.write("rules/home.yaml", Self.rules)
        try house.reloaded()
        #expect(try house.retained("tryck/rules/lamp/enabled") == "true")
        #expect(try house.retained("tryck/variables/volume") == "30")
    }

    @Test("states are read from their topics, also retained ones, and expire")
    func states() throws {
        let house = try RuleHouse(
            Self.rules + """

                  - id: gone
                    triggers: {button: any, event: hold}
                    actions: [{wait: {until: not known(states.door), timeout: 10s}}, {publish: {topic: test/gone, payload: it is}}]
                  - id: says
                    triggers: {button: any, event: hold}
                    actions: {publish: {topic: test/says, payload: "{{ states.lux }} {{ states.word }}"}}
                """
        ) { workshop, port in
            try RuleHouse.publish(workshop, port, "sensor/hall", #"{"light": ["7.0", 8]}"#, retain: true)
        }
        try house.run("seven")
        try house.heard("test/seven seen")
        try house.publish("home/door", "open")
        try house.publish("tryck/rules/reads/run", "")
        try house.heard("test/reads 7 open")
        try house.run("gone")
        try house.heard("test/gone it is")
        try house.run("reads")
        try house.heard("test/reads 7 unknown")
        // An unreadable value gives the default; a message without the value changes nothing.
        for (payload, value) in [
            (#"{"light": []}"#, 1), ("nonsense", 0), (#"{"light": [true]}"#, 0), ("[1", 0), (#"{"dark": 1}"#, 1),
        ] {
            try house.publish("sensor/hall", #"{"light": [1]}"#)
            try house.publish("sensor/hall", payload)
            try house.publish("home/word", "after " + payload)
            try house.publish("tryck/rules/says/run", "")
            try house.heard("test/says \(value) after " + payload)
        }
    }

    @Test("a state that changes fires a rule; a retained one does not; the time that it must last survives a kill")
    func stateTrigger() throws {
        let house = try RuleHouse(
            """
            version: 1
            states: {door: {topic: home/door}}
            rules:
              - id: opened
                triggers: {state: door, to: open}
                actions: {publish: {topic: test/opened, payload: "{{ trigger.old }} {{ trigger.new }}"}}
              - id: stands_open
                triggers: {state: door, to: open, for: 2s}
                actions: {publish: {topic: test/stands, payload: "since {{ trigger.old }}open"}}
            """
        ) { workshop, port in
            try RuleHouse.publish(workshop, port, "home/door", "open", retain: true)
        }
        try house.publish("home/door", "closed", retain: true)
        try house.publish("home/door", "open", retain: true)
        try house.heard("test/opened closed open")
        try house.heard("test/stands since closedopen")
        try house.publish("home/door", "closed", retain: true)
        try house.publish("home/door", "open", retain: true)
        try house.heard("test/opened closed open")
        try house.restart(with: SIGKILL)
        // The retained message makes the value known again, and fires only what was counted.
        try house.heard("test/stands since open")
        let statistics = try house.ask("rules/trace", ["id": "opened"])["runs"]?.arrayValue
        #expect(statistics?.isEmpty == true, "a retained message started the rule")
    }
}
