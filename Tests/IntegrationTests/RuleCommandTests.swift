import Foundation
import JSON
import Testing

/// The commands for rules: their output and exit statuses.
@Suite("Commands for rules", .serialized, .ownThread)
struct RuleCommandTests {
    private static let rules = """
        version: 1
        buttons:
          \(RuleHouse.kitchen)
          hall: {serial: BA00-H00001}
        states: {lux: {topic: sensor/lux, type: number, default: 0}}
        variables: {guest: false}
        rules:
          - id: lamp
            alias: The lamp
            triggers: [{button: kitchen, event: click}, {button: hall, event: click}]
            conditions: [states.lux < 10, not variables.guest]
            actions: [{publish: {topic: test/lamp, payload: "{{ states.lux }}"}}, {log: lit}]
          - id: scenes
            triggers: {button: hall, event: double_click}
            actions: {set: {guest: true}}
        tests:
          - name: dark
            steps: [{event: {button: hall, event: click}}, {expect: [{publish: {topic: test/lamp}}]}]
        """

    private func files(_ rules: String = RuleCommandTests.rules) throws -> (Workshop, String) {
        let workshop = try Workshop()
        return (workshop, try workshop.write("home.yaml", rules))
    }

    private func json(_ workshop: Workshop, _ arguments: [String], status: Int32 = 0) throws -> JSONValue {
        let program = try workshop.tryck(arguments + ["--json"])
        #expect(try program.status() == status, "\(arguments): \(program.text)")
        return try JSONValue(parsing: program.text)
    }

    @Test(
        "check: mode and wait of each button with the reason; exit status 1 for errors, 78 for an unreadable file, 64 for misuse"
    )
    func check() throws {
        let (workshop, home) = try files()
        let table = try workshop.tryck(["check", home])
        #expect(try table.status() == 0)
        let kitchen = try #require(table.lines.first { $0.contains("kitchen") }).split(separator: " ").map(String.init)
        #expect(kitchen.contains("click"), "\(table.text)")
        let hall = try #require(table.lines.first { $0.contains("hall ") || $0.hasSuffix("hall") })
        #expect(
            hall.contains("click_and_double_click") && hall.contains("500") && hall.contains("scenes"), "\(table.text)")
        #expect(try json(workshop, ["check", home]) == [])

