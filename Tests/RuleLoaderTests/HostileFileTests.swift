import ConfigurationLoader
import Diagnostics
import Foundation
import TestSupport
import Testing
import YAMLFiles

@testable import RuleLoader

@Suite("Files from people who mean no good")
struct HostileFileTests {
    private static let valid: [[UInt8]] = {
        let paths =
            GoldenTests.files.map { Project.golden.appending(path: $0) } + [
                Project.root.appending(path: "Tests/RuleLoaderTests/Examples/house.yaml"),
                Project.root.appending(path: "rules/home.yaml"), Project.root.appending(path: "rules/simulator.yaml"),
            ]
        return paths.compactMap { try? [UInt8](Data(contentsOf: $0)) }
    }()

    /// All three readers, and the rendering of what they say.
    private static func loadEverything(_ text: [UInt8]) -> [Diagnostic] {
        let file = SourceFile(name: "a.yaml", text: text)
        let environment = LoadInputs(secrets: file)
        let all =
            FileLoader.rules(file, in: environment).diagnostics
            + FileLoader.configuration(file, in: environment.fileInputs).diagnostics
            + FileLoader.simulator(file).diagnostics
        _ = DiagnosticReport(all, sources: ["a.yaml": text]).text()
        return all
    }

    @Test("random bytes are refused and nothing traps", arguments: UInt64(0)..<100)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        #expect(!Self.loadEverything(random.bytes(Int.random(in: 1...200, using: &random))).isEmpty)
    }

    @Test("random YAML punctuation traps nothing", arguments: UInt64(0)..<200)
    func punctuation(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "a", "rules", "buttons", "version", ": ", ":", "- ", "\n", "\n  ", "\n    ", "[", "]", "{", "}", ", ",
            "&a ",
            "*a", "<<: ", "!secret ", "!literal ", "\"", "'", "| ", ">\n", "# ", "{{", "}}", "\t", "---\n", "...\n",
            "%TAG ", "? ", "null", "1", "é", "日", "\\", "@",
        ]
        var text = ""
        for _ in 0..<Int.random(in: 1...60, using: &random) { text += pieces.randomElement(using: &random) ?? "" }
        _ = Self.loadEverything(Array(text.utf8))
    }

    @Test("a valid file that is damaged traps nothing, and positions lie in the file", arguments: UInt64(0)..<300)
    func damaged(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var text = try #require(Self.valid.randomElement(using: &random))
        for _ in 0..<Int.random(in: 1...5, using: &random) where !text.isEmpty {
            let place = Int.random(in: text.indices, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: text[place] = UInt8(truncatingIfNeeded: random.next())
            case 1: text.remove(at: place)
            case 2: text.insert(Array("{}[]:-*&!%#|>'\"\n \t,".utf8).randomElement(using: &random) ?? 0x3A, at: place)
            default: text.removeSubrange(place..<min(text.count, place + 20))
            }
        }
        let lineCount = text.count { $0 == 0x0A || $0 == 0x0D } + 1
        for diagnostic in Self.loadEverything(text) {
            #expect(diagnostic.start.line >= 1 && diagnostic.start.line <= lineCount)
            #expect(diagnostic.start.column >= 1 && diagnostic.start <= diagnostic.end)
        }
    }

    private static let large: [String: @Sendable () -> String] = [
        "deep lists": { String(repeating: "[", count: 1_000_000) },
        "deep mappings": { String(repeating: "{a: ", count: 220_000) },
        "deep block lists": { String(repeating: "- ", count: 500_000) },
        "deep keys": { String(repeating: "? ", count: 500_000) },
        "many documents": { String(repeating: "---\n", count: 220_000) },
        "many anchors": { "[" + (0..<20_000).map { "&a\($0) x" }.joined(separator: ", ") + "]" },
        "a long alias": { "a: *" + String(repeating: "b", count: 1_000_000) },
        "a long text": { "version: \"" + String(repeating: "b", count: 1_000_000) + "\"" },
        "a line of keys": { "{" + (0..<20_000).map { "k\($0): v" }.joined(separator: ", ") + "}" },
        "a line of nothing": { "{" + (0..<20_000).map { "k\($0)" }.joined(separator: ", ") + "}" },
        "a line of tags": { "[" + String(repeating: "!no a, ", count: 20_000) + "]" },
        "a line of lists as keys": { "[" + String(repeating: "{[a]: b}, ", count: 20_000) + "]" },
        "the same key": { "version: 1\n" + String(repeating: "a: b\n", count: 20_000) },
        "many steps": {
            "version: 1\nrules: [{id: a, actions: [" + String(repeating: "{log: a},", count: 20_000) + "]}]"
        },
        "wrong steps, used often": {
            "version: 1\nx-a: &a [" + String(repeating: "{lgo: a},", count: 90) + "]\nrules:\n"
                + (0..<300).map { "  - {id: r\($0), triggers: {button: any, event: up}, actions: *a}\n" }.joined()
        },
        "undeclared names": {
            "version: 1\nbuttons: {a: BF12-C34567}\nrules:\n"
                + (0..<10_000).map { number in
                    "  - {id: r\(number), triggers: {button: b\(number), event: up}, conditions: rules.s\(number).enabled, "
                        + "actions: {enable: t\(number)}}\n"
                }.joined()
        },
        "a chain of groups": {
            "version: 1\nbuttons: {a: BF12-C34567}\ngroups:\n  g0: [a, g20000]\n"
                + (1...20_000).map { "  g\($0): g\($0 - 1)\n" }.joined()
        },
        "groups of groups of groups": {
            "version: 1\nbuttons:\n" + (0..<1000).map { "  b\($0): BF12-C\(10_000 + $0)\n" }.joined()
                + "groups:\n  g0: [" + (0..<1000).map { "b\($0)" }.joined(separator: ", ") + "]\n"
                + (1...2000).map { "  g\($0): [g\($0 - 1)]\n" }.joined()
        },
        "tabs": { "version: 1\n" + String(repeating: "\t", count: 500_000) },
    ]

    private static let names = large.keys.sorted()

    @Test("what would grow without bound is refused at once", arguments: HostileFileTests.names)
    func bounded(name: String) throws {
        let write = try #require(Self.large[name])
        let octets = Array(write().utf8)
        let time = processorTime {
            let loaded = FileLoader.rules(SourceFile(name: "a.yaml", text: octets), in: LoadInputs())
            #expect(loaded.value == nil)
        }
        // Generous for a debug build: what is quadratic takes minutes.
        #expect(time < .seconds(20))
    }

    @Test(
        "the names of secrets in a refused file are together not much longer than the file",
        arguments: [
            "!secret", "!secret-", "!secret\"", "!secret\"!secret'", "!secret !secret a ", "!secret a b ",
            "!secret''' ",
        ])
    func secretNames(tag: String) {
        let text = Array(String(repeating: tag, count: 1000).utf8)
        #expect(Secrets.names(in: text).reduce(0) { $0 + $1.utf8.count } <= 2 * text.count)
    }

    @Test("16 MiB are read, one more byte is not")
    func size() {
        let file = { SourceFile(name: "a.yaml", text: Array(repeating: UInt8(ascii: "#"), count: $0)) }
        #expect(FileLoader.configuration(file(16 << 20), in: FileInputs()).diagnostics == [])
        #expect(
            FileLoader.configuration(file((16 << 20) + 1), in: FileInputs()).diagnostics.map(\.code) == ["E112"])
    }
}
