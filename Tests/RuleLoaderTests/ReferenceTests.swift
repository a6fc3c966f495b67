import Diagnostics
import Expressions
import Foundation
import Rules
import Testing
import YAMLFiles

@testable import ConfigurationLoader
@testable import RuleLoader

@Suite("The reference for people")
struct ReferenceTests {
    private static let url = Project.root.appending(path: "rules/README.md")
    private let text: String

    init() throws { text = try String(contentsOf: ReferenceTests.url, encoding: .utf8) }

    private var blocks: [String] { text.components(separatedBy: "```") }

    private static func load(_ text: String) -> LoadResult<RuleSet> {
        FileLoader.rules(SourceFile(name: "rules/home.yaml", text: Array(text.utf8)), in: SchemaCorpus.environment)
    }

    @Test("its tables are those of the loader; UPDATE_GOLDEN=1 writes them anew")
    func tables() throws {
        let filled = try ReferenceText.filled(text)
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
            try filled.write(to: ReferenceTests.url, atomically: true, encoding: .utf8)
        } else {
            #expect(text == filled)
        }
    }

    @Test("its first example with a mistake is what one sees")
    func mistake() throws {
        let example = try #require(blocks.first { $0.hasPrefix("yaml\n") }).dropFirst(5).description
        let wrong = example.replacing("button: kitchen", with: "button: kitchn")
        let report = DiagnosticReport(
            ReferenceTests.load(wrong).diagnostics, sources: ["rules/home.yaml": Array(wrong.utf8)])
        #expect(blocks.contains("\n" + report.text()))
    }

    @Test("its examples load without a word, and an editor has nothing against them")
    func examples() throws {
        let examples = blocks.filter { $0.hasPrefix("yaml\nversion:") }.map { String($0.dropFirst(5)) }
        #expect(examples.count >= 8)
        let schema = try JSONSchema(RulesSchema.json())
        for example in examples {
            let file = SourceFile(name: "rules/home.yaml", text: Array(example.utf8))
            let report = DiagnosticReport(ReferenceTests.load(example).diagnostics, sources: [file.name: file.text])
            #expect(report.text() == "")
            let json = try #require(SchemaCorpus.json(file))
            #expect(schema.fault(in: json) == nil)
        }
    }

    @Test("every mapping has its table", arguments: SchemaMapping.allCases)
    func mappings(mapping: SchemaMapping) {
        // The keys of hardware are the first keys of a button, and a condition has only one key.
        guard mapping != .hardware, mapping != .condition else { return }
        #expect(text.contains("<!-- keys: \(mapping.name)"))
    }

    @Test("every section of tryck.yaml has its keys in it, and nothing else is a section")
    func configuration() {
        #expect(text.contains("<!-- configuration -->"))
        let keys = MappingTable.configuration.keys + MappingTable.mqtt.keys
        for section in MappingTable.configurationSections.keys { #expect(keys.contains { $0.name == section }) }
    }

    @Test("every key of a simulated button is in it")
    func simulator() {
        for key in MappingTable.simulatorButton.keys { #expect(text.contains("`\(key.name)`"), "\(key.name)") }
    }

    @Test("every code that the loader can say is in it")
    func codes() throws {
        let sources = Project.root.appending(path: "Sources")
        var missing: Set<String> = []
        for module in ["YAMLFiles", "ConfigurationLoader", "RuleLoader", "Expressions", "Rules"] {
            let directory = sources.appending(path: module)
            for name in try FileManager.default.subpathsOfDirectory(atPath: directory.path)
            where name.hasSuffix(".swift") {
                let source = try String(contentsOf: directory.appending(path: name), encoding: .utf8)
                for match in source.matches(of: /"([EWR][0-9]{3})"/) where !text.contains("| \(match.1) |") {
                    missing.insert(String(match.1))
                }
            }
        }
        #expect(missing == [])
    }

    @Test("its headings are where its links lead")
    func links() {
        let headings = text.split(separator: "\n").filter { $0.hasPrefix("## ") }.map { heading in
            heading.dropFirst(3).lowercased().filter { $0.isLetter || $0 == " " || $0 == "-" }.replacing(" ", with: "-")
        }
        let links = text.matches(of: /\]\(#([a-z-]+)\)/).map { String($0.1) }
        #expect(!links.isEmpty && links.filter { !headings.contains($0) } == [])
    }
}
