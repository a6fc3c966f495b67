import JSON
import LanguageServer
import Testing

@Suite("Lenses at tests and rules")
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

    private static func lenses(_ editor: inout Editor, _ path: String = "/home.yaml") -> [JSONValue] {
        editor.request("textDocument/codeLens", ["textDocument": ["uri": .string(Editor.uri(path))]])["result"]?
            .arrayValue ?? []
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

    @Test("while a set has mistakes, its tests have no lenses")
    func mistakesWithoutLenses() {
        var editor = Self.editor(
            Self.text.replacing("button: kitchen, event: click}\n    actions", with: "x: y}\n    actions"))
        #expect(Self.titles(&editor) == [])
        editor.change("/home.yaml", version: 2, ["text": .string(Self.text)])
        editor.wait(.seconds(1))
        #expect(Self.titles(&editor) == ["▶ run this test", "▶ run this test"])
    }

    @Test(
        "after a check that changes lenses, an editor that can be told requests those of all documents again",
        arguments: [true, false])
    func refresh(canBeTold: Bool) {
        let rules = "rules:\n  - id: other\n    triggers: {button: kitchen, event: hold}\n    actions: {log: a}\n"
        var editor = Editor.ready(
            [
                "/h/home.yaml": Self.text.replacing("version: 1\n", with: "version: 1\ninclude: other.yaml\n"),
                "/h/other.yaml": rules,
            ],
            capabilities: ["workspace": ["codeLens": ["refreshSupport": .bool(canBeTold)]]])
        func requests() -> [JSONValue?] {
            editor.messages.filter { $0["method"] == "workspace/codeLens/refresh" }.map { $0["id"] }
        }
        func change(version: Int64, _ text: String) {
            editor.change("/h/other.yaml", version: version, ["text": .string(text)])
            editor.wait(.seconds(1))
        }
        func titles() -> [JSONValue?] {
            Self.lenses(&editor, "/h/home.yaml").map { $0["command"]?["title"] }
        }
        editor.open("/h/home.yaml")
        editor.open("/h/other.yaml")
        change(version: 2, rules + "# no mistake\n")
        #expect(requests() == [])
        change(version: 3, rules + "rulez: []\n")
        #expect(requests().count == (canBeTold ? 1 : 0))
        #expect(titles() == [])
        change(version: 4, rules + "rulez: [1]\n")
        #expect(requests().count == (canBeTold ? 1 : 0))
        change(version: 5, rules)
        #expect(requests().count == (canBeTold ? 2 : 0))
        #expect(titles() == ["▶ run this test", "▶ run this test"])
        #expect(Set(requests()).count == requests().count)
        // Whatever the editor answers, the server says nothing to it.
        let count = editor.messages.count
        for id in requests() {
            editor.send(["jsonrpc": "2.0", "id": id ?? .null, "result": .null])
            editor.send(["jsonrpc": "2.0", "id": id ?? .null, "error": ["code": -32603, "message": "no"]])
        }
        #expect(editor.messages.count == count)
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

    // MARK: Rules

    private static let house = ["/h/tryck.yaml": "rules: home.yaml\n", "/h/home.yaml": text]

    private static func ruleTitles(_ editor: inout Editor, _ path: String = "/h/home.yaml") -> [String] {
        let answer = editor.request("textDocument/codeLens", ["textDocument": ["uri": .string(Editor.uri(path))]])
        return (answer["result"]?.arrayValue ?? []).compactMap { $0["command"]?["title"]?.stringValue }
            .filter { !$0.contains("test") }
    }

    @Test("a lens at a rule has its last run in the daemon of the configuration, which is asked once in five seconds")
    func lastRun() {
        var editor = Editor.ready(Self.house)
        editor.lastRuns = .runs([
            LastRun(rule: "lamp", result: "completed", age: "5 min"), LastRun(rule: "gone", result: "failed", age: nil),
        ])
        editor.open("/h/home.yaml")
        let answer = editor.request("textDocument/codeLens", ["textDocument": ["uri": "file:///h/home.yaml"]])
        let lens = answer["result"]?.arrayValue?.first { $0["command"]?["command"] == "" }
        #expect(lens?["command"]?["title"] == "last run: completed, 5 min ago")
        #expect(lens?["range"]?["start"] == ["line": 3, "character": 8])
        editor.lastRuns = .runs([LastRun(rule: "lamp", result: "failed", age: nil)])
        editor.wait(.milliseconds(4999))
        #expect(Self.ruleTitles(&editor) == ["last run: completed, 5 min ago"])
        #expect(editor.askedDaemons == ["/h/tryck.yaml"])
        editor.wait(.milliseconds(1))
        #expect(Self.ruleTitles(&editor) == ["last run: failed"])
        #expect(editor.askedDaemons == ["/h/tryck.yaml", "/h/tryck.yaml"])
    }

    @Test("without a daemon no rule has a lens, and the tests have theirs")
    func notRunning() {
        var editor = Editor.ready(Self.house)
        editor.open("/h/home.yaml")
        let answer = editor.request("textDocument/codeLens", ["textDocument": ["uri": "file:///h/home.yaml"]])
        #expect(answer["result"]?.arrayValue?.count == 2)
        #expect(editor.messages.allSatisfy { $0["method"] != "window/showMessage" })
    }

    @Test("a daemon that does not answer in time is left alone for a minute")
    func silent() {
        var editor = Editor.ready(Self.house)
        editor.lastRuns = .silent
        editor.open("/h/home.yaml")
        #expect(Self.ruleTitles(&editor) == [])
        editor.lastRuns = .runs([LastRun(rule: "lamp", result: "completed", age: nil)])
        editor.wait(.milliseconds(59_999))
        #expect(Self.ruleTitles(&editor) == [])
        #expect(editor.askedDaemons.count == 1)
        editor.wait(.milliseconds(1))
        #expect(Self.ruleTitles(&editor) == ["last run: completed"])
    }

    @Test("no daemon is asked about rules that no configuration names, and about a file without rules")
    func others() {
        var editor = Editor.ready([
            "/h/tryck.yaml": "rules: home.yaml\n", "/h/home.yaml": "version: 1\n", "/h/other.yaml": Self.text,
        ])
        editor.lastRuns = .runs([LastRun(rule: "lamp", result: "completed", age: nil)])
        for path in ["/h/home.yaml", "/h/other.yaml"] {
            editor.open(path)
            #expect(Self.ruleTitles(&editor, path) == [])
        }
        #expect(editor.askedDaemons == [])
    }

    // MARK: A daemon that takes long

    /// An editor whose first request for lenses waits for the daemon.
    private static func asking() -> Editor {
        var editor = Editor.ready(house)
        editor.lastRuns = .runs([LastRun(rule: "lamp", result: "completed", age: nil)])
        editor.holdsDaemons = true
        editor.open("/h/home.yaml")
        editor.send(lensRequest(100))
        return editor
    }

    private static func lensRequest(_ id: Int64, _ path: String = "/h/home.yaml") -> JSONValue {
        [
            "jsonrpc": "2.0", "id": .integer(id), "method": "textDocument/codeLens",
            "params": ["textDocument": ["uri": .string(Editor.uri(path))]],
        ]
    }

    private static func answer(_ editor: Editor, _ id: Int64) -> JSONValue? {
        editor.messages.last { $0["id"] == .integer(id) }
    }

    private static func hasLastRun(_ answer: JSONValue?) -> Bool {
        (answer?["result"]?.arrayValue ?? []).contains { $0["command"]?["title"] == "last run: completed" }
    }

    @Test("other requests and changes are handled while a daemon is asked, and it is asked once for all lenses")
    func meanwhile() {
        var editor = Self.asking()
        #expect(editor.ask("completion", "/h/home.yaml", 2, 0)["result"] != nil)
        #expect(
            editor.request("textDocument/documentSymbol", ["textDocument": ["uri": "file:///h/home.yaml"]]) != .null)
        editor.change("/h/home.yaml", version: 2, ["text": "version: 2\n"])
        editor.wait(.seconds(1))
        #expect(!editor.problems("/h/home.yaml").isEmpty)
        editor.change("/h/home.yaml", version: 3, ["text": .string(Self.text)])
        editor.send(Self.lensRequest(101))
        #expect(Self.answer(editor, 100) == nil && Self.answer(editor, 101) == nil)
        editor.answerDaemon()
        #expect(Self.hasLastRun(Self.answer(editor, 100)) && Self.hasLastRun(Self.answer(editor, 101)))
        #expect(editor.askedDaemons == ["/h/tryck.yaml"])
    }

    @Test("the daemon of another configuration is asked afterwards")
    func anotherDaemon() {
        var editor = Editor.ready(
            Self.house.merging(["/i/tryck.yaml": "rules: home.yaml\n", "/i/home.yaml": Self.text]) { first, _ in first }
        )
        editor.lastRuns = .runs([LastRun(rule: "lamp", result: "completed", age: nil)])
        editor.holdsDaemons = true
        for (id, path) in [(100, "/h/home.yaml"), (101, "/i/home.yaml")] as [(Int64, String)] {
            editor.open(path)
            editor.send(Self.lensRequest(id, path))
        }
        #expect(editor.askedDaemons == ["/h/tryck.yaml"])
        editor.answerDaemon()
        #expect(Self.hasLastRun(Self.answer(editor, 100)) && Self.answer(editor, 101) == nil)
        #expect(editor.askedDaemons == ["/h/tryck.yaml", "/i/tryck.yaml"])
        editor.answerDaemon()
        #expect(Self.hasLastRun(Self.answer(editor, 101)))
    }

    @Test("lenses that wait for a daemon can be cancelled, and those of a document that was closed are none")
    func cancelled() {
        var editor = Self.asking()
        editor.send(Self.lensRequest(101))
        editor.notify("$/cancelRequest", ["id": 100])
        #expect(Self.answer(editor, 100)?["error"]?["code"] == -32800)
        editor.close("/h/home.yaml")
        editor.answerDaemon()
        #expect(editor.messages.count { $0["id"] == 100 } == 1)
        #expect(Self.answer(editor, 101)?["result"] == [])
    }

    @Test("an editor that shuts down gets its lenses first, and one that is gone gets them before the server ends")
    func shutdown() {
        var editor = Self.asking()
        editor.request("shutdown", .null)
        #expect(!editor.server.wantsInput)
        editor.notify("exit", .null)
        #expect(editor.exitStatus == nil)
        let before = editor.messages.count
        editor.answerDaemon()
        #expect(Self.hasLastRun(editor.messages[before]))
        #expect(editor.messages.count == before + 2)
        #expect(editor.exitStatus == 0)

        editor = Self.asking()
        editor.give(.inputEnded)
        #expect(editor.exitStatus == nil)
        editor.answerDaemon()
        #expect(Self.hasLastRun(Self.answer(editor, 100)))
        #expect(editor.exitStatus == 1)
    }

    @Test("at most 64 requests for lenses wait, and the next one is answered at once with the tests")
    func full() {
        var editor = Self.asking()
        for id in 101...163 as ClosedRange<Int64> { editor.send(Self.lensRequest(id)) }
        #expect(Self.answer(editor, 163) == nil)
        editor.send(Self.lensRequest(164))
        #expect(Self.answer(editor, 164)?["result"]?.arrayValue?.count == 2)
        editor.answerDaemon()
        #expect((100...163).allSatisfy { Self.hasLastRun(Self.answer(editor, $0)) })
    }
}
