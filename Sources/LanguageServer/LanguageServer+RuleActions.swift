import ButtonModel
import Diagnostics
import Expressions
import JSON
import RuleLoader
import RuleTesting
import Rules
import YAMLFiles

extension LanguageServer {
    /// The octets of a set up to which these changes are offered. Editors ask for them with each movement of the cursor, and
    /// each change is tried before it is offered.
    static let maximumSetLength = 128 << 10

    /// Changes of the rule at a position: to ignore late presses, and to write a test for it.
    mutating func ruleActions(_ path: String, _ document: OpenDocument, at position: SourcePosition) -> [JSONValue] {
        guard let set = set(of: path), let value = set.value, let file = set.file(path), file.text == document.octets,
            set.files.reduce(0, { $0 + $1.text.count }) <= Self.maximumSetLength,
            let outline = outline(of: path, document), let place = outline.rule(at: position),
            let rule = value.rules.first(where: { $0.id == place.id })
        else { return [] }
        let lines = document.lines
        var actions: [JSONValue] = []
        func add(_ title: String, _ offset: Int, _ text: String) {
            let position = lines.position(ofOffset: offset, client.encoding).json
            let edit: JSONValue = ["range": ["start": position, "end": position], "newText": .string(text)]
            actions.append([
                "title": .string(title), "kind": "refactor", "edit": workspaceEdit([(path, edit)]),
            ])
        }
        if !place.hasQueued, rule.triggers.contains(where: \.isOfButton) {
            let text = String(repeating: " ", count: place.column - 1) + "queued: drop\n"
            let offset = lines.start(of: place.firstKeyLine)
            if loaded(set, file, inserting: text, at: offset) != nil { add("Ignore late presses here", offset, text) }
        }
        if let test = test(of: rule, value, outline, set, file) {
            add("Write a test for this rule", lines.octets.count, test)
        }
        return actions
    }

    /// The set after a change; `nil` if it has errors then.
    private func loaded(_ set: CheckedSet, _ file: SourceFile, inserting text: String, at offset: Int) -> RuleSet? {
        var octets = file.text
        octets.insert(contentsOf: text.utf8, at: offset)
        return set.loaded(replacing: file.name, with: octets).value
    }

    /// A test for the first event of a rule that passes now, as text for the end of a file.
    private func test(
        of rule: Rule, _ value: RuleSet, _ outline: FileOutline, _ set: CheckedSet, _ file: SourceFile
    ) -> String? {
        guard let place = outline.testsPlace,
            let event = rule.triggers.lazy.compactMap({ Self.testStep($0, value) }).first
        else { return nil }
        var start = file.text.last == 0x0A ? "" : "\n"
        let margin: String
        switch place {
        case .missing:
            start += "tests:\n"
            margin = "  "
        case .atEnd(let column): margin = String(repeating: " ", count: column - 1)
        }
        var name = rule.id
        var number = 1
        while value.tests.contains(where: { $0.name == name }) {
            number += 1
            name = "\(rule.id) \(number)"
        }
        for outcome in [Outcome.completed, .started, .droppedConditions, .failed] {
            let lines = [
                "- name: \(name)", "  steps:", "    - \(event)",
                "    - expect_rules: {\(rule.id): \(outcome.rawValue)}",
            ]
            let text = start + lines.map { margin + $0 + "\n" }.joined()
            guard var after = loaded(set, file, inserting: text, at: file.text.count) else { return nil }
            after.tests = after.tests.filter { $0.name == name }
            let report = RuleTestRunner.run(after)
            if report.results.count == 1, report.failures.isEmpty { return text }
        }
        return nil
    }

    /// A step of a test that fires a trigger; `nil` for a trigger without a declared button.
    private static func testStep(_ trigger: Trigger, _ set: RuleSet) -> String? {
        switch trigger.origin {
        case .chord(let members, _, _):
            return "chord: [\(members.map { set.buttons[$0].name }.joined(separator: ", "))]"
        case .buttons(let selectors, let events, _):
            let declared = selectors.lazy.compactMap { selector -> Int? in
                switch selector {
                case .declared(let index): index
                case .any: set.buttons.isEmpty ? nil : 0
                case .hardware: nil
                }
            }
            guard let index = declared.first, let event = events.first else { return nil }
            var text = TriggerEvent.byName[event.notation] == nil ? event.notation : "event: \(event.notation)"
            if case .hold(let after?) = event {
                text += ", held_for: \(DurationText.text(milliseconds: after.milliseconds))"
            }
            return "event: {button: \(set.buttons[index].name), \(text)}"
        case .times, .states: return nil
        }
    }
}
