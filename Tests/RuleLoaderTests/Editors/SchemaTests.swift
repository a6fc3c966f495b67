import Diagnostics
import Foundation
import JSON
import Rules
import TestSupport
import Testing
import YAMLFiles

@testable import RuleLoader

@Suite("The schema for editors")
struct SchemaTests {
    private static let json = RulesSchema.json()
    private static let reading = Result { try JSONSchema(json) }
    private let schema: JSONSchema

    init() throws { schema = try SchemaTests.reading.get() }

    @Test("rules/rules.schema.json is the schema of these tables; UPDATE_GOLDEN=1 writes it anew")
    func committed() throws {
        let url = Project.root.appending(path: "rules/rules.schema.json")
        let text = RulesSchema.text()
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
            try text.write(to: url, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: url, encoding: .utf8) == text)
        #expect(try JSONValue(parsing: text) == JSONValue(parsing: SchemaTests.json.description))
    }

    @Test("a valid file passes the loader and the schema", arguments: SchemaCorpus.valid)
    func valid(path: String) throws {
        let file = try Project.file(path)
        let report = DiagnosticReport(
            SchemaCorpus.load(file).diagnostics.filter { $0.severity == .error }, sources: [file.name: file.text])
        #expect(report.text() == "")
        let json = try #require(SchemaCorpus.json(file))
        #expect(schema.fault(in: json) == nil)
    }

    @Test("an invalid file is refused by those its first line names", arguments: SchemaCorpus.invalid)
    func invalid(path: String) throws {
        let file = try Project.file(path)
        let line = try #require(String(decoding: file.text, as: UTF8.self).split(separator: "\n").first)
        let judges = line.dropFirst(2).prefix { $0 != ":" }
        try #require(["loader", "schema", "loader and schema"].contains(judges))
        let json = try #require(SchemaCorpus.json(file))
        #expect((SchemaCorpus.load(file).value == nil) == judges.contains("loader"))
        #expect((schema.fault(in: json) != nil) == judges.contains("schema"))
    }

    @Test("what the loader accepts the schema accepts", arguments: SchemaCorpus.others)
    func accepted(path: String) throws {
        let file = try Project.file(path)
        guard SchemaCorpus.load(file).value != nil else { return }
        let json = try #require(SchemaCorpus.json(file))
        #expect(schema.fault(in: json) == nil)
    }

    @Test("each key of each mapping stands in a valid file")
    func everyKey() throws {
        var keys: Set<String> = []
        func collect(_ value: JSONValue) {
            for member in value.objectValue ?? [] {
                keys.insert(member.name)
                collect(member.value)
            }
            for value in value.arrayValue ?? [] { collect(value) }
        }
        for path in SchemaCorpus.valid { collect(try #require(SchemaCorpus.json(try Project.file(path)))) }
        for mapping in SchemaMapping.allCases {
            for key in mapping.table.keys where key.name != "include" {
                #expect(keys.contains(key.name), "\(mapping.name).\(key.name)")
            }
        }
    }

    /// Scalars that are put in place of others.
    private static let words = [
        "10s", "10", "true", "\"true\"", "on", "~", "null", "2.5", "-1", "017", "\"\"", "x", "click", "22:00", "sunset",
        "[a]", "[]", "{}", "{a: b}", "{time: {after: 22:00}}", "[{log: a}]", "{log: a}", "[[{log: a}]]", "drop",
        "!literal a", "!secret a", "!secret 5", "any", "kitchen", "\"{{ trigger.age }}\"", "queued", "20/1m", "2xx",
        "204",
        "mon-fri", "&z a", "[click, hold]", "[short, long]", "{max_age: 1s}", "reload", "[true]", "[1, 2]", "held",
        ".inf",
        "1_000", "sunrise + 1h", "{button: kitchen, event: click}", "0", "all", "[kitchen, hall]", "False", "1m30s",
    ]

    @Test("so it does of files that were changed at random", arguments: UInt64(1)...12)
    func changed(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let paths = SchemaCorpus.valid + ["Tests/RuleLoaderTests/Examples/house.yaml"]
        var accepted = 0
        for _ in 0..<40 {
            let path = try #require(paths.randomElement(using: &generator))
            let file = try Project.file(path)
            let root = try #require(Document(file, in: SchemaCorpus.environment.fileInputs, .rules).root)
            let node = try #require(SchemaTests.replaceable(in: root).randomElement(using: &generator))
            let word = try #require(SchemaTests.words.randomElement(using: &generator))
            guard let text = SchemaTests.replacing(node, in: file.text, with: word) else { continue }
            let changed = SourceFile(name: file.name, text: text)
            guard SchemaCorpus.load(changed).value != nil, let json = SchemaCorpus.json(changed) else { continue }
            accepted += 1
            // A tilde may be text, and editors cannot know.
            guard word != "~" else { continue }
            let fault = schema.fault(in: json)
            #expect(fault == nil, "\(path):\(node.start.line):\(node.start.column) as \(word)")
        }
        #expect(accepted > 0)
    }

    /// Nodes of one line.
    private static func replaceable(in node: YAMLNode) -> [YAMLNode] {
        guard node.alias == nil else { return [] }
        let inner: [YAMLNode] =
            switch node.content {
            case .invalid, .scalar: []
            case .sequence(let nodes): nodes.flatMap(replaceable)
            case .mapping(let entries): entries.filter { $0.key.alias == nil }.flatMap { replaceable(in: $0.value) }
            }
        return node.start.line == node.end.line && node.start != node.end ? [node] + inner : inner
    }

    private static func replacing(_ node: YAMLNode, in text: [UInt8], with word: String) -> [UInt8]? {
        var lines = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.indices.contains(node.start.line - 1) else { return nil }
        let line = Array(lines[node.start.line - 1].unicodeScalars)
        guard node.end.column - 1 <= line.count else { return nil }
        var changed = String.UnicodeScalarView()
        changed.append(contentsOf: line[..<(node.start.column - 1)])
        changed.append(contentsOf: word.unicodeScalars)
        changed.append(contentsOf: line[(node.end.column - 1)...])
        lines[node.start.line - 1] = Substring(String(changed))
        return Array(lines.joined(separator: "\n").utf8)
    }

    // MARK: What it says of keys

    @Test("each key is described, and has examples that are right", arguments: SchemaMapping.allCases)
    func keys(mapping: SchemaMapping) throws {
        let details = mapping.details
        #expect(Set(details.keys) == Set(mapping.table.keys.map(\.name)))
        for key in mapping.table.keys {
            let property = try #require(try property(key.name, of: mapping))
            #expect(property["description"]?.stringValue?.isEmpty == false)
            let shape = try #require(details[key.name]?.shape ?? SchemaShape(key.type), "\(key.name) has no shape")
            let examples = try #require(property["examples"]?.arrayValue)
            #expect(!examples.isEmpty, "\(key.name), \(shape)")
            for value in examples + (property["default"].map { [$0] } ?? []) {
                #expect(schema.fault(in: value, schema: property) == nil, "\(key.name): \(value)")
            }
        }
    }

    private func property(_ key: String, of mapping: SchemaMapping) throws -> JSONValue? {
        let json = SchemaTests.json
        if mapping == .file { return json["properties"]?[key] }
        if !mapping.variants.isEmpty { return json["definitions"]?["\(mapping.name).\(key)"] }
        return json["definitions"]?[mapping.name]?["properties"]?[key]
    }

    @Test("every mapping is closed")
    func closed() {
        func check(_ schema: JSONValue, _ path: String) {
            if schema["properties"] != nil || schema["patternProperties"] != nil {
                #expect(schema["additionalProperties"] == false, "\(path)")
            }
            for member in schema.objectValue ?? [] where !["default", "examples", "properties"].contains(member.name) {
                check(member.value, "\(path)/\(member.name)")
            }
            for member in schema["properties"]?.objectValue ?? [] { check(member.value, "\(path)/\(member.name)") }
            for value in schema.arrayValue ?? [] { check(value, path) }
        }
        check(SchemaTests.json, "")
    }

    @Test("a file that is included needs no version")
    func included() {
        #expect(schema.fault(in: ["rules": []]) == nil)
    }
}
