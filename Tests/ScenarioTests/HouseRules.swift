import Diagnostics
import Hub
import RuleLoader
import Rules
import Testing
import YAMLFiles

/// The text of a rules file, and the rule set that the loader makes of it.
struct HouseRules: Sendable, ExpressibleByStringLiteral {
    static let none: HouseRules = "version: 1\n"

    let text: String
    var set: RuleSet

    /// A text with errors fails the test, and gives no rules.
    init(_ text: String, in environment: LoadInputs = LoadInputs()) {
        self.text = text
        let file = SourceFile(name: "test.yaml", text: Array(text.utf8))
        let loaded = FileLoader.rules(file, in: environment)
        set = loaded.value ?? RuleSet()
        if loaded.value == nil {
            Issue.record("\(DiagnosticReport(loaded.diagnostics, sources: [file.name: file.text]).text())")
        }
    }

    init(stringLiteral text: String) { self.init(text) }

    /// These rules, with late presses of any age accepted.
    var acceptingLate: HouseRules {
        HouseRules(text.replacing("\nbuttons:", with: "\ndefaults: {queued: accept}\nbuttons:"))
    }

    var recorded: RecordedRules { RecordedRules(files: [.init(name: "test.yaml", text: Array(text.utf8))]) }
}
