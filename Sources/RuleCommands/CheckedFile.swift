package import CommandSupport
import CommandText
package import Diagnostics
import Platform
import Rules
import Settings
package import Setup
import YAMLFiles

/// A configuration or a rule set that was checked, with the diagnostics about it.
package struct CheckedFile: Sendable {
    /// The path of the configuration, or of the entry file of a rule set.
    var name: String
    /// The texts of all files, by the names that the diagnostics use.
    var sources: [String: [UInt8]]
    package var diagnostics: [Diagnostic]
    /// The content of a file without errors: `5 rules, 2 buttons`.
    package var content: String?
    /// The rule set, when it has no errors.
    var set: RuleSet?
    /// The part of a rule set that could be read, even if there are errors.
    var readable: RuleSet?

    init(configuration file: FileText, named name: String, _ loaded: LoadResult<Configuration>) {
        self.name = name
        sources = [name: file.octets]
        diagnostics = loaded.diagnostics
        content = loaded.value == nil ? nil : "the configuration"
    }

    package init(_ rules: LoadedRules, named name: String) {
        self.name = name
        sources = rules.sources
        diagnostics = rules.result.diagnostics
        set = rules.result.value
        readable = rules.result.readable
        content = set.map { set in
            let parts = [
                Quantity.count(Int64(set.rules.count), "rule"), Quantity.count(Int64(set.buttons.count), "button"),
                set.tests.isEmpty ? nil : Quantity.count(Int64(set.tests.count), "test"),
            ]
            return parts.compactMap(\.self).joined(separator: ", ")
        }
    }

    /// The diagnostics about the files as text for people; empty when there are none.
    package static func report(_ files: [CheckedFile], style: Style) -> String {
        let sources = files.map(\.sources).reduce(into: [:]) { $0.merge($1) { first, _ in first } }
        return DiagnosticReport(files.flatMap(\.diagnostics), sources: sources).text(colour: style.usesColour)
    }
}
