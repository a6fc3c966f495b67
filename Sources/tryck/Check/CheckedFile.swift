import Daemon
import Diagnostics
import RuleLoader
import Rules

/// A file and what the loader said of it.
struct CheckedFile: Sendable {
    /// What a file that was named on the command line is.
    enum Kind: Hashable, Sendable {
        case configuration
        case rules
    }

    var name: String
    var text: [UInt8]
    var diagnostics: [Diagnostic]
    /// `5 rules, 2 buttons`: what a file without errors holds.
    var content: String?

    /// Only rules have a version; everything else that is called like a configuration, or begins like one, is one.
    static func kind(name: String, text: [UInt8]) -> Kind {
        let keys = text.split(separator: UInt8(ascii: "\n")).compactMap(topLevelKey)
        if keys.contains("version") { return .rules }
        let isNamedSo = name.split(separator: "/").last == "tryck.yaml"
        return isNamedSo || keys.contains(where: configurationKeys.contains) ? .configuration : .rules
    }

    init(configuration file: FileText, named name: String, _ loaded: Loaded<Configuration>) {
        self.init(name: name, text: file.octets, diagnostics: loaded.diagnostics)
        content = loaded.value == nil ? nil : "the configuration"
    }

    init(rules file: FileText, named name: String, _ loaded: Loaded<RuleSet>) {
        self.init(name: name, text: file.octets, diagnostics: loaded.diagnostics)
        content = loaded.value.map { rules in
            let ruleCount = Quantity.count(Int64(rules.rules.count), "rule")
            return "\(ruleCount), \(Quantity.count(Int64(rules.buttons.count), "button"))"
        }
    }

    private init(name: String, text: [UInt8], diagnostics: [Diagnostic]) {
        self.name = name
        self.text = text
        self.diagnostics = diagnostics
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
