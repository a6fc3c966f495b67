import JSON
import LanguageServer
import RuleLoader
import Rules
import Testing

/// Each test writes a text with a `|` where the cursor is.
@Suite("Completion")
struct CompletionTests {
    @Test(
        "a completion is answered before a check that is due, with the names of the last check; other requests after it"
    )
    func beforeCheck() throws {
        let text =
            "version: 1\nbuttons: {kitchen: BF12-C34567}\nrules:\n  - {id: a, triggers: {button: , event: click}}\n"
        for (method, isFirst) in [("completion", true), ("hover", false)] {
            var editor = Editor.ready()
            editor.open("/home.yaml", text)
            editor.change(
                "/home.yaml", version: 2,
                ["range": ["start": ["line": 0, "character": 9], "end": ["line": 0, "character": 10]], "text": "2"])
            editor.pass(.milliseconds(100))
            let before = editor.messages.count
            let answer = editor.ask(method, "/home.yaml", 3, 31)
            let isCheck = editor.messages[before...].map { $0["method"] == "textDocument/publishDiagnostics" }
            #expect(isCheck == (isFirst ? [false, true] : [true, false]), "\(method)")
            if isFirst {
                let labels = answer["items"]?.arrayValue ?? answer["result"]?["items"]?.arrayValue ?? []
                #expect(labels.contains { $0["label"] == "kitchen" })
            }
        }
    }

    @Test("a document that was just opened is checked before its first completion")
    func firstCheck() {
        var editor = Editor.ready()
        let text =
            "version: 1\nbuttons: {kitchen: BF12-C34567}\nrules:\n  - {id: a, triggers: {button: , event: click}}\n"
        func message(_ method: String, _ parameters: JSONValue, id: Int64? = nil) -> [UInt8] {
            Editor.frame(
                .object(
                    [.init("jsonrpc", "2.0"), .init("method", .string(method)), .init("params", parameters)]
                        + (id.map { [.init("id", .integer($0))] } ?? [])))
        }
        let document: JSONValue = ["uri": "file:///home.yaml", "version": 1, "text": .string(text)]
        editor.give(
            .received(
                message("textDocument/didOpen", ["textDocument": document])
                    + message(
                        "textDocument/completion",
                        [
                            "textDocument": ["uri": "file:///home.yaml"],
                            "position": ["line": 3, "character": 31],
                        ], id: 77)))
        let items = editor.messages.last { $0["id"] == 77 }?["result"]?["items"]?.arrayValue ?? []
        #expect(items.contains { $0["label"] == "kitchen" })
    }

    @Test("the documentation of a completion is plain text if the editor does not show Markdown")
    func plainText() {
        var editor = Editor.ready(
            capabilities: ["textDocument": ["completion": ["completionItem": ["documentationFormat": ["plaintext"]]]]])
        editor.open("/home.yaml", "version: 1\n\n")
        let answer = editor.ask("completion", "/home.yaml", 1, 0)
        let item = (answer["result"]?["items"]?.arrayValue ?? []).first { $0["label"] == "rules" }
        #expect(item?["documentation"]?["kind"] == "plaintext")
        #expect(item?["documentation"]?["value"]?.stringValue?.contains("*") == false)
    }

    private static let start = """
        version: 1
        buttons:
          kitchen: BF12-C34567
          sofa: {serial: DA01-D00042, model: duo}
        groups: {rooms: [kitchen, sofa]}
        states: {lux: {topic: home/lux, type: integer}}
        variables: {scene: {initial: day, values: [day, night]}}
        scripts:
          blink: {inputs: {lamp: {type: string}}, actions: {log: blink}}
        rules:
          - id: first
            alias: The first one
            triggers: {button: kitchen, event: click}
            actions: {run: [mpc], save_as: answer}

        """

    /// The labels at the `|` of a text that follows the declarations above.
    private static func labels(_ text: String, in start: String = start, snippets: Bool = false) -> [String] {
        items(text, in: start, snippets: snippets).map { $0["label"]?.stringValue ?? "" }
    }

