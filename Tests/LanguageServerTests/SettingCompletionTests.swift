import JSON
import LanguageServer
import RuleLoader
import Testing

/// Completion in `tryck.yaml`, of files in `include`, and of the names of environment variables. A `|` is the cursor.
@Suite("Completion of settings and files")
struct SettingCompletionTests {
    private static func items(
        _ text: String, in path: String = "/r/tryck.yaml", disk: [String: String] = [:],
        variables: [String: String] = ["HOME": "/root"]
    ) -> [JSONValue] {
        var editor = Editor(disk, variables: variables)
        editor.request("initialize", ["capabilities": [:]])
        let before = String(text.prefix { $0 != "|" })
        editor.open(path, before + String(text.drop { $0 != "|" }.dropFirst()))
        let lines = before.split(separator: "\n", omittingEmptySubsequences: false)
        let answer = editor.ask("completion", path, lines.count - 1, lines.last?.utf16.count ?? 0)
        return (answer["result"]?["items"] ?? answer["result"])?.arrayValue ?? []
    }

    private static func labels(
        _ text: String, in path: String = "/r/tryck.yaml", disk: [String: String] = [:],
        variables: [String: String] = [:]
    ) -> [String] {
        items(text, in: path, disk: disk, variables: variables).map { $0["label"]?.stringValue ?? "" }
    }

    @Test("settings that are not written yet are offered with the text of the reference")
    func settings() throws {
        let items = Self.items("rules: home.yaml\n|\n")
        let labels = items.compactMap { $0["label"]?.stringValue }
        #expect(labels.contains("mqtt"))
        #expect(!labels.contains("rules"))
        #expect(!labels.contains("buttons"))
        let history = try #require(items.first { $0["label"] == "history_size" })
        #expect(history["textEdit"]?["newText"] == "history_size: ")
        #expect(history["documentation"]?["value"]?.stringValue?.contains("the maximum size of the history") ?? false)
        #expect(items.first { $0["label"] == "mqtt" }?["textEdit"]?["newText"] == "mqtt:")
        #expect(Self.labels("|").contains("bluetooth"))
    }

    @Test(
        "the settings of each section and the words of closed sets are offered",
        arguments: [
            ("mqtt:\n  pass|", ["password"]), ("mqtt:\n  broker: none\n  tls:\n    ins|", ["insecure"]),
            ("mqtt:\n  tls: {insecure: |", ["true", "false"]), ("mqtt: {protocol: 3.|", ["3.1.1"]),
            ("log:\n  level: |", ["debug", "info", "warning", "error"]),
            ("log: {format: t|", ["text"]), ("radios:\n  - adapter: hci:0\n    ma|", ["maximum_connections"]),
            ("radios:\n  - es|", ["esphome"]), ("bluetooth:\n  transport:\n    co|", ["command"]),
            ("web:\n  edit_rules: f|", ["false"]), ("actions:\n  sh|", ["shell"]),
            ("rules: |", []), ("mqtt: |", []), ("rules: home.yaml # m|", []), ("unknown:\n  a|", []),
        ])
    func sections(text: String, expected: [String]) {
        #expect(Set(Self.labels(text)).isSuperset(of: expected), "\(Self.labels(text))")
        #expect(Self.labels(text).count <= max(expected.count, 8) && Self.labels(text).isEmpty == expected.isEmpty)
    }

    @Test("names of secrets beside tryck.yaml are offered, also if the rules have others, and never their values")
    func secrets() {
        let disk = [
            "/r/secrets.yaml": "broker_password: hunter2\n", "/r/rules/secrets.yaml": "token: x\n",
            "/r/rules/home.yaml": "version: 1\n",
        ]
        let items = Self.items("rules: rules/home.yaml\nmqtt:\n  password: !secret |", disk: disk)
        #expect(items.map { $0["label"] } == ["broker_password"])
        #expect(!items.description.contains("hunter2"))
    }

