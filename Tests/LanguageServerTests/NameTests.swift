import JSON
import LanguageServer
import RuleLoader
import Testing

@Suite("Names in an editor")
struct NameTests {
    private static let home = """
        version: 1
        include: rooms/*.yaml
        buttons:
          kitchen: BF12-C34567
          "hall": {serial: BF12-C34568}
        groups: {all_rooms: [kitchen, hall]}
        variables: {scene: day}
        scripts:
          blink:
            inputs: {lamp: {type: string}}
            actions: {log: "{{ inputs.lamp }}: {{ variables.scene }}"}

        """
    private static let room = """
        rules:
          - id: lamp
            triggers: {button: [kitchen, 'hall'], event: click}
            conditions: buttons.kitchen.connected and variables.scene == 'day'
            actions:
              - {script: blink, with: {lamp: a}}
              - set: {scene: night}
        tests:
          - name: a click
            steps:
              - event: {button: kitchen, event: click}
              - expect_rules: {lamp: completed}

        """

    private static func editor() -> Editor {
        var editor = Editor.ready(["/r/home.yaml": home, "/r/rooms/a.yaml": room])
        editor.open("/r/home.yaml")
        editor.open("/r/rooms/a.yaml")
        return editor
    }

    /// The places of an answer: `a.yaml:2:23`.
    private static func places(_ answer: JSONValue) -> [String] {
        (answer["result"]?.arrayValue ?? []).map { location in
            let name = location["uri"]?.stringValue?.split(separator: "/").last ?? ""
            let start = location["range"]?["start"]
            return "\(name):\(start?["line"]?.integerValue ?? -1):\(start?["character"]?.integerValue ?? -1)"
        }
    }

    @Test("the test set has no mistakes")
    func valid() {
        let editor = Self.editor()
        #expect(editor.problems("/r/home.yaml") == [])
        #expect(editor.problems("/r/rooms/a.yaml") == [])
    }

    @Test(
        "a name leads to its declaration",
        arguments: [
            ("/r/rooms/a.yaml", 2, 26, ["home.yaml:3:2"]),
            ("/r/rooms/a.yaml", 2, 35, ["home.yaml:4:3"]),
            ("/r/rooms/a.yaml", 3, 26, ["home.yaml:3:2"]),
            ("/r/rooms/a.yaml", 3, 60, ["home.yaml:6:12"]),
            ("/r/rooms/a.yaml", 5, 18, ["home.yaml:8:2"]),
            ("/r/rooms/a.yaml", 5, 32, ["home.yaml:9:13"]),
            ("/r/rooms/a.yaml", 11, 24, ["a.yaml:1:8"]),
            ("/r/home.yaml", 10, 32, ["home.yaml:9:13"]),
            ("/r/home.yaml", 1, 12, ["a.yaml:0:0"]),
            ("/r/home.yaml", 0, 3, []),
        ])
    func definition(path: String, line: Int, character: Int, expected: [String]) {
        var editor = Self.editor()
        #expect(Self.places(editor.ask("definition", path, line, character)) == expected)
    }

    @Test("all places of a name, with or without its declaration")
    func references() {
        var editor = Self.editor()
        let all = Self.places(editor.ask("references", "/r/home.yaml", 3, 4))
        #expect(all == ["home.yaml:3:2", "home.yaml:5:21", "a.yaml:2:24", "a.yaml:3:24", "a.yaml:10:24"])
        let uses = editor.ask(
            "references", "/r/home.yaml", 6, 14, [.init("context", ["includeDeclaration": false])])
        #expect(Self.places(uses) == ["home.yaml:10:52", "a.yaml:3:56", "a.yaml:6:14"])
    }