    private static func items(_ text: String, in start: String = start, snippets: Bool = false) -> [JSONValue] {
        var editor = Editor.ready(
            capabilities: ["textDocument": ["completion": ["completionItem": ["snippetSupport": .bool(snippets)]]]])
        let before = String(text.prefix { $0 != "|" })
        let after = String(text.drop { $0 != "|" }.dropFirst())
        // The first check sees the declarations; the line that is being written comes later.
        editor.open("/home.yaml", start)
        editor.change("/home.yaml", version: 2, ["text": .string(start + before + after)])
        let lines = (start + before).split(separator: "\n", omittingEmptySubsequences: false)
        let answer = editor.ask("completion", "/home.yaml", lines.count - 1, lines.last?.utf16.count ?? 0)
        return (answer["result"]?["items"] ?? answer["result"])?.arrayValue ?? []
    }

    @Test("at the beginning of a line, the keys of the file that are not written yet")
    func topLevel() {
        let labels = Self.labels("|")
        #expect(labels.contains("tests"))
        #expect(labels.contains("location"))
        #expect(!labels.contains("buttons"))
        #expect(Self.labels("te|") == ["tests"])
    }

    @Test("in an empty file, the keys of the file")
    func emptyFile() {
        #expect(Self.labels("|", in: "").contains("version"))
    }

    @Test("the keys of a rule, with the text of the reference")
    func rule() throws {
        let items = Self.items("  - id: second\n    |\n")
        let labels = items.compactMap { $0["label"]?.stringValue }
        #expect(labels.contains("triggers"))
        #expect(!labels.contains("id"))
        #expect(!labels.contains("button"))
        let mode = try #require(items.first { $0["label"] == "mode" })
        #expect(mode["detail"] == "`single`, `restart`, `queued`, `parallel`")
        #expect(mode["textEdit"]?["newText"] == "mode: ")
        #expect(mode["documentation"]?["value"]?.stringValue?.contains("what happens if the rule matches") ?? false)
    }

    @Test("keys that stand below the line are not offered again")
    func following() {
        let labels = Self.labels("  - |\n    id: second\n    actions: {log: a}\n")
        #expect(labels.contains("triggers"))
        #expect(!labels.contains("actions"))
    }

    @Test("the keys of a trigger are those that fit the written ones")
    func trigger() {
        let labels = Self.labels("  - id: second\n    triggers:\n      button: kitchen\n      |\n")
        #expect(labels.contains("event"))
        #expect(labels.contains("clicks"))
        #expect(!labels.contains("chord"))
        #expect(!labels.contains("at"))
        let inList = Self.labels(
            "  - id: second\n    triggers:\n      - button: kitchen\n        event: click\n      - |")
        #expect(inList.contains("chord"))
    }

    @Test(
        "names where they are used",
        arguments: [
            ("  - id: b\n    triggers: {button: |", ["any", "kitchen", "sofa", "rooms"]),
            ("  - id: b\n    triggers:\n      button: |\n", ["any", "kitchen", "sofa", "rooms"]),
            ("  - id: b\n    triggers:\n      button: k|\n", ["kitchen"]),
            ("  - id: b\n    triggers:\n      button: [kitchen, |]\n", ["any", "kitchen", "sofa", "rooms"]),
            (
                "  - id: b\n    triggers:\n      button:\n        - kitchen\n        - |\n",
                ["any", "kitchen", "sofa", "rooms", "uuid", "serial", "address", "nickname"]
            ),
            ("  - id: b\n    triggers:\n      chord: [|", ["kitchen", "sofa"]),
            ("  - id: b\n    triggers:\n      state: |", ["lux"]),
            ("  - id: b\n    actions:\n      - script: |", ["blink"]),
            ("  - id: b\n    actions:\n      - script: blink\n        with: {|", ["lamp"]),
            ("  - id: b\n    actions:\n      - script: blink\n        with:\n          |", ["lamp"]),
            ("  - id: b\n    actions:\n      - set: {|", ["scene"]),
            ("  - id: b\n    actions:\n      - set:\n          |", ["scene"]),
            ("  - id: b\n    actions:\n      - enable: |", ["first"]),
            ("tests:\n  - name: a\n    given: {states: {|", ["lux"]),
            ("tests:\n  - name: a\n    steps:\n      - event: {button: |", ["kitchen", "sofa"]),
            ("tests:\n  - name: a\n    steps:\n      - expect_rules: {first: fai|", ["failed"]),
        ])
    func names(text: String, expected: [String]) {
        #expect(Set(Self.labels(text)) == Set(expected))
    }

