import DiskTestSupport
import Glibc
import JSON
import Setup
import Testing

@testable import WebService

@Suite("What the page asks about rules")
struct RuleDeskTests {
    private let directory = TemporaryDirectory()
    private let desk: RuleDesk

    private static let home = """
        version: 1
        include: rooms/*.yaml
        buttons:
          kitchen: {address: "80:E4:DA:00:00:01"}
        rules:
          - id: toggle
            triggers: {button: kitchen, event: click}
            actions:
              - publish: {topic: a/b, payload: "on"}
              - http: {url: https://ada:hunter2@host/, headers: {X-Token: !secret hue}}
        tests:
          - name: it toggles
            steps:
              - press: {button: kitchen, times: 1}
              - expect: [{publish: {topic: a/b, payload: "on"}}, {http: {}}]
        """

    init() {
        let set = directory.path + "/set"
        mkdir(set, 0o700)
        mkdir(set + "/rooms", 0o700)
        writeFile(set + "/home.yaml", Self.home.utf8)
        writeFile(set + "/rooms/hall.yaml", "buttons:\n  hall: {address: \"80:E4:DA:00:00:02\"}\n".utf8)
        writeFile(set + "/secrets.yaml", "hue: topsecret\n".utf8)
        writeFile(directory.path + "/outside.yaml", "outside: hunter3\n".utf8)
        let rules = RulesOnDisk(path: set + "/home.yaml", files: ConfigurationFiles(environment: [:]))
        desk = RuleDesk(rules, canEdit: true, key: [1])
    }

    private func draft(_ text: String, _ more: [JSONValue.Member] = []) -> JSONValue {
        .object([.init("files", ["home.yaml": .string(text)])] + more)
    }

    @Test("the files of the set are listed, and secrets.yaml is not")
    func list() {
        let files = desk.list()["files"]?.arrayValue ?? []
        #expect(files.map { $0["name"]?.stringValue } == ["home.yaml", "rooms/hall.yaml"])
        #expect(files.map { $0["entry"]?.boolValue } == [true, false])
        #expect(files.allSatisfy { $0["writable"] == true })
    }