    @Test("a secret of tryck.yaml is found, and a missing one reported")
    func secretIsFound() {
        var editor = Editor.ready(["/r/secrets.yaml": "password: hunter2\n", "/r/home.yaml": "version: 1\n"])
        editor.open("/r/tryck.yaml", "rules: home.yaml\nmqtt: {password: !secret password}\n")
        #expect(editor.problems("/r/tryck.yaml") == [])
        editor.change(
            "/r/tryck.yaml", version: 2, ["text": "rules: home.yaml\nmqtt: {password: !secret passwort}\n"])
        editor.wait(.seconds(1))
        #expect(editor.problems("/r/tryck.yaml") == ["E309:2"])
    }

    @Test("names of environment variables are offered, and never their values")
    func environment() {
        let variables = ["MQTT_PASSWORD": "hunter2", "MQTT_USER": "tryck", "HOME": "/root"]
        let items = Self.items("mqtt: {password: !env_var MQTT_|", variables: variables)
        #expect(items.map { $0["label"] } == ["MQTT_PASSWORD", "MQTT_USER"])
        #expect(!items.description.contains("hunter2"))
        let text = "version: 1\nrules:\n  - id: a\n    actions: {http: {url: !env_var |"
        #expect(Self.labels(text, in: "/r/home.yaml", variables: variables) == variables.keys.sorted())
        // The second word is the value to use if the variable is not set, so no name is offered there.
        #expect(Self.labels("mqtt: {password: !env_var MQTT_USER |", variables: variables) == [])
    }

    private static let files = [
        "/r/kitchen.yaml": "rules: []\n", "/r/secrets.yaml": "a: b\n", "/r/tryck.yaml": "rules: home.yaml\n",
        "/r/notes.txt": "", "/r/rooms/bath.yaml": "rules: []\n", "/r/rooms/attic.yaml": "rules: []\n",
        "/other/far.yaml": "rules: []\n",
    ]

    @Test(
        "files beside the rules and in directories below are offered",
        arguments: [
            ("version: 1\ninclude: |", ["kitchen.yaml", "rooms/"]), ("version: 1\ninclude: k|", ["kitchen.yaml"]),
            ("version: 1\ninclude: [kitchen.yaml, rooms/|", ["rooms/attic.yaml", "rooms/bath.yaml"]),
            ("version: 1\ninclude:\n  - rooms/ba|", ["rooms/bath.yaml"]), ("version: 1\ninclude: ../other/|", []),
            ("version: 1\ninclude: /other/|", []), ("version: 1\ninclude: nowhere/|", []),
        ])
    func include(text: String, expected: [String]) {
        #expect(Self.labels(text, in: "/r/home.yaml", disk: Self.files) == expected)
    }

    @Test("a file that is included already is not offered again, and the whole path is replaced")
    func included() throws {
        let text = "version: 1\ninclude:\n  - rooms/bath.yaml\n"
        var editor = Editor.ready(Self.files)
        editor.open("/r/home.yaml", text)
        _ = editor.ask("documentSymbol", "/r/home.yaml", 0, 0)
        editor.change("/r/home.yaml", version: 2, ["text": .string(text + "  - rooms/\n")])
        let items = editor.ask("completion", "/r/home.yaml", 3, 10)["result"]?["items"]?.arrayValue ?? []
        #expect(items.map { $0["label"] } == ["rooms/attic.yaml"])
        let range = try #require(items.first?["textEdit"]?["range"])
        #expect(range == ["start": ["line": 3, "character": 4], "end": ["line": 3, "character": 10]])
    }

    @Test("requests that come with the one for files are answered after it")
    func order() {
        var editor = Editor.ready(Self.files)
        editor.open("/r/home.yaml", "version: 1\ninclude: ")
        let place: JSONValue = ["line": 1, "character": 9]
        func message(_ id: Int64, _ method: String) -> JSONValue {
            [
                "jsonrpc": "2.0", "id": .integer(id), "method": .string("textDocument/\(method)"),
                "params": ["textDocument": ["uri": "file:///r/home.yaml"], "position": place],
            ]
        }
        editor.give(
            .received(Editor.frame(message(70, "completion")) + Editor.frame(message(71, "hover"))))
        #expect(editor.messages.suffix(2).map { $0["id"] } == [70, 71])
    }
}