    @Test("values of closed sets")
    func values() {
        #expect(Self.labels("  - id: b\n    mode: |") == ["single", "restart", "queued", "parallel"])
        #expect(Self.labels("  - id: b\n    enabled: |") == ["true", "false"])
        #expect(Self.labels("  - id: b\n    mode: q|") == ["queued"])
        #expect(Self.labels("  - id: b\n    triggers: {at: sun|") == ["sunrise", "sunset"])
    }

    @Test("the events of the models of the buttons beside it")
    func events() {
        let flic = Self.labels("  - id: b\n    triggers:\n      button: kitchen\n      event: |\n")
        #expect(flic.contains("hold"))
        #expect(!flic.contains("swipe_left"))
        let duo = Self.labels("  - id: b\n    triggers: {button: sofa, event: |")
        #expect(duo.contains("swipe_left"))
    }

    @Test(
        "in expressions: names, fields and functions",
        arguments: [
            ("  - id: b\n    conditions: states.|", ["lux"]),
            ("  - id: b\n    conditions: states.lux < 5 and variables.|", ["scene"]),
            (
                "  - id: b\n    conditions:\n      - buttons.kitchen.|",
                ["connected", "held", "battery", "last_event", "last_event_age"]
            ),
            ("  - id: b\n    conditions: buttons.|", ["kitchen", "sofa"]),
            ("  - id: b\n    actions: {log: \"now {{ repeat.|", ["index", "elapsed"]),
            ("  - id: b\n    actions:\n      - log: \"{{ rules.|\"", ["first"]),
            ("  - id: b\n    actions:\n      - log: >\n          now\n          {{ broker.|", ["connected"]),
            ("  - id: b\n    conditions: trig|", ["trigger"]),
            ("  - id: b\n    conditions: min|", ["min", "minutes_since"]),
            ("  - id: b\n    conditions: states.lux == 'ab|", []),
        ])
    func expressions(text: String, expected: [String]) {
        #expect(Set(Self.labels(text)) == Set(expected))
    }

    @Test("a text outside of braces is no expression")
    func outside() {
        #expect(Self.labels("  - id: b\n    actions: {log: \"{{ states.lux }} sta|") == [])
    }

    @Test("while other lines are not valid, too")
    func halfWritten() {
        #expect(Self.labels("  - id: b\n    triggers: {button: [\n  - id: c\n    mode: |\n").contains("single"))
        #expect(Self.labels("  - id: b\n    mode\n    triggers:\n      button: kitchen\n      ev|\n") == ["event"])
    }

    @Test("the value of a key that is written twice")
    func twice() {
        #expect(Self.labels("  - id: b\n    mode: single\n    mode: p|") == ["parallel"])
    }

    @Test("snippets for a rule, a test and a step")
    func snippets() throws {
        let rule = try #require(Self.items("  - |", snippets: true).first { $0["insertTextFormat"] == 2 })
        #expect(rule["label"] == "rule")
        #expect(rule["textEdit"]?["newText"]?.stringValue?.hasPrefix("id: ${1:name}\n  triggers:\n") ?? false)
        let withDash = try #require(Self.items("  |", snippets: true).first { $0["insertTextFormat"] == 2 })
        #expect(withDash["textEdit"]?["newText"]?.stringValue?.hasPrefix("- id:") ?? false)
        #expect(Self.labels("  - id: b\n    actions:\n      - pub|", snippets: true) == ["publish", "publish …"])
        #expect(Self.labels("tests:\n  - |", snippets: true).contains("test"))
    }

