import ConfigurationLoader
import Expressions
import Foundation
import JSON
import Rules
import YAMLFiles

@testable import RuleLoader

/// The parts of `rules/README.md` that are made from our tables, between `<!-- what -->` and `<!-- end -->`.
struct ReferenceText {
    enum Unknown: Error, Hashable {
        case part(String)
        case open(String)
    }

    /// The page with its generated parts replaced.
    static func filled(_ page: String) throws -> String {
        var lines: [Substring] = []
        var part: Substring?
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if let open = part {
                guard line == "<!-- end -->" else {
                    if line.hasPrefix("<!--") { throw Unknown.open(String(open)) }
                    continue
                }
                lines += [""] + (try table(String(open)).map { $0[...] }) + [""]
                part = nil
            } else if line.hasPrefix("<!-- "), line.hasSuffix(" -->") {
                part = line.dropFirst(5).dropLast(4)
            }
            lines.append(line)
        }
        if let part { throw Unknown.open(String(part)) }
        return lines.joined(separator: "\n")
    }

    private static func table(_ part: String) throws -> [String] {
        switch part {
        case "names": return names
        case "functions": return functions
        case "codes": return try codes()
        case "configuration": return rows(["key", "value", ""], settings(of: .configuration, in: ""))
        case "elsewhere": return elsewhere
        case "reserved": return [reserved.map { "`\($0)`" }.joined(separator: " ")]
        default: break
        }
        let words = part.dropFirst("keys: ".count).split(separator: ", ").map(String.init)
        guard part.hasPrefix("keys: "), let mapping = SchemaMapping.allCases.first(where: { $0.name == words.first })
        else {
            throw Unknown.part(part)
        }
        let common = mapping.commonKeys
        switch words.dropFirst().first {
        case nil: return keys(of: mapping) { _ in true }
        case "actions": return keys(of: mapping) { !common.contains($0) }
        case "common": return keys(of: mapping) { common.contains($0) }
        default: throw Unknown.part(part)
        }
    }

    private static func rows(_ head: [String], _ rows: [[String]]) -> [String] {
        ([head, head.map { _ in "---" }] + rows).map { row in
            "|" + row.map { $0.isEmpty ? " |" : " \($0.replacing("|", with: "\\|")) |" }.joined()
        }
    }

    // MARK: Keys

    private static func keys(of mapping: SchemaMapping, _ isWanted: (String) -> Bool) -> [String] {
        let details = mapping.details
        return rows(
            ["key", "value", "when absent", ""],
            mapping.table.keys.filter { isWanted($0.name) }.map { key in
                let detail = details[key.name] ?? KeyDetail()
                let shape = detail.shape ?? SchemaShape(key.type) ?? .json
                let absent =
                    switch detail.defaultValue {
                    case nil: key.isRequired ? "required" : ""
                    case .value(let value): "`\(text(value))`"
                    case .described(let words): words
                    }
                return ["`\(key.name)`", shape.description, absent, key.summary]
            })
    }

    /// The keys of `tryck.yaml`, those of a section after its name.
    private static func settings(of table: MappingTable, in section: String) -> [[String]] {
        table.keys.flatMap { key in
            if case .anything = key.type, let inner = MappingTable.configurationSections[key.name] {
                // The entries of these lists are texts or mappings.
                let isList = ["radios", "sources"].contains(key.name)
                let own = ["`\(section)\(key.name)`", "one or many: text, or the keys below", key.summary]
                return (isList ? [own] : []) + settings(of: inner, in: "\(section)\(key.name): ")
            }
            let shape =
                SchemaShape(key.type)?.description
                ?? (key.name == "history" ? "duration, 1h to 90d, or `none`" : "one or many: text")
            return [["`\(section)\(key.name)`", shape, key.summary]]
        }
    }

    /// The value as YAML, on one line.
    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): text
        case .object(let members):
            "{" + members.map { "\($0.name): \(text($0.value))" }.joined(separator: ", ") + "}"
        case .array(let values): "[" + values.map(text).joined(separator: ", ") + "]"
        case .null, .bool, .integer, .number: value.description
        }
    }

    // MARK: Expressions

    private static var names: [String] {
        rows(
            ["name", "type", ""],
            Root.allCases.flatMap { root -> [[String]] in
                switch root.shape {
                case .fields(let fields): fields.map { row("\(root.rawValue).\($0.name)", $0) }
                case .declared: [["`\(root.rawValue).NAME`", "as declared", root.summary]]
                case .declaredWithFields(let fields): fields.map { row("\(root.rawValue).NAME.\($0.name)", $0) }
                }
            })
    }

    private static func row(_ name: String, _ field: FieldDescription) -> [String] {
        ["`\(name)`", field.type.description, field.summary]
    }

    private static var functions: [String] {
        rows(
            ["function", "gives", ""],
            Function.allCases.map { ["`\($0.usage)`", $0.description.outcome.words, $0.description.summary] })
    }

    // MARK: Messages

    /// An example for each code, out of the texts people see.
    private static func codes() throws -> [String] {
        var messages: [String: String] = [:]
        let names = try FileManager.default.subpathsOfDirectory(atPath: Project.golden.path)
        for name in names.sorted()
        where name.hasSuffix(".txt") && ["rules/", "sets/", "configuration/W"].contains(where: name.hasPrefix) {
            let text = try String(contentsOf: Project.golden.appending(path: name), encoding: .utf8)
            for match in text.matches(of: /(?m)^\S+: (?:error|warning)\[([EW][0-9]{3})\]: (.+)$/) {
                let code = String(match.1)
                guard messages[code] == nil, name.contains(code) else { continue }
                messages[code] = String(match.2)
            }
        }
        return rows(["code", "example"], messages.keys.sorted().map { [$0, messages[$0] ?? ""] })
    }

    // MARK: Words

    private static var elsewhere: [String] {
        let tables: [MappingTable] = [.rulesFile, .button, .state, .variable, .script, .rule, .trigger]
        let inner: [MappingTable] = [
            .condition, .time, .step, .publish, .http, .wait, .cycle, .repeat, .branch, .retry,
        ]
        let keys = (tables + inner).flatMap { table in
            grouped(table.foreignHints).map { [table.name.filter { $0 != "\"" }] + $0 }
        }
        return rows(["in", "instead of", ""], keys + grouped(TriggerEvent.foreignHints).map { ["an event"] + $0 })
    }

    /// Words with the same hint in one row.
    private static func grouped(_ words: [String: String]) -> [[String]] {
        Dictionary(grouping: words.keys.sorted(), by: { words[$0] ?? "" })
            .sorted { ($0.value.first ?? "") < ($1.value.first ?? "") }
            .map { hint, words in [words.map { "`\($0)`" }.joined(separator: ", "), hint] }
    }

    private static let reserved =
        ["true", "false", "null", "yes", "no", "on", "off"] + NameRules.reserved.sorted()
}

extension SchemaMapping {
    /// Keys that several of its kinds have, but for the companions of steps, which belong to their actions.
    fileprivate var commonKeys: Set<String> {
        var counts: [String: Int] = [:]
        for key in variants.flatMap(\.optional) { counts[key, default: 0] += 1 }
        let companions = self == .step ? StepKind.companions.map(\.key) : []
        return Set(counts.filter { $0.value > 1 }.keys).subtracting(companions)
    }
}

extension FunctionDescription.Outcome {
    fileprivate var words: String {
        switch self {
        case .always(let type): type.description
        case .likeArguments: "as its arguments"
        case .likeArgumentsWithFallback: "as x or d"
        case .entry: "as the entries"
        case .integerUnlessPlaces: "integer; with n, number"
        }
    }
}
