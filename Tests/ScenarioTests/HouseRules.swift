import Diagnostics
import Hub
import RuleLoader
import Rules
import Testing

/// The rules of a household as a person would write them, and what the loader makes of them.
struct HouseRules: Sendable, ExpressibleByStringLiteral {
    static let none: HouseRules = "version: 1\n"

    let text: String
    var set: RuleSet

    /// Text with errors is a test with errors; it gives no rules, and says so.
    init(_ text: String, in environment: LoadEnvironment = LoadEnvironment()) {
        self.text = text
        let file = SourceFile(name: "test.yaml", text: Array(text.utf8))
        let loaded = RuleLoader.rules(file, in: environment)
        set = loaded.value ?? RuleSet()
        if loaded.value == nil {
            Issue.record("\(DiagnosticReport(loaded.diagnostics, sources: [file.name: file.text]).text())")
        }
    }

    init(stringLiteral text: String) { self.init(text) }

    /// Every button's late presses count, however old.
    var acceptingLate: HouseRules {
        HouseRules(text.replacing("\nbuttons:", with: "\ndefaults: {queued: accept}\nbuttons:"))
    }

    var recorded: RecordedRules { RecordedRules(files: [.init(name: "test.yaml", text: Array(text.utf8))]) }
}
