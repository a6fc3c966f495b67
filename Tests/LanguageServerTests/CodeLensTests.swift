import JSON
import LanguageServer
import Testing

@Suite("Lenses at tests")
struct CodeLensTests {
    private static let text = """
        version: 1
        buttons: {kitchen: BF12-C34567}
        rules:
          - id: lamp
            triggers: {button: kitchen, event: click}
            actions: {log: clicked}
        tests:
          - name: a click
            steps:
              - event: {button: kitchen, event: click}
              - expect: [{log: clicked}]
          - name: a click that does something else
            steps:
              - event: {button: kitchen, event: click}
              - expect: [{log: other}]

        """

    private static func editor(_ text: String = text) -> Editor {
        var editor = Editor.ready(capabilities: ["workspace": ["codeLens": ["refreshSupport": true]]])
        editor.open("/home.yaml", text)
        return editor
    }

    private static func lenses(_ editor: inout Editor) -> [JSONValue] {
        editor.request("textDocument/codeLens", ["textDocument": ["uri": "file:///home.yaml"]])["result"]?.arrayValue
            ?? []
    }

    private static func titles(_ editor: inout Editor) -> [JSONValue?] {
        lenses(&editor).map { $0["command"]?["title"] }
    }

    @Test("the command of a lens runs its test alone, and the lens shows the result until the text changes")
    func results() {
        var editor = Self.editor()
        let lenses = Self.lenses(&editor)
        #expect(lenses.map { $0["range"]?["start"]?["line"] } == [7, 11])
        #expect(Self.titles(&editor) == ["▶ run this test", "▶ run this test"])
        func run(_ lens: JSONValue) -> JSONValue {
            editor.request(
                "workspace/executeCommand",
                [
                    "command": lens["command"]?["command"] ?? .null,
                    "arguments": lens["command"]?["arguments"] ?? .null,
                ])
        }
        #expect(run(lenses[0])["result"]?["passed"] == true)
        #expect(Self.titles(&editor) == ["✓ passed ▶ run again", "▶ run this test"])
        let failure = run(lenses[1])["result"]
        #expect(failure?["passed"] == false)
        #expect(failure?["text"]?.stringValue?.contains("home.yaml:15") ?? false, "\(failure ?? .null)")
        #expect(Self.titles(&editor) == ["✓ passed ▶ run again", "✗ failed ▶ run again"])
        let shown = editor.messages.filter { $0["method"] == "window/showMessage" }
        #expect(shown.map { $0["params"]?["type"] } == [3, 1])
        #expect(editor.messages.contains { $0["method"] == "workspace/codeLens/refresh" })
        editor.change("/home.yaml", version: 2, ["text": .string(Self.text + "# changed\n")])
        editor.wait(.seconds(1))
        #expect(Self.titles(&editor) == ["▶ run this test", "▶ run this test"])
    }

    @Test("rules with mistakes run no test, and say so")
    func mistakes() {
        var editor = Self.editor(
            Self.text.replacing("button: kitchen, event: click}\n    actions", with: "x: y}\n    actions"))
        let answer = editor.request(
            "workspace/executeCommand",
            ["command": "tryck.runTest", "arguments": ["file:///home.yaml", "a click"]])
        #expect(answer["error"]?["message"]?.stringValue?.contains("mistakes") ?? false)
    }

    @Test(
        "other commands and arguments are refused",
        arguments: [
            ["command": "rm"], ["command": "tryck.runTest"],
            ["command": "tryck.runTest", "arguments": ["file:///home.yaml", "no such test"]],
            ["command": "tryck.runTest", "arguments": [1, 2]],
        ] as [JSONValue])
    func refused(parameters: JSONValue) {
        var editor = Self.editor()
        #expect(editor.request("workspace/executeCommand", parameters)["error"] != nil)
    }
}