        let (other, bad) = try files(Self.rules + "\n    x: 1\n")
        let errors = try json(other, ["check", bad], status: 1)
        #expect(errors.arrayValue?.first?["code"] == "E201" && errors.arrayValue?.first?["severity"] == "error")
        for (arguments, status) in [
            (["check", workshop.path("nothing.yaml")], 78), (["test", workshop.path("nothing.yaml")], 78),
            (["check", "--strikt"], 64), (["test", bad], 1), (["explain", "kitchen", "click", "--rules", bad], 1),
        ] as [([String], Int32)] {
            let program = try other.tryck(arguments)
            #expect(try program.status() == status, "\(arguments): \(program.text)")
        }
        let (third, warns) = try files(
            Self.rules.replacingOccurrences(of: "hall: {serial", with: "attic: BA00-X00001\n  hall: {serial"))
        #expect(try json(third, ["check", warns]).arrayValue?.first?["code"] == "W704")
        _ = try json(third, ["check", "--strict", warns], status: 1)
    }

    @Test("a rules file that is checked alone is checked with the configuration here that names it")
    func configured() throws {
        let (workshop, home) = try files()
        let configuration = try workshop.write("alone.yaml", "mqtt: {broker: none}\nrules: home.yaml\n")
        func codes(_ configuration: String) throws -> [String?] {
            let check = try workshop.tryck(["check", home, "--json"], environment: ["TRYCK_CONFIG": configuration])
            #expect(try check.status() == 0)
            return try JSONValue(parsing: check.text).arrayValue?.map { $0["code"]?.stringValue } ?? []
        }
        #expect(try codes(configuration) == ["W710"])
        #expect(try codes(try workshop.write("other.yaml", "mqtt: {broker: none}\nrules: attic.yaml\n")) == [])
        #expect(try codes(try workshop.write("bad.yaml", "mqtt: {broker: [}\n")) == [])
    }

    @Test("test: passed and failed tests with reasons, and what no test reached")
    func test() throws {
        let (workshop, home) = try files()
        let report = try json(workshop, ["test", home])
        #expect(report["tests"]?.arrayValue?.first?["passed"] == true)
        #expect(
            report["unreached"]?.arrayValue?.contains { $0["what"]?.stringValue?.contains("scenes") == true } == true)
        _ = try json(workshop, ["test", "--strict", home], status: 1)
        try workshop.write(
            "home.yaml",
            Self.rules.replacingOccurrences(of: "steps: [", with: "given: {states: {lux: 50}}\n    steps: ["))
        let failed = try json(workshop, ["test", home], status: 1).member("tests", 0, "failure")
        #expect(failed?["happened"] == [])
        #expect(failed?["why"]?.description.contains("states.lux") == true, "\(failed?.description ?? "")")
        #expect(failed?["file"] == .string(home) && failed?["line"] == 19 && failed?["column"] == 53)
        for thing in (report["tests"]?.arrayValue ?? []) + (report["unreached"]?.arrayValue ?? []) {
            #expect(Self.hasPlace(thing, in: home), "\(thing)")
        }
    }

    /// True if a thing of a file has its place there as three members.
    private static func hasPlace(_ thing: JSONValue, in file: String) -> Bool {
        thing["file"] == .string(file) && thing["line"]?.integerValue ?? 0 > 0 && thing["column"]?.integerValue ?? 0 > 0
            && thing["place"] == nil
    }

    @Test("explain --live: the values of the daemon's states, variables and rules, unless others are given")
    func explainLive() throws {
        let house = try RuleHouse(Self.rules)
        func lamp(_ arguments: String...) throws -> JSONValue? {
            let program = try house.workshop.tryck(
                [
                    "explain", "hall", "click", "--live", "--json", "--control-socket",
                    house.workshop.path("control.sock"),
                ]
                    + arguments)
            #expect(try program.status() == 0, "\(program.text)")
            return try JSONValue(parsing: program.text)["rules"]?.arrayValue?.first
        }
        #expect(try lamp()?["runs"] == true)
        try house.publish("sensor/lux", "31")
        let deadline = ContinuousClock.now + .seconds(10)
        while try house.ask("states").arrayValue?.first?["value"] != 31, ContinuousClock.now < deadline {}
        try house.ask("variables/set", ["name": "guest", "value": true])
        #expect(try lamp("--variable", "guest=false")?["reasons"]?.description.contains("states.lux = 31") == true)
        #expect(try lamp("--state", "lux=3")?["reasons"]?.description.contains("variables.guest = true") == true)
        #expect(try lamp("--state", "lux=3", "--variable", "guest=false")?["runs"] == true)
        try house.ask("rules/disable", ["id": "lamp"])
        #expect(try lamp("--state", "lux=3", "--variable", "guest=false")?["stopped_by"] == "disabled")
        let alone = try house.workshop.tryck(["explain", "hall", "click", "--live", "--control-socket", "/nowhere"])
        #expect(try alone.status() == 69)
    }

    @Test("explain: each gate with its values, without performing actions")
    func explain() throws {
        let (workshop, home) = try files()
        let runs = try json(workshop, ["explain", "hall", "click", "--rules", home])
        #expect(runs.member("rules", 0, "runs") == true && runs.member("rules", 0, "id") == "lamp")
        #expect(Self.hasPlace(runs["rules"]?.arrayValue?.first ?? .null, in: home), "\(runs)")
        let stopped = try json(
            workshop, ["explain", "hall", "click", "--rules", home, "--state", "lux=31", "--at", "23:15"])
        #expect(stopped.member("rules", 0, "stopped_by") == "dropped_conditions")
        #expect(stopped.member("rules", 0, "reasons")?.description.contains("31") == true)
        let pattern = try json(workshop, ["explain", "hall", "--pattern", "short,short", "--rules", home])
        #expect(pattern.member("rules", 0, "id") == "scenes")
        let late = try json(workshop, ["explain", "hall", "click", "--rules", home, "--queued", "5s"])
        #expect(late.member("rules", 0, "stopped_by") == "dropped_queued")
        for (arguments, sentence) in [
            (["explain", "hall"], "--pattern"), (["explain", "hall", "click", "--pattern", "short,long"], "--pattern"),
            (["explain", "hall", "--pattern", "short,lang"], "short,long"),
            (["explain", "hall", "click", "--held-for", "2s"], "hold"),
            (["explain", "hall", "hold", "--held-for", "2"], "2s"),
            (["explain", "hall", "clik"], "Did you mean \"click\"?"),
            (["explain", "hall", "click", "--at", "25:00"], "--at takes a time from 00:00 to 23:59:59, not \"25:00\""),
        ] {
            let program = try workshop.tryck(arguments + ["--rules", home])
            #expect(try program.status() == 64, "\(arguments): \(program.text)")
            #expect(program.text.contains(sentence), "\(program.text)")
        }
        // Names that do not exist, and values that a variable does not take, are no misuse of the command line.
        for (arguments, sentence) in [
            (["explain", "hal", "click"], "Did you mean \"hall\"?"),
            (["explain", "--chord", "hall,kitchn"], "Did you mean \"kitchen\"?"),
            (["explain", "hall", "click", "--state", "lx=1"], "Did you mean \"lux\"?"),
            (["explain", "hall", "click", "--variable", "guest=maybe"], "guest"),
        ] {
            let program = try workshop.tryck(arguments + ["--rules", home])
            #expect(try program.status() == 1, "\(arguments): \(program.text)")
            #expect(program.text.contains(sentence), "\(program.text)")
        }
    }

    @Test("rules come from standard input, several files are tested, and output that cannot be written is an error")
    func streams() throws {
        let (workshop, home) = try files()
        func shell(_ script: String) throws -> Program {
            try workshop.start(
                "/bin/sh", ["-c", script, Workshop.built("tryck"), home], environment: ["NO_COLOR": "1"])
        }
        let piped = try shell(#"sed 's/double_click/dubble_click/' "$1" | "$0" check - --as rules/new.yaml"#)
        #expect(try piped.status() == 1)
        #expect(piped.text.contains("rules/new.yaml:") && piped.text.contains("double_click"), "\(piped.text)")
        let tests = try shell(#""$0" test - "$1" < "$1""#)
        #expect(try tests.status() == 0)
        #expect(tests.lines.contains("-:") && tests.lines.contains("\(home):"), "\(tests.text)")
        let full = try shell(#""$0" schema > /dev/full"#)
        #expect(try full.status() == 74)
        #expect(full.text.contains("No space left"), "\(full.text)")
        // A file that cannot be written is the same error, and the message says what to do.
        for (path, advice) in [("/nowhere/x.json", "Create its directory"), ("/dev/full", "Specify another file")] {
            let refused = try workshop.tryck(["schema", "--output", path])
            #expect(try refused.status() == 74, "\(refused.text)")
            #expect(refused.text.contains(path) && refused.text.contains(advice), "\(refused.text)")
        }
        let early = try shell(#""$0" schema | head -c 1"#)
        #expect(try early.status() == 0)
        #expect(early.text == "{")
    }

    @Test("schema: JSON for editors, with the names of a set on request")
    func schema() throws {
        let (workshop, home) = try files()
        let plain = try workshop.tryck(["schema"])
        #expect(try plain.status() == 0)
        #expect(try JSONValue(parsing: plain.text)["$schema"] == "http://json-schema.org/draft-07/schema#")
        let named = try workshop.tryck(["schema", "--for", home])
        #expect(try named.status() == 0)
        #expect(named.text.contains(#""scenes""#) && !plain.text.contains(#""scenes""#))
        let written = workshop.path("named.schema.json")
        try "old".write(toFile: written, atomically: true, encoding: .utf8)
        let silent = try workshop.tryck(["schema", "--for", home, "--output", written])
        #expect(try silent.status() == 0)
        #expect(silent.text == "")
        #expect(try String(contentsOfFile: written, encoding: .utf8) == named.text + "\n")
        let text = try String(contentsOfFile: home, encoding: .utf8)
        try text.replacing("rules:", with: "rules:\n  - {id: broken}").write(
            toFile: home, atomically: true, encoding: .utf8)
        let partial = try workshop.tryck(["schema", "--for", home, "--output", written])
        #expect(try partial.status() == 1)
        #expect(partial.text.contains("names that could be read"))
        #expect(try String(contentsOfFile: written, encoding: .utf8).contains(#""scenes""#))
    }

    @Test("press: a simulated button is called as in the rules, and a name that does not exist gets a suggestion")
    func press() throws {
        let house = try RuleHouse(
            Self.rules.replacing("kitchen", with: "stove"), hasButton: true)
        let pressed = try JSONValue(parsing: house.tryck("press", "stove", "click", "--json"))
        #expect(pressed == ["button": "kitchen", "press": "click"])
        try house.heard("test/lamp 0")
        #expect(try house.tryck("press", "stov", "click", status: 1).contains("did you mean \"stove\"?"))
        #expect(try house.tryck("press", "stove", "clik", status: 64).contains("Did you mean \"click\"?"))
    }

    @Test("rules and rule ID: list, run, dry run, enable, disable and trace; an unknown rule is an error")
    func daemon() throws {
        let house = try RuleHouse(Self.rules)
        let table = try house.tryck("rules")
        #expect(table.contains("lamp") && table.contains("scenes"))
        let dry = try JSONValue(parsing: house.tryck("rule", "lamp", "run", "--dry-run", "--json"))
        #expect(dry["id"] == "lamp" && dry["outcome"] == "completed")
        #expect(try house.tryck("rule", "scenes", "run", "--dry-run").contains("set"))
        #expect(try house.tryck("rule", "lamp", "run").contains("publish"))
        try house.heard("test/lamp 0")
        #expect(try #require(house.messages).lines.count { $0.hasPrefix("test/lamp ") } == 1)
        _ = try house.tryck("rule", "scenes", "run")
        #expect(try house.tryck("rule", "lamp", "run", status: 1).contains("dropped_conditions"))
        #expect(try house.tryck("rule", "lamp", "run", status: 1).contains("not variables.guest is false"))
        #expect(try house.tryck("rule", "lamp", "run", "--ignore-conditions", "--wait").contains("completed"))
        #expect(try house.tryck("rule", "lamp", "disable") == "lamp is disabled.")
        let rules = try JSONValue(parsing: house.tryck("rules", "--json"))
        let lamp = try #require(rules.arrayValue?.first)
        #expect(lamp["enabled"] == false && lamp["alias"] == "The lamp" && lamp["mode"] == "single")
        #expect(lamp["stats"]?["completed"] == 3 && lamp["stats"]?["dropped_conditions"] == 2)
        #expect(lamp["last_run"]?["result"] == "completed")
        #expect(Self.hasPlace(lamp, in: house.workshop.path("rules/home.yaml")), "\(lamp)")
        #expect(try house.tryck("rule", "lamp", "enable") == "lamp is enabled.")
        for (word, isEnabled) in [("disable", false), ("enable", true)] {
            let answer = try JSONValue(parsing: house.tryck("rule", "lamp", word, "--json"))
            #expect(answer == ["id": "lamp", "enabled": .bool(isEnabled)])
        }
        let unknown = try JSONValue(parsing: house.tryck("rule", "lamb", "enable", "--json", status: 1))
        #expect(unknown["error"]?.stringValue?.contains("did you mean \"lamp\"?") == true && unknown["code"] == 1)
        let trace = try JSONValue(parsing: house.tryck("rule", "lamp", "trace", "--json"))
        #expect(trace["runs"]?.arrayValue?.count == 3)
        let steps = trace.member("runs", 1, "steps")?.arrayValue?.compactMap { $0["step"]?.stringValue }
        #expect(steps?.first == "actions[0].publish" && steps?.last == "actions[1].log")
        for step in trace.member("runs", 1, "steps")?.arrayValue ?? [] {
            #expect(Self.hasPlace(step, in: house.workshop.path("rules/home.yaml")), "\(step)")
        }
        #expect(try house.tryck("rule", "lamp").contains("actions[0].publish"))
        #expect(try house.tryck("rule", "lamb", "trace", status: 1).contains("did you mean \"lamp\"?"))
        #expect(try house.tryck("rule", "lamp", "trade", status: 64).contains("--help"))
        house.daemon.stop()
        #expect(try house.tryck("rules", status: 69).contains("tryck"))
    }
}

extension JSONValue {
    fileprivate func member(_ list: String, _ index: Int, _ name: String) -> JSONValue? {
        guard let elements = self[list]?.arrayValue, elements.indices.contains(index) else { return nil }
        return elements[index][name]
    }
}