    @Test(
        "renaming changes all places in all files, and the set stays without mistakes", arguments: [3, 4, 5, 6, 8, 9])
    func rename(line: Int) throws {
        var editor = Self.editor()
        let character = [3: 3, 4: 4, 5: 10, 6: 14, 8: 4, 9: 14][line] ?? 0
        let answer = editor.ask("rename", "/r/home.yaml", line, character, [.init("newName", "other_name")])
        let changes = try #require(answer["result"]?["changes"]?.objectValue)
        #expect(!changes.isEmpty)
        for change in changes {
            let edits = try #require(change.value.arrayValue)
            let changed: [JSONValue] = edits.reversed().map { edit in
                ["range": edit["range"] ?? .null, "text": edit["newText"] ?? .null]
            }
            editor.notify(
                "textDocument/didChange",
                [
                    "textDocument": ["uri": .string(change.name), "version": 2],
                    "contentChanges": .array(changed),
                ])
        }
        editor.wait(.seconds(1))
        #expect(editor.problems("/r/home.yaml") == [])
        #expect(editor.problems("/r/rooms/a.yaml") == [])
    }

    @Test("a rename that would make mistakes is refused", arguments: ["kitchen", "Upper", "any", "yes", "", "a b"])
    func refused(name: String) {
        var editor = Self.editor()
        let answer = editor.ask("rename", "/r/home.yaml", 4, 4, [.init("newName", .string(name))])
        #expect(answer["error"]?["code"] == -32803)
    }