    @Test("each kind of step has a snippet, and with its placeholders it is a step", arguments: StepKind.allCases)
    func stepSnippet(kind: StepKind) throws {
        let items = Self.items("  - id: b\n    actions:\n      - |", snippets: true)
        let item = try #require(items.first { $0["label"]?.stringValue == "\(kind.rawValue) …" })
        let body = try #require(item["textEdit"]?["newText"]?.stringValue)
        #expect(item["insertTextFormat"] == 2)
        #expect(body.hasPrefix("\(kind.rawValue):"))
        #expect(item["detail"]?.stringValue?.isEmpty == false)
        let text = body.replacing(#/\$\{[0-9]:(?<text>[^}]*)\}/#) { $0.output.text }
            .replacing("condition", with: "true").replacing("variable:", with: "scene:")
            .replacing("value", with: "night").replacing("script: script", with: "script: quiet")
            .replacing(": rule", with: ": first")
        var editor = Editor.ready()
        editor.programs.insert("program")
        let event = kind == .repeat ? "hold" : "click"
        let rule = "  - id: b\n    triggers: {button: kitchen, event: \(event)}\n    actions:\n      - "
        let step = text.split(separator: "\n").joined(separator: "\n      ")
        let declarations = Self.start.replacing("rules:", with: "  quiet: {actions: {log: a}}\nrules:")
        editor.open("/home.yaml", declarations + rule + step + "\n")
        #expect(!editor.problems("/home.yaml").contains { $0.hasPrefix("E") }, "\(step)")
    }

    @Test("topics of the set, and secrets without their values")
    func topicsAndSecrets() {
        #expect(Self.labels("  - id: b\n    actions: {publish: {topic: ho|") == ["home/lux"])
        #expect(Self.labels("  - id: b\n    actions: {publish: {topic: home/l|") == ["home/lux"])
        #expect(Self.labels("  - id: b\n    conditions: {time: {weekday: mon-f|") == ["mon-fri"])
        var editor = Editor.ready(["/secrets.yaml": "token: hunter2\n"])
        let text = "version: 1\nrules:\n  - id: a\n    actions: {http: {url: !secret t"
        editor.open("/home.yaml", text)
        let answer = editor.ask("completion", "/home.yaml", 3, 37).description
        #expect(answer.contains("token"))
        #expect(!answer.contains("hunter2"))
        let states = "version: 1\nstates: {door: {topic: !secret token}, lux: {topic: home/lux}}\n"
        editor.open("/states.yaml", states)
        let step = "rules: [{actions: {publish: {topic: "
        editor.change("/states.yaml", version: 2, ["text": .string(states + step)])
        let topics = editor.ask("completion", "/states.yaml", 2, step.count)["result"]?["items"]?.arrayValue ?? []
        #expect(topics.map { $0["label"] } == ["home/lux"])
    }

    @Test("after an exclamation mark, the tags that a value may have")
    func tags() {
        let tags = ["!secret", "!env_var", "!literal"]
        #expect(Self.labels("  - id: b\n    actions: {publish: {topic: !|") == tags)
        #expect(Self.labels("  - id: b\n    actions: {publish: {topic: !s|") == ["!secret"])
        #expect(Self.labels("  - id: b\n    actions: {http: {url: x, headers: {a: !l|") == ["!literal"])
        #expect(Self.labels("  - id: b\n    actions: {publish: {topic: \"a !|") == [])
        #expect(!Self.labels("  - id: b\n    conditions: !|").contains("!secret"))
        var editor = Editor.ready()
        editor.open("/tryck.yaml", "mqtt: {password: !")
        let answer = editor.ask("completion", "/tryck.yaml", 0, 18)
        let items = answer["result"]?["items"]?.arrayValue ?? []
        #expect(items.map { $0["label"] } == ["!secret", "!env_var"])
        #expect(items.first?["textEdit"]?["newText"] == "!secret ")
        #expect(items.first?["textEdit"]?["range"]?["start"]?["character"] == 17)
    }

    @Test("topics of all files of the set, saved results and included files are known without another request")
    func withoutOutline() {
        var editor = Editor.ready([
            "/r/lamps.yaml":
                "rules:\n  - id: b\n    triggers: {button: kitchen, event: click}\n    actions: {publish: {topic: home/lamp}}\n",
            "/r/other.yaml": "",
        ])
        let start = """
            version: 1
            include: [lamps.yaml]
            buttons: {kitchen: BF12-C34567}
            states: {door: {topic: home/door}}
            rules:
              - id: a
                triggers: {button: kitchen, event: double_click}
                actions:
                  - {run: [measure], save_as: measured}
                  - publish: {topic: home/bell}

            """
        editor.open("/r/home.yaml", start)
        func labels(_ more: String, _ line: Int, _ character: Int, version: Int64) -> [String] {
            editor.change("/r/home.yaml", version: version, ["text": .string(start + more)])
            let answer = editor.ask("completion", "/r/home.yaml", line, character)
            return (answer["result"]?["items"]?.arrayValue ?? []).compactMap { $0["label"]?.stringValue }
        }
        let lines = start.split(separator: "\n", omittingEmptySubsequences: false).count
        let topic = "      - publish: {topic: "
        // The key without a value gives no empty topic.
        #expect(labels(topic, lines - 1, topic.count, version: 2) == ["home/bell", "home/door", "home/lamp"])
        let result = "      - log: \"{{ results."
        #expect(labels(result, lines - 1, result.count, version: 3) == ["measured"])
        #expect(labels("", 1, 10, version: 4) == ["other.yaml"])
        // While the text is no YAML, the names of the last one that was stay.
        editor.wait(.seconds(1))
        #expect(labels(topic, lines - 1, topic.count, version: 5) == ["home/bell", "home/door", "home/lamp"])
    }

    @Test("topics are those of the last check of a text that changes, and a key without a value gives none")
    func changedTopics() {
        let text = """
            version: 1
            states: {door: {topic: home/door}, bell: {topic: }}
            rules:
              - id: a
                triggers: {at: "21:00"}
                actions:
                  - publish:
                      topic:
                  - publish: {topic: home/bell}

            """
        var editor = Editor.ready()
        editor.open("/r/home.yaml", text)
        let changed = text.replacing("home/bell", with: "home/lamp")
        editor.change("/r/home.yaml", version: 2, ["text": .string(changed)])
        editor.wait(.seconds(1))
        #expect(editor.problems("/r/home.yaml") == ["E114:2", "E114:8"])
        let line = "      - publish: {topic: "
        editor.change("/r/home.yaml", version: 3, ["text": .string(changed + line)])
        let answer = editor.ask("completion", "/r/home.yaml", 9, line.count)
        let items = answer["result"]?["items"]?.arrayValue ?? []
        #expect(items.map { $0["label"] } == ["home/door", "home/lamp"])
    }

    @Test("the text before the cursor is replaced, also after characters of two units")
    func range() throws {
        var editor = Editor.ready()
        editor.open("/home.yaml", "version: 1\nbuttons: {a: {nickname: 𝄞, mod")
        let answer = editor.ask("completion", "/home.yaml", 1, 31)
        let item = try #require(answer["result"]?["items"]?.arrayValue?.first)
        #expect(item["label"] == "model")
        #expect(
            item["textEdit"]?["range"]
                == ["start": ["line": 1, "character": 28], "end": ["line": 1, "character": 31]])
    }

