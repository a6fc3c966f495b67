import JSON
import LanguageServer
import RuleLoader
import Testing

@Suite("Quick fixes")
struct CodeActionTests {
    /// The code actions at a place of `/home.yaml`.
    ///
    /// - Parameter kind: the only kind that is wanted; `nil`: all are.
    private static func offered(
        _ editor: inout Editor, line: Int, character: Int = 0, only kind: JSONValue? = nil
    ) -> [JSONValue] {
        let place: JSONValue = ["line": .integer(Int64(line)), "character": .integer(Int64(character))]
        let context: JSONValue = if let kind { ["only": [kind]] } else { ["diagnostics": []] }
        let answer = editor.request(
            "textDocument/codeAction",
            [
                "textDocument": ["uri": "file:///home.yaml"], "range": ["start": place, "end": place],
                "context": context,
            ])
        return answer["result"]?.arrayValue ?? []
    }

    /// The text after the first quick fix of a line, and the title of the fix.
    private static func fix(_ text: String, line: Int) -> (title: String, text: String)? {
        var editor = Editor.ready()
        editor.open("/home.yaml", text)
        guard let action = offered(&editor, line: line).first, let title = action["title"]?.stringValue,
            action["kind"] == "quickfix",
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
        states:
          {lux: {topic: lux, type: integer, default: 0}, dim: {topic: dim, type: integer}, name: {topic: name, default: ""}}
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
            ("    conditions: {time: 22:00}", "    conditions: {time: {after: 22:00}}"),
            ("    conditions: 1 < states.lux < 3", "    conditions: 1 < states.lux and states.lux < 3"),
            ("    conditions: states.dim < 3", "    conditions: (states.dim ?? 0) < 3"),
            ("    conditions: \"states.name = 'x'\"", "    conditions: \"states.name == 'x'\""),
            ("    conditions: 'states.name == ON'", "    conditions: 'states.name == ''ON'''"),
            ("    conditions: \"{{ variables.guest }}\"", "    conditions: \"variables.guest\""),
            ("    conditions: !variables.guest", "    conditions: not variables.guest"),
            ("    alias: !on", "    alias: \"!on\""),
            ("    alias: ? on", "    alias: \"? on\""),
            ("    alias:on", "    alias: on"),
            ("    description: {{ x }}", "    description: \"{{ x }}\""),
            ("    alias: # the lamp", "    alias: \"# the lamp\""),
            ("    description: {{ x }} # c", "    description: \"{{ x }}\" # c"),
            ("    description: {{ x }}, {{ y }} # c", "    description: \"{{ x }}, {{ y }}\" # c"),
            ("    alias: &b # c", "    alias: \"&b\" # c"),
            ("    alias: a: b", "    alias: \"a: b\""),
            ("    alias: a: b # c", "    alias: \"a: b\" # c"),
            ("    alias: say \"a: b\"", "    alias: 'say \"a: b\"'"),
        ])
    func replacements(line: String, expected: String) throws {
        let fix = try #require(Self.fix(Self.rule(line), line: 9))
        #expect(fix.text == expected, "\(fix.title)")
    }

    @Test(
        "the change of a value in brackets or in an expression ends where the value does",
        arguments: [
            (
                "actions: {publish: {topic: a, payload: {{ variables.guest }}, retain: true}}",
                "actions: {publish: {topic: a, payload: \"{{ variables.guest }}\", retain: true}}"
            ),
            (
                "actions: {publish: {topic: a, payload: {{ variables.guest }}}}",
                "actions: {publish: {topic: a, payload: \"{{ variables.guest }}\"}}"
            ),
            ("actions: [{log: {{ variables.guest }}}] # c", "actions: [{log: \"{{ variables.guest }}\"}] # c"),
            ("actions: {log: \"{{ 'a' + 'b' }}\"}", "actions: {log: \"{{ 'a' ~ 'b' }}\"}"),
            ("actions: {log: \"{{ 1 + 2 + 'b' }}\"}", "actions: {log: \"{{ 1 + 2 ~ 'b' }}\"}"),
            ("actions: {log: \"{{ '+' + 'b' }}\"}", "actions: {log: \"{{ '+' ~ 'b' }}\"}"),
        ])
    func ends(line: String, expected: String) throws {
        let text = Self.rule("").replacing("actions: {log: clicked}", with: line)
        let fix = try #require(Self.fix(text, line: 8))
        #expect(fix.text == "    " + expected, "\(fix.title)")
    }

    /// The titles of the quick fixes of a line, with a star before those that are preferred.
    private static func titles(_ text: String, line: Int) -> [String] {
        var editor = Editor.ready()
        editor.open("/home.yaml", text)
        return offered(&editor, line: line, only: "quickfix").map { action in
            (action["isPreferred"] == true ? "*" : "") + (action["title"]?.stringValue ?? "")
        }
    }

    @Test(
        "of several changes each is offered, and none is preferred",
        arguments: [
            ("    cooldown: 5", ["Replace 5 by 5s", "Replace 5 by 5ms"]),
            ("    cooldown: 00:00:10", ["*Replace 00:00:10 by 10s"]),
            ("    max: 3", ["Add mode: queued", "Add mode: parallel"]),
            ("    conditions: guest", ["Replace guest by variables.guest", "Put guest in quotes"]),
        ])
    func several(line: String, titles: [String]) { #expect(Self.titles(Self.rule(line), line: 9) == titles) }

    @Test(
        "changes of actions are those of keys and of their values",
        arguments: [
            ("publish: {topic: a, payload: {on: 1}}", ["*Replace payload by json"]),
            ("run: mpc next", ["Replace mpc next by [mpc, next]", "Replace run by shell"]),
            ("script: mpc next", ["*Replace script by shell"]),
            ("service: light.turn_on", []),
        ])
    func actions(line: String, titles: [String]) {
        let text = Self.rule("").replacing("{log: clicked}", with: "{\(line)}")
        #expect(Self.titles(text, line: 8) == titles)
    }

    @Test("a change that writes over blanks adds what it writes")
    func addition() {
        let text = Self.rule("").replacing("{log: clicked}", with: "\n      - log: a\n        publish: {topic: b}")
        #expect(Self.titles(text, line: 9) == ["*Add - "])
    }

    @Test("a key without a value can be removed, unless it is required")
    func emptyKey() {
        #expect(Self.titles(Self.rule("    description:"), line: 9) == ["*Remove description:"])
        let text = Self.rule("").replacing("actions: {log: clicked}", with: "actions:")
        #expect(Self.titles(text, line: 8) == [])
    }

    @Test(
        "the only entry of a mapping cannot be removed, because the key above it would have no value",
        arguments: [
            ("actions:\n      - set:\n          guest:", 10, []),
            ("actions:\n      - set:\n          guest: true\n          mood:", 11, ["*Remove mood:"]),
        ] as [(String, Int, [String])])
    func onlyEntry(actions: String, line: Int, expected: [String]) {
        let text = Self.rule("").replacing("actions: {log: clicked}", with: actions)
            .replacing("variables: {guest: false}", with: "variables: {guest: false, mood: 3}")
        #expect(Self.titles(text, line: line) == expected)
    }

    /// The text after the first quick fix of a line.
    private static func fixed(_ text: String, line: Int) -> String? {
        var editor = Editor.ready()
        editor.open("/home.yaml", text)
        guard let action = offered(&editor, line: line, only: "quickfix").first,
            let edit = action["edit"]?["changes"]?["file:///home.yaml"]?.arrayValue?.first
        else { return nil }
        func octets(before position: JSONValue?) -> Int {
            let line = Int(position?["line"]?.integerValue ?? 0)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            return lines.prefix(line).reduce(0) { $0 + $1.utf8.count + 1 }
                + Int(position?["character"]?.integerValue ?? 0)
        }
        var fixed = Array(text.utf8)
        let range = octets(before: edit["range"]?["start"])..<octets(before: edit["range"]?["end"])
        fixed.replaceSubrange(range, with: (edit["newText"]?.stringValue ?? "").utf8)
        return String(decoding: fixed, as: UTF8.self)
    }

    private static let ruleHead = """
        version: 1
        buttons: {kitchen: BF12-C34567}
        states: {door: {topic: home/door, type: boolean}, lux: {topic: home/lux, type: integer, default: 0}}
        variables: {guest: false}
        rules:
          - id: lamp
            triggers: {button: kitchen, event: click}

        """

    @Test(
        "entries that stand in the wrong place are moved, and several actions of one step become several steps",
        arguments: [
            (
                8, "    actions:\n      - wait_for: {button: kitchen, event: click, timeout: 5s}\n",
                "    actions:\n      - wait_for: {button: kitchen, event: click}\n        timeout: 5s\n"
            ),
            (
                7, "    actions: [{wait_for: {button: kitchen, event: click, timeout: 5s}}]\n",
                "    actions: [{wait_for: {button: kitchen, event: click}, timeout: 5s}]\n"
            ),
            (
                8, "    actions:\n      - wait: {until: variables.guest, timeout: 5s, else: {log: a}}\n",
                "    actions:\n      - wait: {until: variables.guest, timeout: 5s}\n        else: {log: a}\n"
            ),
            (
                8, "    actions:\n      - run: {timeout: 5s, argv: [mpc]}\n",
                "    actions:\n      - run: {argv: [mpc]}\n        timeout: 5s\n"
            ),
            (
                9, "    actions:\n      - wait: {until: variables.guest}\n        timeout: 5s\n",
                "    actions:\n      - wait: {until: variables.guest, timeout: 5s}\n"
            ),
            (
                9, "    actions:\n      - repeat: {count: 2, every: 1s, actions: {log: a}}\n        timeout: 5s\n",
                "    actions:\n      - repeat: {count: 2, every: 1s, actions: {log: a}, limit: 5s}\n"
            ),
            (
                9, "    actions:\n      - publish: {topic: b}\n        retain: true\n",
                "    actions:\n      - publish: {topic: b, retain: true}\n"
            ),
            (
                8, "    actions:\n      - log: a\n        publish: {topic: b}\n",
                "    actions:\n      - log: a\n      - publish: {topic: b}\n"
            ),
            (
                8, "    actions:\n      publish:\n        topic: a\n\n      delay: 1s\n",
                "    actions:\n      - publish:\n          topic: a\n\n      - delay: 1s\n"
            ),
            (
                7, "    actions: [{log: a, publish: {topic: b}}]\n",
                "    actions: [{log: a}, {publish: {topic: b}}]\n"
            ),
            (
                8, "    actions: {log: a}\n    description:\n    mode: single\n",
                "    actions: {log: a}\n    mode: single\n"
            ),
            (
                8, "    actions: {log: a}\n    conditions: [{after: 22:00}]\n",
                "    actions: {log: a}\n    conditions: [{time: {after: 22:00}}]\n"
            ),
            (
                9, "    actions: {log: a}\n    conditions:\n      - not: variables.guest or true\n",
                "    actions: {log: a}\n    conditions:\n      - not (variables.guest or true)\n"
            ),
            (
                9, "    actions:\n      - wait_for:\n          state: door == true\n        timeout: 5s\n",
                "    actions:\n      - wait_for:\n          state: door\n          to: true\n        timeout: 5s\n"
            ),
            (
                8, "    actions:\n      - wait_for: {state: lux, above: 25}\n        timeout: 5s\n",
                "    actions:\n      - wait_for: {state: lux, to: new > 25}\n        timeout: 5s\n"
            ),
            (
                8, "    actions:\n      - publish: {topic: a, max_age: 10 s}\n",
                "    actions:\n      - publish: {topic: a, max_age: 10s}\n"
            ),
        ] as [(Int, String, String)])
    func moves(line: Int, written: String, expected: String) {
        #expect(Self.fixed(Self.ruleHead + written, line: line) == Self.ruleHead + expected)
    }

    @Test("a serial number is written in capital letters")
    func serial() {
        let text = "version: 1\nbuttons: {kitchen: bf12-c34567}\nrules: []\n"
        #expect(Self.fixed(text, line: 1) == text.replacing("bf12-c34567", with: "BF12-C34567"))
    }

    @Test("mode: restart is inserted into a rule in lines and into one in braces")
    func mode() {
        let rule = Self.rule("").replacing("{log: clicked}", with: "{delay: 5m}")
        #expect(Self.fix(rule, line: 8)?.title == "Add mode: restart")
        let braces = rule.replacing("  - id: lamp\n    triggers:", with: "  - {id: lamp, triggers:")
            .replacing("click}\n    actions: {delay: 5m}", with: "click}, actions: {delay: 5m}}")
        #expect(
            Self.fix(braces, line: 6)?.text
                == "  - {mode: restart, id: lamp, triggers: {button: kitchen, event: click}, actions: {delay: 5m}}")
    }

    @Test("the version is added before the first key, below comments")
    func version() throws {
        let text = "# the house\nbuttons: {kitchen: BF12-C34567}\n"
        let fix = try #require(Self.fix(text, line: 1))
        #expect(fix.title == "Add version: 1")
        #expect(fix.text == "version: 1\nbuttons: {kitchen: BF12-C34567}")
    }

    @Test(
        "hints that describe more than a replacement are not offered",
        arguments: [
            "    unknown_key: 5", "    queued: 10", "    service: light.turn_on", "    mode: single",
        ])
    func others(line: String) {
        #expect(Self.fix(Self.rule(line), line: 9) == nil)
    }

    @Test("one request tries at most twenty changes")
    func manyMistakes() {
        var editor = Editor.ready()
        let rules = (0..<30).map { "  - {id: r\($0), mod: single, triggers: {at: \"21:00\"}, actions: {log: a}}\n" }
        editor.open("/home.yaml", "version: 1\nrules:\n" + rules.joined())
        let all: JSONValue = ["start": ["line": 0, "character": 0], "end": ["line": 40, "character": 0]]
        let answer = editor.request(
            "textDocument/codeAction",
            [
                "textDocument": ["uri": "file:///home.yaml"], "range": all, "context": ["only": ["quickfix"]],
            ])
        #expect(answer["result"]?.arrayValue?.count == 20)
    }

    @Test(
        "no change writes the value of a secret",
        arguments: [
            ("variables: {code: 0}", "{set: {code: !secret pin}}"),
            ("variables: {code: ''}", "{set: {code: !secret flag}}"),
            (
                "scripts: {open: {inputs: {code: {type: integer}}, actions: {log: a}}}",
                "{script: open, with: {code: !secret pin}}"
            ),
        ])
    func secretValue(names: String, action: String) {
        var editor = Editor.ready(["/secrets.yaml": "pin: '4711'\nflag: true\n"])
        editor.open(
            "/home.yaml",
            """
            version: 1
            buttons: {kitchen: BF12-C34567}
            \(names)
            rules:
              - id: lamp
                triggers: {button: kitchen, event: click}
                actions: \(action)
            """)
        let actions = Self.offered(&editor, line: 6, only: "quickfix").description
        #expect(!actions.contains("4711") && !actions.contains("true\\\""), "\(actions)")
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
        #expect(Self.offered(&editor, line: 9, character: 5, only: "source") == [])
        #expect(Self.offered(&editor, line: 9, character: 5, only: "quickfix").count == 1)
    }

    // MARK: Changes of a rule

    /// The titles of the changes that are offered for a rule, and the text after each.
    private static func changes(_ text: String, line: Int) -> [String: String] {
        var editor = Editor.ready()
        editor.open("/home.yaml", text)
        var changes: [String: String] = [:]
        for action in offered(&editor, line: line, character: 8, only: "refactor") {
            var other = editor
            let edit = action["edit"]?["changes"]?["file:///home.yaml"]?.arrayValue?.first
            let start = edit?["range"]?["start"]?["line"]?.integerValue ?? 0
            other.change(
                "/home.yaml", version: 2, ["range": edit?["range"] ?? .null, "text": edit?["newText"] ?? .null])
            other.wait(.seconds(1))
            #expect(!other.problems("/home.yaml").contains { $0.hasPrefix("E") })
            changes[action["title"]?.stringValue ?? ""] = "\(start): \(edit?["newText"]?.stringValue ?? "")"
        }
        return changes
    }

    @Test("late presses are ignored with one more key, and a test that passes is written")
    func rule() {
        let text = rule(conditions: "true", actions: "{log: clicked}")
        #expect(
            Self.changes(text, line: 5) == [
                "Ignore late presses here": "5:     queued: drop\n",
                "Write a test for this rule": """
                8: tests:
                  - name: lamp
                    steps:
                      - event: {button: kitchen, event: click}
                      - expect_rules: {lamp: completed}

                """,
            ])
        let tested = text + "tests:\n- name: lamp\n  steps:\n  - expect: []\n"
        #expect(
            Self.changes(tested, line: 5)["Write a test for this rule"] == """
                12: - name: lamp 2
                  steps:
                    - event: {button: kitchen, event: click}
                    - expect_rules: {lamp: completed}

                """)
    }

    @Test(
        "the test expects what the rule does",
        arguments: [
            ("true", "{delay: 5m}", "started"), ("states.lux > 5", "{log: a}", "dropped_conditions"),
            ("true", "{log: \"{{ 1 / states.lux }}\"}", "failed"),
        ])
    func outcome(conditions: String, actions: String, outcome: String) {
        let changes = Self.changes(rule(conditions: conditions, actions: actions), line: 5)
        #expect(changes["Write a test for this rule"]?.contains("{lamp: \(outcome)}") ?? false, "\(changes)")
    }

    @Test("nothing is offered for a rule in braces, in a file with errors, and outside of rules")
    func noChanges() {
        #expect(Self.changes("version: 1\nrules: [{id: a, actions: {log: a}}]\n", line: 1) == [:])
        #expect(Self.changes(rule(conditions: "tru", actions: "{log: a}"), line: 5) == [:])
        #expect(Self.changes(rule(conditions: "true", actions: "{log: a}"), line: 1) == [:])
    }

    private func rule(conditions: String, actions: String) -> String {
        """
        version: 1
        buttons: {kitchen: BF12-C34567}
        states: {lux: {topic: lux, type: integer, default: 0}}
        rules:
          - id: lamp
            triggers: {button: kitchen, event: click}
            conditions: \(conditions)
            actions: \(actions)

        """
    }
}