    @Test("a rename tells what it would replace, and nothing where no name is")
    func prepare() {
        var editor = Self.editor()
        #expect(
            editor.ask("prepareRename", "/r/home.yaml", 4, 5)["result"] == [
                "range": ["start": ["line": 4, "character": 3], "end": ["line": 4, "character": 7]],
                "placeholder": "hall",
            ])
        #expect(editor.ask("prepareRename", "/r/home.yaml", 2, 2)["result"] == .null)
    }

    @Test("versions of documents are part of the edit if the editor wants that")
    func documentChanges() {
        var editor = Editor.ready(
            ["/r/home.yaml": Self.home],
            capabilities: ["workspace": ["workspaceEdit": ["documentChanges": true]]])
        editor.open("/r/home.yaml")
        let answer = editor.ask("rename", "/r/home.yaml", 6, 14, [.init("newName", "mood")])
        let documents = answer["result"]?["documentChanges"]?.arrayValue
        #expect(documents?.map { $0["textDocument"]?["version"] } == [1])
        #expect(documents?.first?["edits"]?.arrayValue?.count == 2)
    }

    @Test("results belong to their rule, inputs to their script")
    func owners() {
        var editor = Editor.ready()
        let rule = """
              - id: %
                triggers: {button: any, event: click}
                actions: [{run: [mpc], save_as: answer}, {log: "{{ results.answer.stdout }}"}]

            """
        editor.open(
            "/home.yaml", "version: 1\nrules:\n" + rule.replacing("%", with: "a") + rule.replacing("%", with: "b"))
        #expect(editor.problems("/home.yaml") == [])
        #expect(Self.places(editor.ask("references", "/home.yaml", 4, 38)) == ["home.yaml:4:36", "home.yaml:4:63"])
    }

    @Test("a secret leads to its line")
    func secret() {
        var editor = Editor.ready(["/secrets.yaml": "# comment\ntoken: x\n"])
        editor.open("/home.yaml", "version: 1\nstates: {a: {topic: !secret token}}\n")
        #expect(Self.places(editor.ask("definition", "/home.yaml", 1, 30)) == ["secrets.yaml:1:0"])
    }

    // MARK: Hovering

    private static func hover(_ path: String, _ line: Int, _ character: Int) -> String {
        var editor = Self.editor()
        return editor.ask("hover", path, line, character)["result"]?["contents"]?["value"]?.stringValue ?? ""
    }

    @Test(
        "hovering shows the text of the reference for a key, and what a name is",
        arguments: [
            ("/r/rooms/a.yaml", 2, 6, "**triggers** (required) in a rule: the triggers; any of them starts the rule"),
            ("/r/rooms/a.yaml", 2, 44, "**event** in a trigger: the events"),
            ("/r/rooms/a.yaml", 2, 50, "**event** in a trigger"),
            ("/r/rooms/a.yaml", 2, 26, "**kitchen**: a button of model flic2\n\nA click does not wait."),
            ("/r/home.yaml", 5, 12, "**all_rooms**: a group of `kitchen`, `hall`"),
            ("/r/rooms/a.yaml", 3, 60, "**scene**: a variable of type string, at first `day`"),
            (
                "/r/rooms/a.yaml", 3, 36,
                "**buttons.NAME.connected**: whether the button is connected\n\n*Type:* boolean"
            ),
            ("/r/rooms/a.yaml", 3, 18, "**buttons**: a declared button"),
            ("/r/rooms/a.yaml", 5, 18, "**blink**: a script with the inputs `lamp` (string)"),
            ("/r/home.yaml", 10, 32, "**lamp**: an input of type string of the script `blink`"),
            ("/r/home.yaml", 1, 3, "**include** in the file: files to include"),
        ])
    func hovering(path: String, line: Int, character: Int, expected: String) {
        let text = Self.hover(path, line, character)
        #expect(text.hasPrefix(expected), "\(text)")
    }

    @Test(
        "hovering over an operator shows the type of its expression",
        arguments: [
            ("conditions: states.lux < variables.limit + 1", "<", "boolean"),
            ("conditions: 1 + 2 > 2", "+", "boolean"),
            ("actions: {log: \"{{ variables.limit * 2 }} of {{ states.lux ?? 0 }}\"}", "*", "integer"),
            ("actions: {log: \"{{ variables.limit * 2.5 }} of {{ states.lux ?? 0 }}\"}", "*", "number"),
            ("actions: {log: \"{{ results.unknown + 1 }}\"}", "+", nil),
        ] as [(String, Character, String?)])
    func typeOfExpression(line: String, sign: Character, type: String?) throws {
        var editor = Editor.ready()
        let start =
            "version: 1\nbuttons: {hall: BF12-C34567}\nvariables: {limit: 3}\nstates: {lux: {topic: home/lux, type: integer, default: 0}}\n"
        let more = line.hasPrefix("actions") ? "" : "\n    actions: {log: x}"
        editor.open(
            "/r.yaml", start + "rules:\n  - id: a\n    triggers: {button: hall, event: click}\n    \(line)\(more)\n")
        let place = try #require(line.firstIndex(of: sign))
        let character = 4 + line.distance(from: line.startIndex, to: place)
        let text = editor.ask("hover", "/r.yaml", 7, character)["result"]?["contents"]?["value"]?.stringValue ?? ""
        if let type {
            #expect(text.hasSuffix("*Type of this expression:* \(type)"), "\(text)")
        } else {
            #expect(!text.contains("Type of this expression"), "\(text)")
        }
    }

    @Test("a state shows its topic unless that is the value of a secret")
    func secretTopic() {
        var editor = Editor.ready(["/secrets.yaml": "token: hunter2\n"])
        let condition = "rules: [{id: a, triggers: {button: any, event: click}, conditions: states.door and states.lux,"
        let text =
            "version: 1\nstates: {door: {topic: !secret token, type: boolean}, lux: {topic: home/lux, type: boolean}}\n"
            + condition + " actions: {log: x}}]\n"
        editor.open("/r.yaml", text)
        func hover(_ state: String) -> String? {
            guard let range = condition.firstRange(of: state) else { return nil }
            let character = condition.distance(from: condition.startIndex, to: range.lowerBound)
            return editor.ask("hover", "/r.yaml", 2, character)["result"]?["contents"]?["value"]?.stringValue
        }
        #expect(hover("lux") == "**lux**: a state of type boolean, from the topic `home/lux`")
        #expect(hover("door") == "**door**: a state of type boolean")
        editor.change("/r.yaml", version: 2, ["text": .string(text.replacing(" and states.lux", with: " and states."))])
        let column = condition.count - " and states.lux,".count + " and states.".count
        let answer = editor.ask("completion", "/r.yaml", 2, column).description
        #expect(answer.contains("door") && !answer.contains("hunter2"))
    }

    @Test("an editor without Markdown gets plain text")
    func plainText() {
        var editor = Editor.ready(
            ["/r/home.yaml": Self.home], capabilities: ["textDocument": ["hover": ["contentFormat": ["plaintext"]]]])
        editor.open("/r/home.yaml")
        let contents = editor.ask("hover", "/r/home.yaml", 0, 2)["result"]?["contents"]
        #expect(contents?["kind"] == "plaintext")
        #expect(contents?["value"]?.stringValue?.contains("*") == false)
    }

    /// The inlay hints of all of `/home.yaml`.
    private static func hints(_ editor: inout Editor) -> [JSONValue] {
        let range: JSONValue = ["start": ["line": 0, "character": 0], "end": ["line": 99, "character": 0]]
        let answer = editor.request(
            "textDocument/inlayHint", ["textDocument": ["uri": "file:///home.yaml"], "range": range])
        return answer["result"]?.arrayValue ?? []
    }

    @Test("beside a trigger stands how long the click waits, and why")
    func waits() {
        var editor = Editor.ready()
        editor.open(
            "/home.yaml",
            """
            version: 1
            buttons: {kitchen: BF12-C34567, hall: BF12-C34568}
            groups: {both: [kitchen, hall]}
            rules:
              - id: lamp
                triggers: {button: both, event: click}
                actions: {log: a}
              - id: two
                triggers: {button: kitchen, event: double_click}
                actions: {log: b}
              - id: quick
                triggers: {button: hall, event: click}
                actions: {log: c}

            """)
        let hints = Self.hints(&editor)
        #expect(hints.map { $0["label"] } == ["waits 500ms"])
        #expect(hints.first?["position"] == ["line": 5, "character": 41])
        #expect(
            hints.first?["tooltip"]?["value"] == "A click of `kitchen` waits 500ms, because of the rule `two`.")
        for character in [7, 32, 40] {
            let text = editor.ask("hover", "/home.yaml", 5, character)["result"]?["contents"]?["value"]?.stringValue
            #expect(
                text?.hasSuffix(
                    "\n\nA click of `kitchen` waits 500ms, because of the rule `two`.\n\nA click of `hall` does not wait."
                )
                    ?? false, "\(character): \(text ?? "")")
        }
        let other = editor.ask("hover", "/home.yaml", 8, 33)["result"]?["contents"]?["value"]?.stringValue
        #expect(other?.contains("wait") == false)
        let hover = editor.ask("hover", "/home.yaml", 1, 12)["result"]?["contents"]?["value"]
        #expect(
            hover == "**kitchen**: a button of model flic2\n\nA click waits 500ms, because of the rule `two`.")
    }

    @Test("while another rule has a mistake, waits are those of the last check without errors")
    func lastWaits() throws {
        var editor = Editor.ready()
        editor.open(
            "/home.yaml",
            """
            version: 1
            buttons: {kitchen: BF12-C34567}
            rules:
              - {id: one, triggers: {button: kitchen, event: click}, actions: {log: a}}
              - {id: two, triggers: {button: kitchen, event: double_click}, actions: {log: a}}
              - {id: three, triggers: {button: kitchen, event: hold}, actions: {log: a}}

            """)
        let before = Self.hints(&editor)
        #expect(before.count == 1)
        editor.change(
            "/home.yaml", version: 2,
            ["range": ["start": ["line": 5, "character": 7], "end": ["line": 5, "character": 9]], "text": "xd"])
        editor.wait(.seconds(1))
        #expect(editor.problems("/home.yaml").contains { $0.hasPrefix("E") })
        #expect(Self.hints(&editor) == before)
    }

    @Test("the title of a field is written as in rules")
    func fields() {
        var editor = Editor.ready()
        editor.open(
            "/home.yaml",
            """
            version: 1
            buttons: {kitchen: BF12-C34567}
            rules:
              - id: one
                triggers: {button: kitchen, event: click}
                conditions: trigger.button == 'kitchen' and buttons.kitchen.held
                actions: {log: a}

            """)
        func title(_ character: Int) -> Substring? {
            editor.ask("hover", "/home.yaml", 5, character)["result"]?["contents"]?["value"]?.stringValue?.split(
                separator: ":"
            ).first
        }
        #expect(title(26) == "**trigger.button**")
        #expect(title(65) == "**buttons.NAME.held**")
    }

    @Test("at the triggers of a rule, presses that steps of scripts wait for are not counted")
    func waitsOfSteps() {
        var editor = Editor.ready()
        editor.open(
            "/home.yaml",
            """
            version: 1
            buttons: {kitchen: BF12-C34567, hall: BF12-C34568}
            rules:
              - id: lamp
                actions: [{script: later}]
                triggers: {button: kitchen, event: click}
            scripts:
              later:
                actions:
                  - wait_for: {button: hall, event: click}
                    timeout: 5s
                    then: {log: a}

            """)
        let text = editor.ask("hover", "/home.yaml", 5, 6)["result"]?["contents"]?["value"]?.stringValue ?? ""
        #expect(text.hasSuffix("\n\nA click of `kitchen` does not wait."), "\(text)")
        #expect(!text.contains("hall"))
    }

    @Test("the words of expressions have types")
    func tokens() {
        var editor = Self.editor()
        let answer = editor.request(
            "textDocument/semanticTokens/full", ["textDocument": ["uri": "file:///r/rooms/a.yaml"]])
        #expect(
            answer["result"]?["data"] == [
                3, 16, 7, 0, 0, 0, 8, 7, 1, 0, 0, 8, 9, 2, 0, 0, 14, 9, 0, 0, 0, 10, 5, 1, 0,
            ])
    }

    // MARK: Symbols

    @Test("the outline has the sections with their declarations, rules and tests")
    func symbols() {
        var editor = Self.editor()
        let answer = editor.request(
            "textDocument/documentSymbol", ["textDocument": ["uri": "file:///r/rooms/a.yaml"]])
        let sections = answer["result"]?.arrayValue ?? []
        #expect(sections.map { $0["name"] } == ["rules", "tests"])
        let rule = sections.first?["children"]?.arrayValue?.first
        #expect(rule?["name"] == "lamp")
        #expect(rule?["kind"] == 24)
        #expect(
            rule?["selectionRange"]
                == ["start": ["line": 1, "character": 8], "end": ["line": 1, "character": 12]])
        #expect(sections.last?["children"]?.arrayValue?.map { $0["name"] } == ["a click"])
    }

    @Test("while a line is not valid, the outline stays")
    func symbolsStay() {
        var editor = Self.editor()
        let request: JSONValue = ["textDocument": ["uri": "file:///r/rooms/a.yaml"]]
        editor.request("textDocument/documentSymbol", request)
        editor.change("/r/rooms/a.yaml", version: 2, ["text": .string(Self.room + "x: [\n")])
        #expect(editor.request("textDocument/documentSymbol", request)["result"]?.arrayValue?.count == 2)
    }

    @Test("symbols of all files are found by a part of their name")
    func workspaceSymbols() {
        var editor = Self.editor()
        let answer = editor.request("workspace/symbol", ["query": "LA"])
        #expect(answer["result"]?.arrayValue?.map { $0["name"] } == ["lamp"])
        let all = editor.request("workspace/symbol", ["query": ""])["result"]?.arrayValue?.compactMap { $0["name"] }
        #expect(all == ["kitchen", "hall", "all_rooms", "scene", "blink", "lamp", "a click"])
    }
}
