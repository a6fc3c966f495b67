import JSON
import LanguageServer
import RuleLoader
import Testing
import YAMLFiles

/// While a line is half written, the file is not valid YAML. Each test asks after the check of such a text, and a `|` is the
/// cursor.
@Suite("Names while a line is half written")
struct HalfWrittenTests {
    private static let declarations = """
        version: 1
        buttons:
          kitchen: BF12-C34567
          sofa: {serial: DA01-D00042, model: duo}
        states: {lux: {topic: home/lux, type: integer}}
        variables: {scene: {initial: day, values: [day, night]}}
        scripts:
          blink: {inputs: {lamp: {type: string}}, actions: {log: blink}}
        rules:
          - id: first
            triggers: {button: kitchen, event: click}
            actions: {log: a}

        """

    private static func labels(
        _ editor: inout Editor, _ path: String, _ before: String, _ text: String
    ) -> [String] {
        let start = String(text.prefix { $0 != "|" })
        editor.change(path, version: 2, ["text": .string(before + start + text.drop { $0 != "|" }.dropFirst())])
        editor.wait(.seconds(1))
        let lines = (before + start).split(separator: "\n", omittingEmptySubsequences: false)
        let answer = editor.ask("completion", path, lines.count - 1, lines.last?.utf16.count ?? 0)
        return (answer["result"]?["items"]?.arrayValue ?? []).compactMap { $0["label"]?.stringValue }
    }

    @Test(
        "the names of the last valid text are offered after the check of a text that is not",
        arguments: [
            ("  - id: b\n    triggers: {button: |", ["any", "kitchen", "sofa"]),
            ("  - id: b\n    actions:\n      - log: \"{{ variables.|", ["scene"]),
            ("  - id: b\n    actions:\n      - log: \"{{ states.|", ["lux"]),
            ("  - id: b\n    actions:\n      - script: blink\n        with: {|", ["lamp"]),
            ("tests:\n  - name: a\n    steps:\n      - expect_rules: {|", ["first"]),
            ("  - id: b\n    actions: {publish: {topic: ho|", ["home/lux"]),
            // An unclosed bracket in another place.
            ("  - id: b\n    triggers: {button: |}\n    actions: [\n", ["any", "kitchen", "sofa"]),
        ])
    func names(text: String, expected: [String]) {
        var editor = Editor.ready()
        editor.open("/home.yaml", Self.declarations)
        #expect(!editor.problems("/home.yaml").contains { $0.hasPrefix("E") })
        #expect(Set(Self.labels(&editor, "/home.yaml", Self.declarations, text)) == Set(expected))
        #expect(editor.problems("/home.yaml").contains { $0.hasPrefix("E101") })
    }

    @Test("the events stay those of the model of the button")
    func events() {
        var editor = Editor.ready()
        editor.open("/home.yaml", Self.declarations)
        let labels = Self.labels(
            &editor, "/home.yaml", Self.declarations, "  - id: b\n    triggers: {button: kitchen, event: |")
        #expect(labels.contains("hold"))
        #expect(!labels.contains("swipe_left"))
    }

    @Test("names that are removed are no longer offered when the text is valid again")
    func removed() {
        var editor = Editor.ready()
        editor.open("/home.yaml", Self.declarations)
        editor.change("/home.yaml", version: 2, ["text": .string(Self.declarations + "x: [")])
        editor.wait(.seconds(1))
        let text = "version: 1\nbuttons: {hall: BF12-C34567}\nrules:\n"
        editor.change("/home.yaml", version: 3, ["text": .string(text)])
        editor.wait(.seconds(1))
        editor.change("/home.yaml", version: 4, ["text": .string(text + "  - triggers: {button: ")])
        editor.wait(.seconds(1))
        let items = editor.ask("completion", "/home.yaml", 3, 24)["result"]?["items"]?.arrayValue ?? []
        #expect(items.map { $0["label"] } == ["any", "hall"])
    }

