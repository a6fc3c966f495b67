import JSON
import LanguageServer
import RuleLoader
import Testing
import YAMLFiles

@Suite("Diagnostics in an editor")
struct DiagnosticsTests {
    private static let rules = """
        version: 1
        buttons: {kitchen: BF12-C34567}
        rules:
          - id: lamp
            triggers: {button: kitchn, event: click}
            actions: {log: clicked}

        """

    @Test("a file that is opened is checked at once, with the range, the code and the hint")
    func open() {
        var editor = Editor.ready(capabilities: ["textDocument": ["publishDiagnostics": ["relatedInformation": true]]])
        editor.open("/rules/home.yaml", Self.rules)
        #expect(
            editor.diagnostics["file:///rules/home.yaml"]?.description == """
                {"uri":"file:///rules/home.yaml","version":1,"diagnostics":[{"range":{"start":{"line":4,"character":23},\
                "end":{"line":4,"character":29}},"severity":1,"code":"E301","source":"tryck",\
                "message":"unknown button \\"kitchn\\"","relatedInformation":[{"location":{"uri":\
                "file:///rules/home.yaml","range":{"start":{"line":4,"character":23},"end":{"line":4,"character":29}}},\
                "message":"did you mean \\"kitchen\\"?"},{"location":{"uri":"file:///rules/home.yaml","range":\
                {"start":{"line":1,"character":10},"end":{"line":1,"character":10}}},\
                "message":"buttons are declared"}]}]}
                """)
    }

    @Test("without notes in the editor, the hint stands in the message")
    func hint() {
        var editor = Editor.ready()
        editor.open("/rules/home.yaml", Self.rules)
        let message = editor.diagnostics["file:///rules/home.yaml"]?["diagnostics"]?.arrayValue?.first?["message"]
        #expect(message == "unknown button \"kitchn\"\ndid you mean \"kitchen\"?")
    }

    @Test("a change is checked 100 ms after the last one, and only changed diagnostics are sent")
    func change() {
        var editor = Editor.ready()
        editor.open("/rules/home.yaml", Self.rules)
        let range: JSONValue = ["start": ["line": 4, "character": 28], "end": ["line": 4, "character": 28]]
        editor.change("/rules/home.yaml", version: 2, ["range": range, "text": "e"])
        editor.wait(.milliseconds(60))
        editor.change("/rules/home.yaml", version: 3, ["range": range, "text": ""])
        editor.wait(.milliseconds(60))
        #expect(editor.problems("/rules/home.yaml") == ["E301:5"])
        editor.wait(.milliseconds(60))
        #expect(editor.problems("/rules/home.yaml") == [])
        #expect(editor.diagnostics["file:///rules/home.yaml"]?["version"] == 3)
        let count = editor.messages.count
        editor.change("/rules/home.yaml", version: 4, ["range": range, "text": ""])
        editor.wait(.seconds(1))
        #expect(editor.messages.count == count)
    }

    @Test("a whole new text replaces the old one, and an older version is ignored")
    func versions() {
        var editor = Editor.ready()
        editor.open("/rules/home.yaml", Self.rules)
        editor.change("/rules/home.yaml", version: 5, ["text": "version: 1\n"])
        editor.change("/rules/home.yaml", version: 4, ["text": "version: 2\n"])
        editor.wait(.seconds(1))
        #expect(editor.problems("/rules/home.yaml") == [])
    }

    @Test("positions count UTF-16 units, or octets if the editor offers that")
    func encodings() {
        let text = "version: 1\nbuttons: {a: \"𝄞é\", b: x}\nrules: [{id: é}]\n"
        var wide = Editor.ready()
        wide.open("/home.yaml", text)
        #expect(wide.characters(of: "/home.yaml") == ["1:13-18", "1:23-24", "2:9-11", "2:9-11", "2:13-14"])
        var narrow = Editor.ready(capabilities: ["general": ["positionEncodings": ["utf-16", "utf-8"]]])
        narrow.open("/home.yaml", text)
        #expect(narrow.characters(of: "/home.yaml") == ["1:13-21", "1:26-27", "2:9-11", "2:9-11", "2:13-15"])
        #expect(narrow.messages.first?["result"]?["capabilities"]?["positionEncoding"] == "utf-8")
    }

    @Test("a file of a set is checked as a part of the set, also while only it is open and not saved")
    func included() {
        var editor = Editor.ready([
            "/etc/tryck.yaml": "rules: rules/home.yaml\n",
            "/etc/rules/home.yaml": "version: 1\ninclude: rooms/*.yaml\nbuttons: {kitchen: BF12-C34567}\n",
            "/etc/rules/rooms/a.yaml": "",
        ])
        editor.open(
            "/etc/rules/rooms/a.yaml",
            "rules:\n  - id: a\n    triggers: {button: kitchen, event: click}\n    actions: {log: x}\n")
        #expect(editor.problems("/etc/rules/rooms/a.yaml") == [])
        editor.open("/etc/rules/home.yaml")
        editor.change("/etc/rules/home.yaml", version: 2, ["text": "version: 1\ninclude: rooms/*.yaml\n"])
        editor.wait(.seconds(1))
        #expect(editor.problems("/etc/rules/rooms/a.yaml") == ["E301:3"])
    }

    @Test("without a tryck.yaml, the file beside it that includes it is the entry file")
    func sibling() {
        var editor = Editor.ready([
            "/r/home.yaml": "version: 1\ninclude: kitchen.yaml\nbuttons: {kitchen: BF12-C34567}\n",
            "/r/other.yaml": "version: 1\ninclude: nothing.yaml\n", "/r/kitchen.yaml": "",
        ])
        editor.open(
            "/r/kitchen.yaml",
            "rules:\n  - id: a\n    triggers: {button: kitchn, event: click}\n    actions: {log: x}\n")
        #expect(editor.problems("/r/kitchen.yaml") == ["E301:3"])
        #expect(editor.problems("/r/home.yaml") == [])
    }

    @Test("a file two levels below belongs to the open set that includes it, also when it is checked itself")
    func openSet() {
        let rules = "rules:\n  - id: a\n    triggers: {button: kitchen, event: click}\n    actions: {log: x}\n"
        var editor = Editor.ready([
            "/r/home.yaml": "version: 1\ninclude: parts/a.yaml\nbuttons: {kitchen: BF12-C34567}\n",
            "/r/parts/a.yaml": "include: deep/b.yaml\n", "/r/parts/deep/b.yaml": rules,
        ])
        editor.open("/r/home.yaml")
        editor.open("/r/parts/deep/b.yaml")
        #expect(editor.problems("/r/parts/deep/b.yaml") == [])
        editor.change("/r/parts/deep/b.yaml", version: 2, ["text": .string(rules + "    enabled: false\n")])
        editor.wait(.seconds(1))
        #expect(editor.problems("/r/parts/deep/b.yaml") == [])
        // The entry file is closed, and the other document keeps the set open.
        editor.close("/r/home.yaml")
        editor.change("/r/parts/deep/b.yaml", version: 3, ["text": .string(rules)])
        editor.wait(.seconds(1))
        #expect(editor.problems("/r/parts/deep/b.yaml") == [])
    }

    @Test("a file is checked alone after another program has removed the entry file of its set")
    func entryIsGone() {
        let rules = "rules:\n  - id: a\n    triggers: {button: kitchen, event: click}\n    actions: {log: x}\n"
        var editor = Editor.ready([
            "/r/home.yaml": "version: 1\ninclude: room.yaml\nbuttons: {kitchen: BF12-C34567}\n", "/r/room.yaml": rules,
        ])
        editor.open("/r/room.yaml")
        #expect(editor.problems("/r/room.yaml") == [])
        editor.disk["/r/home.yaml"] = nil
        editor.change("/r/room.yaml", version: 2, ["text": .string(rules + "# x\n")])
        editor.wait(.seconds(1))
        #expect(editor.problems("/r/room.yaml") == ["E202:1", "E301:3"])
    }

    @Test("a new file that is not saved belongs to the set that includes it")
    func newFile() {
        for include in ["new.yaml", "\"*.yaml\""] {
            var editor = Editor.ready([
                "/r/tryck.yaml": "rules: rules/home.yaml\n",
                "/r/rules/home.yaml": "version: 1\ninclude: \(include)\nbuttons: {kitchen: BF12-C34567}\n",
            ])
            editor.open("/r/rules/new.yaml", "rulez: []\n")
            #expect(editor.problems("/r/rules/new.yaml") == ["E201:1"], "\(include)")
        }
    }

    @Test("a mistake in another file of the set is shown there, and is gone when no file of the set is open")
    func otherFile() {
        var editor = Editor.ready([
            "/r/home.yaml": "version: 1\ninclude: kitchen.yaml\n", "/r/kitchen.yaml": "rulez: []\n",
        ])
        editor.open("/r/home.yaml")
        #expect(editor.problems("/r/kitchen.yaml") == ["E201:1"])
        editor.close("/r/home.yaml")
        #expect(editor.problems("/r/kitchen.yaml") == [])
    }

    @Test("the configuration and the secrets are files of their own kind")
    func otherKinds() {
        var editor = Editor.ready([
            "/r/tryck.yaml": "rules: home.yaml\nmqqt: {}\n",
            "/r/home.yaml": "version: 1\nstates: {a: {topic: !secret x}}\n",
            "/r/secrets.yaml": "y: z\n",
        ])
        editor.open("/r/tryck.yaml")
        #expect(editor.problems("/r/tryck.yaml") == ["E201:2"])
        editor.change("/r/tryck.yaml", version: 2, ["text": "rules: home.yaml\n"])
        editor.wait(.seconds(1))
        #expect(editor.problems("/r/tryck.yaml") == [])
        #expect(editor.problems("/r/home.yaml") == ["E309:2"])
        editor.open("/r/secrets.yaml")
        #expect(editor.problems("/r/secrets.yaml") == [])
        editor.open("/r/home.yaml")
        #expect(editor.problems("/r/home.yaml") == ["E309:2"])
        editor.change("/r/secrets.yaml", version: 2, ["text": "x: z\n"])
        editor.wait(.seconds(1))
        #expect(editor.problems("/r/home.yaml") == [])
    }

    @Test("a file that another program changes is noticed, and a set is checked once for all its open files")
    func watched() {
        var editor = Editor.ready(
            [
                "/r/home.yaml": "version: 1\ninclude: [a.yaml, b.yaml]\n", "/r/a.yaml": "rules: []\n",
                "/r/b.yaml": "rules: []\n",
            ], capabilities: ["workspace": ["didChangeWatchedFiles": ["dynamicRegistration": true]]])
        #expect(editor.messages.last?["method"] == "client/registerCapability")
        editor.send(["jsonrpc": "2.0", "id": "watch", "result": .null])
        editor.open("/r/home.yaml")
        editor.open("/r/a.yaml")
        editor.disk["/r/b.yaml"] = SourceFile(name: "/r/b.yaml", text: Array("rulez: []\n".utf8))
        let requests = editor.requestCount
        editor.notify("workspace/didChangeWatchedFiles", ["changes": []])
        editor.wait(.seconds(1))
        #expect(editor.problems("/r/b.yaml") == ["E201:1"])
        // A second check of the same set would ask for everything again.
        #expect(editor.requestCount - requests < 10)
    }

    @Test("a tryck.yaml forbids steps and says that there is no broker")
    func permissions() {
        let rule = "version: 1\nbuttons: {a: BF12-C34567}\nrules:\n  - id: a\n    triggers: {button: a, event: click}\n"
        var editor = Editor.ready([
            "/r/tryck.yaml": "rules: ./home.yaml\nmqtt: {broker: none}\nactions: {shell: false}\n",
            "/r/home.yaml": rule + "    actions: {publish: {topic: a}}\n",
        ])
        editor.open("/r/home.yaml")
        #expect(editor.problems("/r/home.yaml") == ["W710:6"])
        editor.change("/r/home.yaml", version: 2, ["text": .string(rule + "    actions: {shell: date}\n")])
        editor.wait(.seconds(1))
        #expect(editor.problems("/r/home.yaml") == ["E204:6"])
    }

    @Test("a document that was never saved is a set of its own")
    func untitled() {
        var editor = Editor.ready()
        let document: JSONValue = ["uri": "untitled:Untitled-1", "version": 1, "text": "version: 1\nrulez: []\n"]
        editor.notify("textDocument/didOpen", ["textDocument": document])
        let diagnostics = editor.diagnostics["untitled:Untitled-1"]?["diagnostics"]?.arrayValue
        #expect(diagnostics?.map { $0["code"] } == ["E201"])
        let answer = editor.request(
            "textDocument/completion",
            ["textDocument": ["uri": "untitled:Untitled-1"], "position": ["line": 2, "character": 0]])
        #expect(answer["result"]?["items"]?.arrayValue?.isEmpty == false)
    }

    @Test("a byte order mark does not move the diagnostics of the first line")
    func mark() {
        var editor = Editor.ready()
        editor.open("/home.yaml", "\u{FEFF}verzion: 1\n")
        #expect(editor.characters(of: "/home.yaml") == ["0:1-8"])
    }

    @Test("changes at impossible positions are clamped, and changes of another form are ignored")
    func clamped() {
        var editor = Editor.ready()
        editor.open("/home.yaml", "version: 1\r\nbuttons: {}\r\n")
        func range(_ first: (Int64, Int64), _ last: (Int64, Int64)) -> JSONValue {
            [
                "start": ["line": .integer(first.0), "character": .integer(first.1)],
                "end": ["line": .integer(last.0), "character": .integer(last.1)],
            ]
        }
        editor.change("/home.yaml", version: 2, ["range": range((99, 0), (.max, .max)), "text": "x: 1\n"])
        editor.change("/home.yaml", version: 3, ["range": range((0, 99), (0, 8)), "text": " 2"])
        editor.change("/home.yaml", version: 4, ["range": ["start": 1], "text": "?"], ["text": 3])
        editor.change("/home.yaml", version: 5, ["range": range((-1, 0), (0, 0)), "text": "?"])
        editor.wait(.seconds(1))
        #expect(editor.problems("/home.yaml") == ["E204:1", "E201:3"])
    }
}

extension Editor {
    /// The ranges of the diagnostics of a file: `1:14-18`.
    func characters(of path: String) -> [String] {
        (diagnostics[Editor.uri(path)]?["diagnostics"]?.arrayValue ?? []).map { diagnostic in
            func number(_ end: String, _ name: String) -> Int64 {
                diagnostic["range"]?[end]?[name]?.integerValue ?? -1
            }
            return "\(number("start", "line")):\(number("start", "character"))-\(number("end", "character"))"
        }
    }
}
