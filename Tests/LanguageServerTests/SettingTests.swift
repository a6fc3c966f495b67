import JSON
import LanguageServer
import RuleLoader
import Testing

@Suite("tryck.yaml in an editor")
struct SettingTests {
    private static let settings = """
        rules: house/home.yaml
        mqtt:
          broker: mqtt://localhost
          password: !secret broker_password
        radios:
          - adapter: hci:0
        log: {level: debug}

        """

    private static func editor() -> Editor {
        var editor = Editor.ready([
            "/r/house/home.yaml": "version: 1\n", "/r/secrets.yaml": "# of the broker\nbroker_password: hunter2\n",
        ])
        editor.open("/r/tryck.yaml", settings)
        return editor
    }

    @Test(
        "hovering shows the text of the reference for a setting",
        arguments: [
            (0, 2, "**rules** in the configuration: the rules file\n\n*Type:* text"),
            (0, 10, "**rules** in the configuration"), (1, 2, "**mqtt** in the configuration: the connection"),
            (2, 4, "**broker** in \"mqtt\": `mqtt://HOST:PORT`"), (2, 14, "**broker** in \"mqtt\""),
            (5, 6, "**adapter** in a radio: the adapter"),
            (6, 8, "**level** in \"log\""), (6, 15, "**level** in \"log\""),
        ])
    func hovering(line: Int, character: Int, expected: String) {
        var editor = Self.editor()
        let text = editor.ask("hover", "/r/tryck.yaml", line, character)["result"]?["contents"]?["value"]?.stringValue
        #expect(text?.hasPrefix(expected) ?? false, "\(text ?? "nothing")")
        #expect(text?.contains("hunter2") == false)
    }

    @Test("the rules file and a secret lead to their places")
    func definition() {
        var editor = Self.editor()
        #expect(editor.problems("/r/tryck.yaml") == [])
        let rules = editor.ask("definition", "/r/tryck.yaml", 0, 12)["result"]?.arrayValue
        #expect(rules?.map { $0["uri"] } == ["file:///r/house/home.yaml"])
        let secret = editor.ask("definition", "/r/tryck.yaml", 3, 25)["result"]?.arrayValue
        #expect(secret?.map { $0["uri"] } == ["file:///r/secrets.yaml"])
        #expect(secret?.first?["range"]?["start"] == ["line": 1, "character": 0])
        #expect(editor.ask("definition", "/r/tryck.yaml", 2, 14)["result"] == .null)
    }

    @Test("the outline has the sections with their settings")
    func symbols() {
        var editor = Self.editor()
        let answer = editor.request("textDocument/documentSymbol", ["textDocument": ["uri": "file:///r/tryck.yaml"]])
        let sections = answer["result"]?.arrayValue ?? []
        #expect(sections.map { $0["name"] } == ["rules", "mqtt", "radios", "log"])
        #expect(sections.dropFirst().first?["children"]?.arrayValue?.map { $0["name"] } == ["broker", "password"])
        #expect(sections.last?["children"]?.arrayValue?.map { $0["kind"] } == [7])
    }
}