    @Test("names of a file that was opened just before")
    func atOnce() {
        let text = "version: 1\nbuttons: {kitchen: BF12-C34567}\nrules:\n  - id: a\n    triggers: {button: k"
        var editor = Editor.ready()
        let open: JSONValue = [
            "jsonrpc": "2.0", "method": "textDocument/didOpen",
            "params": ["textDocument": ["uri": "file:///home.yaml", "text": .string(text)]],
        ]
        let request: JSONValue = [
            "jsonrpc": "2.0", "id": 77, "method": "textDocument/completion",
            "params": [
                "textDocument": ["uri": "file:///home.yaml"], "position": ["line": 4, "character": 24],
            ],
        ]
        editor.give(.received(Editor.frame(open) + Editor.frame(request)))
        // The file is not valid YAML, and so only what does not need its names can be offered.
        #expect(editor.messages.last?["id"] == 77)
        editor.change("/home.yaml", version: 2, ["text": .string(text + "itchen}\n")])
        editor.wait(.seconds(1))
        editor.give(.received(Editor.frame(request)))
        #expect(editor.messages.last?["result"]?["items"]?.arrayValue?.map { $0["label"] } == ["kitchen"])
    }

    @Test("nothing in a comment")
    func nothing() { #expect(Self.labels("# a comment |") == []) }
}
