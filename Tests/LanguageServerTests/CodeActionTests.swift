import JSON
import LanguageServer
import RuleLoader
import Testing

@Suite("Quick fixes")
struct CodeActionTests {
    /// The text after the first quick fix of a line, and the title of the fix.
    private static func fix(_ text: String, line: Int) -> (title: String, text: String)? {
        var editor = Editor.ready()
        editor.open("/home.yaml", text)
        let place: JSONValue = ["line": .integer(Int64(line)), "character": 0]
        let answer = editor.request(
            "textDocument/codeAction",
            [
                "textDocument": ["uri": "file:///home.yaml"], "range": ["start": place, "end": place],
                "context": ["diagnostics": []],
            ])
        guard let action = answer["result"]?.arrayValue?.first, let title = action["title"]?.stringValue,
            let edit = action["edit"]?["changes"]?["file:///home.yaml"]?.arrayValue?.first,
            let start = edit["range"]?["start"]?["character"]?.integerValue,
            let end = edit["range"]?["end"]?["character"]?.integerValue
        else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let changed = lines[line]
        let fixed = changed.prefix(Int(start)) + (edit["newText"]?.stringValue ?? "") + changed.dropFirst(Int(end))
        return (title, String(fixed))
    }

    private static func rule(_ line: String) -> String {
        """
        version: 1
        buttons: {kitchen: BF12-C34567}
        variables: {guest: false}
        states: {lux: {topic: lux, type: integer, default: 0}}
        rules:
          - id: lamp
            triggers: {button: kitchen, event: click}
            actions: {log: clicked}
        \(line)

        """
    }

    @Test(
        "hints that are a replacement are offered as a change",
        arguments: [
            ("    mod: single", "    mode: single"),
            ("    throttle: 5s", "    cooldown: 5s"),
            ("    mode: singel", "    mode: single"),
            ("    mode: Single", "    mode: single"),
            ("    enabled: yes", "    enabled: true"),
            ("    enabled: \"true\"", "    enabled: true"),
            ("    cooldown: 00:00:10", "    cooldown: 10s"),
            ("    conditions: variables.gest", "    conditions: variables.guest"),
            ("    conditions: variables.guest && true", "    conditions: variables.guest and true"),
            ("    conditions: states.lux = 5", "    conditions: states.lux == 5"),
            ("    conditions: {time: {after: 7:00}}", "    conditions: {time: {after: 07:00}}"),
            ("    description: {{ x }}", "    description: \"{{ x }}\""),
            ("    alias: # the lamp", "    alias: \"# the lamp\""),
        ])
    func replacements(line: String, expected: String) throws {
        let fix = try #require(Self.fix(Self.rule(line), line: 8))
        #expect(fix.text == expected, "\(fix.title)")
    }

    @Test(
        "hints that describe more than a replacement are not offered",
        arguments: [
            "    unknown_key: 5", "    queued: 10", "    conditions: 1 < states.lux < 3", "    max: 3",
            "    mode: single",
        ])
    func others(line: String) {
        #expect(Self.fix(Self.rule(line), line: 8) == nil)
    }

    @Test("the name of a secret is replaced, not its tag")
    func secret() throws {
        var editor = Editor.ready(["/secrets.yaml": "token: x\n"])
        editor.open("/home.yaml", "version: 1\nstates: {a: {topic: !secret tokn}}\n")
        let place: JSONValue = ["line": 1, "character": 0]
        let answer = editor.request(
            "textDocument/codeAction",
            ["textDocument": ["uri": "file:///home.yaml"], "range": ["start": place, "end": place]])
        #expect(answer["result"]?.arrayValue?.map { $0["title"] } == ["Replace tokn by token"])
    }

    @Test("only actions of the wanted kind")
    func kinds() {
        var editor = Editor.ready()
        editor.open("/home.yaml", Self.rule("    mod: single"))
        let place: JSONValue = ["line": 8, "character": 5]
        func answer(_ kind: JSONValue) -> JSONValue {
            editor.request(
                "textDocument/codeAction",
                [
                    "textDocument": ["uri": "file:///home.yaml"], "range": ["start": place, "end": place],
                    "context": ["only": [kind]],
                ])["result"] ?? .null
        }
        #expect(answer("refactor") == [])
        #expect(answer("quickfix").arrayValue?.count == 1)
    }
}