    @Test(
        "no other file is read",
        arguments: [
            "secrets.yaml", "../outside.yaml", "home.yaml~", "rooms/../secrets.yaml", "/etc/passwd", "", "rooms",
            "./home.yaml",
        ])
    func foreign(name: String) {
        #expect(throws: RuleDesk.Failure.unknownFile(name)) { try desk.text(of: name) }
        #expect(throws: RuleDesk.Failure.unknownFile(name)) { try desk.save([], as: name, ifMatch: "*", insists: true) }
        #expect(throws: RuleDesk.Failure.unknownFile(name)) {
            try desk.check(["files": .object([.init(name, "version: 1")])])
        }
    }

    @Test("a text is shown without passwords, and saved with them")
    func save() throws {
        let text = try desk.text(of: "home.yaml")
        let shown = String(decoding: text.octets, as: UTF8.self)
        #expect(
            shown.contains(/https:\/\/\*\*\*[0-9a-f]{8}@host\//) && shown.contains("!secret hue")
                && !shown.contains("hunter2"))
        let edited = shown.replacing("a/b", with: "c/d")
        let saved = try desk.save(Array(edited.utf8), as: "home.yaml", ifMatch: text.etag, insists: false)
        let written = String(decoding: readFile(directory.path + "/set/home.yaml"), as: UTF8.self)
        #expect(written == Self.home.replacing("a/b", with: "c/d"))
        #expect(try desk.text(of: "home.yaml").etag == saved.etag)
    }

    @Test("a text with errors is saved only if one insists, and an old one not at all")
    func refused() throws {
        let text = try desk.text(of: "home.yaml")
        let wrong = Array("version: 1\nfoo: bar\n".utf8)
        let refusal = #expect(throws: RuleDesk.Failure.self) {
            try desk.save(wrong, as: "home.yaml", ifMatch: text.etag, insists: false)
        }
        guard case .wrong(_, let diagnostics)? = refusal else {
            Issue.record("it was saved")
            return
        }
        #expect(diagnostics.contains { $0["code"] == "E201" && $0["file"] == "home.yaml" })
        #expect(readFile(directory.path + "/set/home.yaml") == Array(Self.home.utf8))
        _ = try desk.save(wrong, as: "home.yaml", ifMatch: text.etag, insists: true)
        #expect(readFile(directory.path + "/set/home.yaml") == wrong)
        #expect(throws: RuleDesk.Failure.changed(try desk.text(of: "home.yaml"))) {
            try desk.save(text.octets, as: "home.yaml", ifMatch: text.etag, insists: true)
        }
    }

    @Test("the diagnostics of a saved text quote no password")
    func mistakes() throws {
        let wrong = Self.home.replacing("    triggers:", with: "    mode: password=hunter2\n    triggers:")
        writeFile(directory.path + "/set/home.yaml", wrong.utf8)
        let text = try desk.text(of: "home.yaml")
        let saved = try desk.save(text.octets, as: "home.yaml", ifMatch: text.etag, insists: true)
        #expect(readFile(directory.path + "/set/home.yaml") == Array(wrong.utf8))
        #expect(saved.diagnostics.contains { $0["code"] == "E204" })
        #expect(!JSONValue.array(saved.diagnostics).description.contains("hunter2"))
    }

    @Test("rules that the page evaluates do not know secrets, and a file that only a draft includes shows no password")
    func computed() throws {
        let text = """
            version: 1
            include: [rooms/*.yaml, home.yaml~]
            buttons: {kitchen: {address: "80:E4:DA:00:00:01"}}
            variables: {v: {type: string, initial: !secret hue}}
            rules:
              - id: a
                triggers: {button: kitchen, event: click}
                actions: {log: "{{ slice(variables.v, 0, 4) }} {{ slice(variables.v, 4, 99) }}"}
            """
        writeFile(
            directory.path + "/set/home.yaml~",
            "rules: [{id: b, triggers: {button: kitchen, event: click}, actions: {http: {url: http://bob:oldtext@x/}}}]"
                .utf8)
        let request: JSONValue = .object([
            .init("files", ["home.yaml": .string(text)]), .init("button", "kitchen"), .init("event", "click"),
        ])
        let answer = try desk.explain(request).description
        #expect(answer.contains("\"a\"") && !answer.contains("tops") && !answer.contains("oldtext"))
    }

    @Test("without permission nothing is saved")
    func readOnly() throws {
        let rules = RulesOnDisk(path: directory.path + "/set/home.yaml", files: ConfigurationFiles(environment: [:]))
        let desk = RuleDesk(rules, canEdit: false, key: [1])
        let text = try desk.text(of: "home.yaml")
        #expect(throws: RuleDesk.Failure.self) { try desk.save([], as: "home.yaml", ifMatch: text.etag, insists: true) }
        #expect(desk.list()["files"]?.arrayValue?.allSatisfy { $0["writable"] == false } == true)
    }

    @Test("drafts are checked, tested and explained as the command line does")
    func drafts() throws {
        #expect(try desk.check(draft(Self.home)).arrayValue?.contains { $0["severity"] == "error" } == false)
        let mistake = try desk.check(draft(Self.home.replacing("event: click", with: "event: clik")))
        #expect(mistake.arrayValue?.first?["line"] == 7)
        let tests = try desk.test(draft(Self.home))
        #expect(tests["tests"]?.arrayValue?.first?["passed"] == true)
        let members: [JSONValue.Member] = [.init("button", "kitchen"), .init("event", "click")]
        let explanation = try desk.explain(draft(Self.home, members))
        #expect(explanation["rules"]?.arrayValue?.first?["runs"] == true)
        #expect(throws: RuleDesk.Failure.self) {
            try desk.explain(draft(Self.home, [.init("button", "cellar"), .init("event", "click")]))
        }
    }

    @Test("a press is explained with its part, its button, its time and the daemon's values")
    func press() throws {
        let text = """
            version: 1
            location: {timezone: UTC}
            buttons:
              sofa: {address: "80:E4:DA:00:00:03", model: duo}
            states:
              lux: {topic: home/lux, type: number}
            variables:
              guest: false
            rules:
              - {id: big_only, triggers: {button: sofa, event: click, part: big}, actions: {log: a}}
              - {id: small_only, triggers: {button: sofa, event: click, part: small}, actions: {log: a}}
              - id: dark
                triggers: {button: any, event: click}
                conditions: ["(states.lux ?? 99) < 20", "variables.guest"]
                actions: {log: a}
              - id: evening
                triggers: {button: any, event: click}
                conditions: {time: {after: "18:00"}}
                actions: {log: a}
            """
        /// The gates that stop the rules; an empty text for a rule that runs.
        func stops(_ members: [JSONValue.Member]) throws -> [String: String] {
            let answer = try desk.explain(draft(text, [.init("event", "click")] + members))
            let rules = answer["rules"]?.arrayValue ?? []
            return Dictionary(
                uniqueKeysWithValues: rules.map { ($0["id"]?.stringValue ?? "", $0["stopped_by"]?.stringValue ?? "") })
        }
        let sofa = JSONValue.Member("button", "sofa")
        let evening = JSONValue.Member("at", "2026-11-21T19:00:00.000Z")
        let dark: JSONValue = [
            "states": [["name": "lux", "value": 3]], "variables": [["name": "guest", "value": true]],
            "rules": [["id": "small_only", "enabled": false]],
        ]
        #expect(
            try stops([sofa, .init("part", "small"), evening, .init("live", dark)])
                == ["small_only": "disabled", "dark": "", "evening": ""])
        #expect(
            try stops([sofa, .init("part", "big"), .init("at", "2026-11-21T12:00:00Z")])
                == ["big_only": "", "dark": "dropped_conditions", "evening": "dropped_conditions"])
        // A button that the rules do not declare, as the daemon describes it.
        let other: [JSONValue.Member] = [.init("button", "bath"), .init("id", "80e4da000009"), .init("model", "flic2")]
        #expect(try stops(other + [evening]) == ["dark": "dropped_conditions", "evening": ""])
        let stored: [JSONValue.Member] = [.init("queued", true), .init("age_ms", 3_600_000), evening, sofa]
        #expect(try stops(stored)["evening"] == "dropped_queued")
        #expect(
            try stops([sofa, .init("queued", true), .init("age_ms", .integer(.max))])["evening"] == "dropped_queued")
        let wrong: [JSONValue.Member] = [
            .init("part", "left"), .init("part", 1), .init("id", "80:E4"), .init("model", "flic9"), .init("at", "noon"),
            .init("queued", 1), .init("age_ms", -1), .init("steps", 0),
            .init("position", 101), .init("slot", 13), .init("live", []), .init("live", ["states": 1]),
        ]
        for member in wrong {
            #expect(throws: RuleDesk.Failure.self, "\(member)") { try stops([sofa, member]) }
        }
    }

    @Test("no answer about a draft has a secret, or words of a file that the page does not show")
    func secrets() throws {
        let members: [JSONValue.Member] = [.init("button", "kitchen"), .init("event", "click")]
        let shown = String(decoding: try desk.text(of: "home.yaml").octets, as: UTF8.self)
        let leak = shown.replacing("payload: \"on\"", with: "payload: !secret hue")
        var answers = [
            try desk.check(draft(leak)), try desk.test(draft(leak)), try desk.explain(draft(leak, members)),
            try desk.check(draft("version: 1\ninclude: secrets.yaml\n")),
            try desk.check(draft("version: 1\ninclude: ../outside.yaml\n")),
        ]
        // A file of the folder that is not in the set.
        writeFile(directory.path + "/set/private.yaml", "hunter4: hunter5\n".utf8)
        answers.append(try desk.check(draft("version: 1\ninclude: private.yaml\n")))
        answers += [try desk.check(draft(shown)), try desk.explain(draft(shown, members))]
        answers.append(try desk.test(["files": [:]]))
        for answer in answers {
            #expect(!answer.description.contains("hunter") && !answer.description.contains("topsecret"), "\(answer)")
        }
    }

    @Test("completion and hints are those of the language server")
    func editing() throws {
        let text = Self.home.replacing("event: click", with: "event: ")
        let column = "    triggers: {button: kitchen, event: ".utf16.count
        let more: [JSONValue.Member] = [
            .init("file", "home.yaml"), .init("line", 6), .init("character", .integer(Int64(column))),
        ]
        let items = try desk.complete(draft(text, more))["items"]?.arrayValue ?? []
        #expect(items.contains { $0["label"] == "double_click" && $0["insert"] == "double_click" })
        let twice = Self.home.replacing(
            "rules:\n",
            with:
                "rules:\n  - {id: two, triggers: {button: kitchen, event: double_click}, actions: [{publish: {topic: a, payload: b}}]}\n"
        )
        let hints = try desk.hints(draft(twice, [.init("file", "home.yaml")]))["hints"]?.arrayValue ?? []
        #expect(hints.map { $0["line"] } == [7])
        #expect(hints.first?["text"] == "waits 500ms")
    }

    @Test(
        "in a line that is half written, names of the saved files are offered",
        arguments: [
            ("  - id: b\n    triggers: {button: ", ["any", "hall", "kitchen"]),
            ("  - id: b\n    triggers:\n      button: [kitchen, ", ["any", "hall", "kitchen"]),
            ("  - id: b\n    actions:\n      - cancel: [", ["toggle"]),
        ])
    func halfWritten(line: String, expected: [String]) throws {
        let parts = Self.home.split(separator: "tests:\n")
        let before = (parts.first ?? "") + line
        let text = before + "\ntests:\n" + (parts.last ?? "")
        let lines = before.split(separator: "\n")
        let more: [JSONValue.Member] = [
            .init("file", "home.yaml"), .init("line", .integer(Int64(lines.count - 1))),
            .init("character", .integer(Int64(lines.last?.utf16.count ?? 0))),
        ]
        let answer = try desk.complete(draft(String(text), more))
        let labels = answer["items"]?.arrayValue?.compactMap { $0["label"]?.stringValue } ?? []
        #expect(labels.sorted() == expected)
        #expect(!answer.description.contains("hunter") && !answer.description.contains("topsecret"))
    }

    @Test(
        "a body of another form is refused with a sentence",
        arguments: [
            "{\"files\":[]}", "{\"files\":{\"home.yaml\":1}}", "{\"files\":{\"home.yaml\":null}}", "{\"files\":\"\"}",
        ])
    func bodies(text: String) throws {
        let body = try JSONValue(parsing: text)
        #expect(throws: RuleDesk.Failure.self) { try desk.check(body) }
        #expect(throws: RuleDesk.Failure.self) { try desk.complete(body) }
        #expect(throws: RuleDesk.Failure.self) { try desk.hints(body) }
    }
}
