import ConfigurationLoader
import JSON
import LanguageServer
import RuleLoader
import Settings
import Testing
import YAMLFiles

@Suite("Moving a password to secrets.yaml")
struct SecretActionTests {
    private static let creating: JSONValue = [
        "workspace": [
            "workspaceEdit": ["documentChanges": true, "resourceOperations": ["create", "rename", "delete"]]
        ]
    ]

    /// The documents after the first change that moves a password of a line; `nil` if none is offered.
    private static func moved(
        _ path: String, _ text: String, line: Int, secrets: String?, capabilities: JSONValue = [:]
    ) -> [String: String]? {
        var disk = ["/r/home.yaml": "version: 1\n"]
        disk["/r/secrets.yaml"] = secrets
        var editor = Editor.ready(disk, capabilities: capabilities)
        editor.open(path, text)
        let place: JSONValue = ["line": .integer(Int64(line)), "character": 0]
        let answer = editor.request(
            "textDocument/codeAction",
            [
                "textDocument": ["uri": .string(Editor.uri(path))], "range": ["start": place, "end": place],
                "context": ["only": ["refactor"]],
            ])
        let action = answer["result"]?.arrayValue?.first { $0["title"]?.stringValue?.hasPrefix("Move") ?? false }
        guard let edit = action?["edit"] else { return nil }
        var texts = [path: text, "/r/secrets.yaml": secrets ?? ""]
        var changes = edit["changes"]?.objectValue?.map { ($0.name, $0.value) } ?? []
        for change in edit["documentChanges"]?.arrayValue ?? [] where change["kind"] == nil {
            changes.append((change["textDocument"]?["uri"]?.stringValue ?? "", change["edits"] ?? .null))
        }
        for (uri, edits) in changes {
            let path = String(uri.dropFirst("file://".count))
            for edit in edits.arrayValue ?? [] { texts[path] = apply(edit, to: texts[path] ?? "") }
        }
        if secrets == nil { #expect(edit["documentChanges"]?.arrayValue?.first?["kind"] == "create") }
        return texts
    }

    private static func apply(_ edit: JSONValue, to text: String) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { Array($0.utf16) }
        let start = edit["range"]?["start"]
        let end = edit["range"]?["end"]
        let line = Int(start?["line"]?.integerValue ?? 0)
        let first = Int(start?["character"]?.integerValue ?? 0)
        let last = Int(end?["character"]?.integerValue ?? 0)
        #expect(start?["line"] == end?["line"])
        lines[line].replaceSubrange(first..<last, with: (edit["newText"]?.stringValue ?? "").utf16)
        return lines.map { String(decoding: $0, as: UTF16.self) }.joined(separator: "\n")
    }