    @Test("a file that is not valid when it is opened has the names of the saved text")
    func saved() {
        var editor = Editor.ready(["/home.yaml": Self.declarations])
        let text = Self.declarations + "  - triggers: {button: "
        editor.open("/home.yaml", text)
        let items = editor.ask("completion", "/home.yaml", 12, 24)["result"]?["items"]?.arrayValue ?? []
        #expect(items.map { $0["label"] } == ["any", "kitchen", "sofa"])
        #expect(editor.problems("/home.yaml").allSatisfy { $0.hasPrefix("E101") })
    }

    // MARK: Included files

    private static let disk = [
        "/r/home.yaml": "version: 1\ninclude: room.yaml\nbuttons: {kitchen: BF12-C34567}\nvariables: {mood: a}\n",
        "/r/room.yaml": """
        rules:
          - id: lamp
            triggers: {button: kitchen, event: click}
            actions: [{log: "{{ variables.mood }}"}]

        """,
    ]

    private static let configuration = "rules: r/home.yaml\n"

    /// The two files in an editor, the entry file with an open bracket, and the other one changed since.
    private static func broken(isNamed: Bool) -> Editor {
        var disk = disk
        if isNamed { disk["/tryck.yaml"] = configuration }
        var editor = Editor.ready(disk)
        editor.open("/r/home.yaml")
        editor.open("/r/room.yaml")
        editor.change("/r/home.yaml", version: 2, ["text": .string((disk["/r/home.yaml"] ?? "") + "groups: {")])
        editor.wait(.seconds(1))
        editor.change("/r/room.yaml", version: 2, ["text": .string((disk["/r/room.yaml"] ?? "") + "# x\n")])
        editor.wait(.seconds(1))
        return editor
    }

    @Test("a file stays in its set while the entry file is not valid YAML", arguments: [true, false])
    func staysInSet(isNamed: Bool) {
        var editor = Self.broken(isNamed: isNamed)
        // The checker says the same about the set: only that the entry file is not valid.
        #expect(editor.problems("/r/room.yaml") == [])
        #expect(editor.problems("/r/home.yaml").allSatisfy { $0.hasPrefix("E101") })
        let items = editor.ask("completion", "/r/room.yaml", 2, 23)["result"]?["items"]?.arrayValue ?? []
        #expect(items.map { $0["label"] } == ["any", "kitchen"])
        editor.change("/r/home.yaml", version: 3, ["text": .string(Self.disk["/r/home.yaml"] ?? "")])
        editor.wait(.seconds(1))
        #expect(editor.problems("/r/home.yaml") + editor.problems("/r/room.yaml") == [])
        let answer = editor.ask("rename", "/r/room.yaml", 3, 35, [.init("newName", "laune")])
        #expect(answer["result"]?["changes"]?.objectValue?.count == 2)
    }

