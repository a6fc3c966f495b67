import Diagnostics
import JSON
import LanguageServer
import RuleLoader
import Rules
import Testing
import YAMLFiles

@Suite("Sorting the keys of a rule")
struct KeyOrderTests {
    private static let start = "version: 1\nbuttons: {kitchen: BF12-C34567}\nrules:\n"

    /// The text after the change for the rule in the fourth line; `nil` if none is offered.
    private static func sorted(_ rules: String, in start: String = start) -> String? {
        let text = start + rules
        var editor = Editor.ready()
        editor.open("/home.yaml", text)
        let place: JSONValue = ["line": 3, "character": 6]
        let answer = editor.request(
            "textDocument/codeAction",
            [
                "textDocument": ["uri": "file:///home.yaml"], "range": ["start": place, "end": place],
                "context": ["only": ["refactor"]],
            ])
        let action = answer["result"]?.arrayValue?.first { $0["title"]?.stringValue?.hasPrefix("Sort") ?? false }
        guard let edit = action?["edit"]?["changes"]?["file:///home.yaml"]?.arrayValue?.first else { return nil }
        let offset = { (place: JSONValue?) -> Int in
            let line = Int(place?["line"]?.integerValue ?? 0)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            return lines.prefix(line).reduce(0) { $0 + $1.utf8.count + 1 }
                + Int(place?["character"]?.integerValue ?? 0)
        }
        var octets = Array(text.utf8)
        octets.replaceSubrange(
            offset(edit["range"]?["start"])..<min(octets.count, offset(edit["range"]?["end"])),
            with: (edit["newText"]?.stringValue ?? "").utf8)
        let after = String(decoding: octets, as: UTF8.self)
        #expect(rulesWithoutPlaces(text) == rulesWithoutPlaces(after), "the rules are the same")
        #expect(after.utf8.count - text.utf8.count <= 1, "nothing is added but the end of the last line")
        return String(after.dropFirst(start.count))
    }

    /// The rule set as text, without the places of its parts in the file and without fingerprints, which tell texts apart.
    private static func rulesWithoutPlaces(_ text: String) -> String {
        let loaded = FileLoader.rules(SourceFile(name: "/home.yaml", text: Array(text.utf8)), in: LoadInputs())
        guard var set = loaded.value else { return "errors" }
        set.fingerprint = ""
        for index in set.rules.indices { set.rules[index].fingerprint = "" }
        return "\(set)".replacing(/home\.yaml:\d+:\d+/, with: "")
    }

    @Test("comments move with the key below them, and values of several lines stay whole")
    func comments() {
        let rules = """
              # The lamp in the kitchen.
              - actions:
                  - log: a
                  # More steps come later.
                # Once a second is enough.

                cooldown: 1s # short
                triggers:
                  button: kitchen
                  event: click
                id: lamp

              # The next rule.
              - id: other
                triggers: {button: kitchen, event: hold}
                actions: {log: b}

            """
        #expect(
            Self.sorted(String(rules.dropFirst("  # The lamp in the kitchen.\n".count)), in: Self.start) == """
                  - id: lamp
                    triggers:
                      button: kitchen
                      event: click
                    actions:
                      - log: a
                      # More steps come later.
                    # Once a second is enough.

                    cooldown: 1s # short

                  # The next rule.
                  - id: other
                    triggers: {button: kitchen, event: hold}
                    actions: {log: b}

                """)
    }

    @Test("the comments of the key that becomes the first stand above the rule")
    func firstKey() {
        #expect(
            Self.sorted(
                "  - actions: {log: a}\n    triggers: {button: kitchen, event: click}\n    # Its name.\n    id: lamp")
                    == """
                      # Its name.
                      - id: lamp
                        triggers: {button: kitchen, event: click}
                        actions: {log: a}

                    """)
    }

    @Test("a hash in a text of several lines is not a comment")
    func blockText() {
        let text = [
            "  - triggers: {button: kitchen, event: click}", "    description: |", "      first", "      # second", "",
            "    id: lamp", "    actions:", "    - log: a", "",
        ]
        let sorted = [
            "", "  - id: lamp", "    description: |", "      first", "      # second",
            "    triggers: {button: kitchen, event: click}", "    actions:", "    - log: a", "",
        ]
        #expect(Self.sorted(text.joined(separator: "\n")) == sorted.joined(separator: "\n"))
    }

    @Test(
        "nothing is offered for sorted keys, keys in one line, faulty rules, and an alias whose text would come after it",
        arguments: [
            "  - id: lamp\n    triggers: {button: kitchen, event: click}\n    actions: {log: a}\n",
            "  - {actions: {log: a}, triggers: {button: kitchen, event: click}, id: lamp}\n",
            "  - actions: {log: a}\n    triggers: {button: kitchn, event: click}\n    id: lamp\n",
            "  - description: &a lamp\n    id: *a\n    triggers: {button: kitchen, event: click}\n    actions: {log: a}\n",
        ])
    func none(rules: String) { #expect(Self.sorted(rules) == nil) }
}
