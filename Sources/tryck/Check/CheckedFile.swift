import Daemon
import Diagnostics
import RuleLoader
import Rules

/// A configuration or a rule set, and what the loader said of it.
struct CheckedFile: Sendable {
    /// What a file that was named on the command line is.
    enum Kind: Hashable, Sendable {
        case configuration
        case rules
    }

    /// Of a rule set, the entry file.
    var name: String
    /// The texts, by the names the diagnostics call them.
    var sources: [String: [UInt8]]
    var diagnostics: [Diagnostic]
    /// `5 rules, 2 buttons`: what a file without errors holds.
    var content: String?
    /// Of rules without errors.
    var set: RuleSet?

    /// Only rules have a version; everything else that is called like a configuration, or begins like one, is one.
    static func kind(name: String, text: [UInt8]) -> Kind {
        let keys = text.split(separator: UInt8(ascii: "\n")).compactMap(topLevelKey)
        if keys.contains("version") { return .rules }
        let isNamedSo = name.split(separator: "/").last == "tryck.yaml"
        return isNamedSo || keys.contains(where: configurationKeys.contains) ? .configuration : .rules
    }

    init(configuration file: FileText, named name: String, _ loaded: Loaded<Configuration>) {
        self.name = name
        sources = [name: file.octets]
        diagnostics = loaded.diagnostics
        content = loaded.value == nil ? nil : "the configuration"
    }

    init(rules reading: RuleSource.Reading, named name: String) {
        self.name = name
        sources = reading.sources
        diagnostics = reading.loaded.diagnostics
        set = reading.loaded.value
        content = set.map { rules in
            let parts = [
                Quantity.count(Int64(rules.rules.count), "rule"), Quantity.count(Int64(rules.buttons.count), "button"),
                rules.tests.isEmpty ? nil : Quantity.count(Int64(rules.tests.count), "test"),
            ]
            return parts.compactMap(\.self).joined(separator: ", ")
        }
    }

    /// What is wrong with the files, as people see it; empty when nothing is.
    static func report(_ files: [CheckedFile], style: Style) -> String {
        let sources = files.map(\.sources).reduce(into: [:]) { $0.merge($1) { first, _ in first } }
        return DiagnosticReport(files.flatMap(\.diagnostics), sources: sources).text(colour: style.usesColour)
    }

    private static let configurationKeys: Set<String> = [
        "bluetooth", "mqtt", "homeassistant", "state_directory", "control_socket", "flicd", "sources", "actions",
        "control", "log", "metrics",
    ]

    private static func topLevelKey(_ line: ArraySlice<UInt8>) -> String? {
        let key = line.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "_") }
        guard !key.isEmpty, line.dropFirst(key.count).first == UInt8(ascii: ":") else { return nil }
        return String(decoding: key, as: UTF8.self)
    }
}