    @Test(
        "a password of tryck.yaml is moved, whatever its quotes",
        arguments: [
            ("mqtt: {password: hunter2, username: me}", "mqtt: {password: !secret mqtt_password, username: me}"),
            ("mqtt: {password: 'hunter2'}", "mqtt: {password: !secret mqtt_password}"),
            ("web: {password: \"hunter2\"}", "web: {password: !secret web_password}"),
        ])
    func configuration(text: String, expected: String) throws {
        let moved = try #require(
            Self.moved("/r/tryck.yaml", "rules: home.yaml\n\(text)\n", line: 1, secrets: "other: x\n"))
        #expect(moved["/r/tryck.yaml"] == "rules: home.yaml\n\(expected)\n")
        let name = expected.contains("web") ? "web_password" : "mqtt_password"
        #expect(moved["/r/secrets.yaml"] == "other: x\n\(name): \"hunter2\"\n")
        let inputs = LoadInputs(
            secrets: SourceFile(name: "/r/secrets.yaml", text: Array((moved["/r/secrets.yaml"] ?? "").utf8)))
        func password(_ text: String) -> [String?] {
            let file = SourceFile(name: "/r/tryck.yaml", text: Array(text.utf8))
            let value = FileLoader.configuration(file, in: inputs.fileInputs).value
            return [value?.mqttPassword?.value, value?.web.password?.value]
        }
        #expect(password(moved["/r/tryck.yaml"] ?? "").contains("hunter2"))
        #expect(password(moved["/r/tryck.yaml"] ?? "") == password("rules: home.yaml\n\(text)\n"))
    }

    @Test("a token of a rule gets a name that is not taken, also after a last line without an end")
    func rule() throws {
        let text = """
            version: 1
            buttons: {kitchen: BF12-C34567}
            rules:
              - id: a
                triggers: {button: kitchen}
                actions:
                  http:
                    url: http://lamp/
                    headers:
                      Authorization: Bearer abc"def # the lamp's

            """
        let moved = try #require(Self.moved("/r/home.yaml", text, line: 9, secrets: "authorization: x"))
        #expect(
            moved["/r/home.yaml"]
                == text.replacing("Bearer abc\"def", with: "!secret authorization_2"))
        #expect(moved["/r/secrets.yaml"] == "authorization: x\nauthorization_2: \"Bearer abc\\\"def\"\n")
    }

    @Test("a password with a quote in single quotes is moved")
    func quote() {
        let moved = Self.moved(
            "/r/tryck.yaml", "rules: home.yaml\nmqtt: {password: 'it''s'}\n", line: 1, secrets: "other: x\n")
        #expect(moved?["/r/tryck.yaml"] == "rules: home.yaml\nmqtt: {password: !secret mqtt_password}\n")
        #expect(moved?["/r/secrets.yaml"] == "other: x\nmqtt_password: \"it's\"\n")
    }

    @Test("the title says what to do with a new secrets.yaml, and texts have the line ends of their file")
    func titleAndLineEnds() {
        func action(_ secrets: String?) -> JSONValue? {
            var disk = ["/r/home.yaml": "version: 1\n"]
            disk["/r/secrets.yaml"] = secrets
            var editor = Editor.ready(disk, capabilities: Self.creating)
            editor.open("/r/tryck.yaml", "rules: home.yaml\nmqtt: {password: hunter2}\n")
            if secrets != nil { editor.open("/r/secrets.yaml") }
            let place: JSONValue = ["line": 1, "character": 0]
            return editor.request(
                "textDocument/codeAction",
                [
                    "textDocument": ["uri": "file:///r/tryck.yaml"], "range": ["start": place, "end": place],
                    "context": ["only": ["refactor"]],
                ])["result"]?.arrayValue?.first
        }
        let title = "Move this password to secrets.yaml as mqtt_password"
        #expect(action(nil)?["title"] == .string(title + " (then run chmod 600 secrets.yaml)"))
        let moved = action("other: x\r\n")
        #expect(moved?["title"] == .string(title))
        let texts = moved?["edit"]?["documentChanges"]?.arrayValue?.compactMap {
            $0["edits"]?.arrayValue?.first?["newText"]?.stringValue
        }
        #expect(texts?.sorted() == ["!secret mqtt_password", "mqtt_password: \"hunter2\"\r\n"])
    }

    @Test("secrets.yaml is created if the editor can do that")
    func created() throws {
        let text = "rules: home.yaml\nmqtt: {password: hunter2}\n"
        #expect(Self.moved("/r/tryck.yaml", text, line: 1, secrets: nil) == nil)
        let moved = Self.moved("/r/tryck.yaml", text, line: 1, secrets: nil, capabilities: Self.creating)
        #expect(moved?["/r/secrets.yaml"] == "mqtt_password: \"hunter2\"\n")
    }

    @Test(
        "nothing is offered where there is no whole password in clear",
        arguments: [
            "mqtt: {password: !secret x}", "mqtt: {username: hunter2}", "mqtt: {broker: none}",
            "# password: hunter2", "log: {level: info}", "mqtt: {password: !env_var X}",
        ])
    func none(line: String) {
        #expect(Self.moved("/r/tryck.yaml", "rules: home.yaml\n\(line)\n", line: 1, secrets: "x: y\n") == nil)
    }

    @Test("nothing is offered if the secrets cannot be extended")
    func wrongSecrets() {
        let text = "rules: home.yaml\nmqtt: {password: hunter2}\n"
        #expect(Self.moved("/r/tryck.yaml", text, line: 1, secrets: "{a: b}\n") == nil)
    }
}