    @Test("a rename is refused while the entry file is not valid YAML", arguments: [true, false])
    func renameIsRefused(isNamed: Bool) {
        var editor = Self.broken(isNamed: isNamed)
        let answer = editor.ask("rename", "/r/room.yaml", 3, 35, [.init("newName", "laune")])
        #expect(
            answer["error"]?["message"] == "/r/home.yaml is not valid YAML, so its names are not known.", "\(answer)")
    }

    @Test("a half-written file keeps its names, also if another file of its set was never valid YAML")
    func neverComplete() {
        let text = """
            version: 1
            include: room.yaml
            rules:
              - id: a
                triggers: {at: "21:00"}
                actions: {publish: {topic: home/bell}}

            """
        var editor = Editor.ready(["/r/home.yaml": text, "/r/room.yaml": "rules: [\n"])
        editor.open("/r/home.yaml")
        let labels = Self.labels(&editor, "/r/home.yaml", text, "  - id: b\n    actions: {publish: {topic: |")
        #expect(labels == ["home/bell"])
        #expect(editor.problems("/r/room.yaml").allSatisfy { $0.hasPrefix("E101") })
    }

    @Test("a file below an entry file that was never valid YAML is not taken for a set of its own")
    func neverValid() {
        var editor = Editor.ready([
            "/tryck.yaml": Self.configuration, "/r/home.yaml": "version: 1\nbuttons: {",
            "/r/room.yaml": Self.disk["/r/room.yaml"] ?? "",
        ])
        editor.open("/r/room.yaml")
        #expect(editor.problems("/r/room.yaml") == [])
        let answer = editor.ask("rename", "/r/room.yaml", 3, 35, [.init("newName", "laune")])
        #expect(answer["error"]?["message"] == "/r/home.yaml is not valid YAML, so its names are not known.")
    }

    // MARK: Files that are opened while another one is half written

    private static let deep = [
        "/r/home.yaml": "version: 1\ninclude: parts/a.yaml\nbuttons: {kitchen: BF12-C34567}\n",
        "/r/parts/a.yaml": "include: deep/b.yaml\nvariables: {mood: a}\n",
        "/r/parts/deep/b.yaml": disk["/r/room.yaml"] ?? "",
    ]

    @Test(
        "a file that is opened belongs to the set that includes it, while a file of that set is half written",
        arguments: [
            ("/r/home.yaml", "/r/parts/deep/b.yaml"), ("/r/home.yaml", "/r/parts/a.yaml"),
            ("/r/parts/a.yaml", "/r/parts/deep/b.yaml"),
        ], [true, false])
    func openedLater(files: (broken: String, opened: String), wasValid: Bool) {
        let (broken, opened) = files
        let half = (Self.deep[broken] ?? "") + "groups: {"
        var editor = Editor.ready(Self.deep)
        if broken != "/r/home.yaml" { editor.open("/r/home.yaml") }
        if wasValid {
            editor.open(broken)
            editor.change(broken, version: 2, ["text": .string(half)])
            editor.wait(.seconds(1))
        } else {
            editor.open(broken, half)
        }
        editor.open(opened)
        #expect(editor.problems(opened) == [])
        #expect(editor.problems(broken).allSatisfy { $0.hasPrefix("E101") } && !editor.problems(broken).isEmpty)
        editor.change(opened, version: 2, ["text": .string((Self.deep[opened] ?? "") + "# x\n")])
        editor.wait(.seconds(1))
        #expect(editor.problems(opened) == [])
        // Afterwards they are checked together.
        editor.change(broken, version: 3, ["text": .string(Self.deep[broken] ?? "")])
        editor.change(opened, version: 3, ["text": "rulez: []\n"])
        editor.wait(.seconds(1))
        #expect(editor.problems(broken) == [])
        #expect(editor.problems(opened) == ["E201:1"])
    }

    @Test("a file that was opened before a half-written entry file belongs to its set once the saved text is read")
    func openedEarlier() {
        var editor = Editor.ready(Self.deep)
        editor.open("/r/parts/deep/b.yaml")
        #expect(editor.problems("/r/parts/deep/b.yaml") != [])
        editor.open("/r/home.yaml", (Self.deep["/r/home.yaml"] ?? "") + "groups: {")
        #expect(editor.problems("/r/parts/deep/b.yaml") == [])
    }

    // MARK: Renaming

    @Test(
        "a rename is refused while an expression cannot be read, because it may contain the name",
        arguments: ["\"{{ variables.mood & 'a' }}\"", "\"{{ variables.mood\"", "\"{{ variables.mood = 'a' }}\""])
    func unreadableExpression(text: String) {
        var editor = Editor.ready(Self.disk)
        editor.open("/r/home.yaml")
        editor.open("/r/room.yaml")
        editor.change(
            "/r/room.yaml", version: 2,
            ["text": .string((Self.disk["/r/room.yaml"] ?? "") + "  - {id: b, actions: {log: \(text)}}\n")])
        let answer = editor.ask("rename", "/r/home.yaml", 3, 13, [.init("newName", "laune")])
        #expect(
            answer["error"]?["message"]
                == "/r/room.yaml:5 has an expression that cannot be read, so its names are not known.", "\(answer)")
    }

    @Test("files that are not open are read again before a rename")
    func changedByOthers() {
        var editor = Editor.ready(Self.disk)
        editor.open("/r/home.yaml")
        editor.disk["/r/room.yaml"]?.text = Array(("# a comment\n\n" + (Self.disk["/r/room.yaml"] ?? "")).utf8)
        let answer = editor.ask("rename", "/r/home.yaml", 3, 13, [.init("newName", "laune")])
        let edits = answer["result"]?["changes"]?["file:///r/room.yaml"]?.arrayValue
        #expect(edits?.map { $0["range"]?["start"]?["line"] } == [5])
    }
}
