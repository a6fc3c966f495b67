import Diagnostics
import Testing

@testable import YAMLFiles

@Suite("YAML as we read it")
struct YAMLTests {
    private func composed(_ text: String) throws -> (root: YAMLNode?, diagnostics: [Diagnostic]) {
        let file = SourceFile(name: "a.yaml", text: Array(text.utf8))
        var composer = YAMLComposer(try SourceText.reading(file).get(), .unknown)
        let root = composer.compose()
        return (root, composer.diagnostics)
    }

    private func root(_ text: String) throws -> YAMLNode {
        let (root, diagnostics) = try composed(text)
        #expect(diagnostics == [])
        return try #require(root)
    }

    private func text(_ node: YAMLNode?) -> String? {
        if case .scalar(let text, _) = node?.content { text } else { nil }
    }

    @Test("an alias means the last anchor of its name, even one inside an anchor of the same name")
    func anchors() throws {
        let root = try root("a: &x [&x one, *x]\nb: *x\nc: &x two\nd: *x\n")
        #expect(root["a"]?.elements.map { text($0) } == ["one", "one"])
        #expect(text(root["b"]) == "one")
        #expect(text(root["d"]) == "two")
    }

    @Test("what came through an alias keeps its place and says where it is used")
    func aliases() throws {
        let used = try #require(try root("a: &x {b: [c]}\nd: *x\n")["d"]?["b"]?.elements.first)
        #expect(used.start == SourcePosition(line: 1, column: 12))
        #expect(used.alias?.name == "x")
        #expect(used.alias?.start == SourcePosition(line: 2, column: 4))
    }

    @Test("32 levels are read, through aliases too, and one more is not", arguments: [false, true])
    func depth(throughAlias: Bool) throws {
        func nested(_ levels: Int) -> String {
            let (open, close) = (String(repeating: "[", count: levels), String(repeating: "]", count: levels))
            return throughAlias
                ? "a: &x [[b]]\nc: \(open.dropFirst(2))*x\(close.dropFirst(2))\n" : "c: \(open)\(close)\n"
        }
        #expect(try composed(nested(31)).diagnostics == [])
        #expect(try composed(nested(32)).diagnostics.map(\.code) == ["E112"])
    }

    @Test("500 000 values are read, one more is not")
    func count() throws {
        // The mapping, its key and the list are values too.
        func list(_ count: Int) -> String { "a: [" + String(repeating: "b,", count: count) + "]" }
        #expect(try composed(list(499_997)).diagnostics == [])
        let (root, diagnostics) = try composed(list(499_998))
        #expect(root == nil)
        #expect(diagnostics.map(\.code) == ["E112"])
        #expect(diagnostics.first?.start == SourcePosition(line: 1, column: 5 + 2 * 499_997))
    }

    @Test("aliases make 100 000 nodes and no more")
    func expansion() throws {
        func uses(_ count: Int) -> String {
            "a: &x [" + String(repeating: "b,", count: 999) + "]\nc: [" + String(repeating: "*x,", count: count) + "]"
        }
        #expect(try composed(uses(100)).diagnostics == [])
        #expect(try composed(uses(101)).diagnostics.map(\.code) == ["E107"])
    }

    @Test("a key that comes twice is found in small mappings and in large ones", arguments: [1, 12, 13, 40])
    func twice(count: Int) throws {
        let keys = (0..<count).map { "k\($0): v\n" }.joined()
        #expect(try composed(keys + "x: v\n").diagnostics == [])
        for key in [0, count - 1] {
            let diagnostics = try composed(keys + "\"k\(key)\": v\n").diagnostics
            #expect(diagnostics.map(\.code) == ["E103"])
            #expect(diagnostics.first?.related.first?.position == SourcePosition(line: key + 1, column: 1))
        }
        #expect(try composed("a: &a {b: c}\nd:\n  <<: *a\n  <<: *a\n").diagnostics.map(\.code) == ["E103"])
    }

    @Test(
        "tabs are found wherever they indent, and left alone in text that goes on",
        arguments: [
            ("a:\n\t- b\n", [2]), ("a: [\n\tb]\n", [2]), ("a: |\n  b\n\n  \tc\n", []), ("a: \"b\n\tc\"\n", []),
            ("a: b\tc\n", []), ("a: b\n  \t\n", []), ("a: b\n\t# c\n", [2]), ("a: [\r\n\tb,\r\n \tc]\r\n", [2, 3]),
        ])
    func tabs(text: String, lines: [Int]) throws {
        let diagnostics = try composed(text).diagnostics
        #expect(diagnostics.filter { $0.code == "E102" }.map(\.start.line) == lines)
        #expect(diagnostics.count == lines.count)
    }

    @Test("places are found in long files and long lines, whatever ends the lines", arguments: ["\n", "\r", "\r\n"])
    func places(lineEnd: String) throws {
        let lines = (1...300).map { "line \($0): é日 here" }
        let file = SourceFile(name: "a", text: Array(lines.joined(separator: lineEnd).utf8))
        let source = try SourceText.reading(file).get()
        #expect(source.lineCount == 300)
        for number in [1, 2, 64, 65, 128, 129, 299, 300] {
            #expect(String(decoding: source.line(number), as: UTF8.self) == lines[number - 1])
            let start = SourcePosition(line: number, column: 1)
            let found = try #require(source.find("here", from: start, to: .init(line: 301, column: 1)))
            #expect(found == SourcePosition(line: number, column: lines[number - 1].unicodeScalars.count - 3))
            #expect(String(Substring(source.text(from: found))) == "here")
        }
        #expect(source.clamped(SourcePosition(line: 301, column: 1)) == SourcePosition(line: 300, column: 18))
    }

    @Test("no more than ten thousand mistakes of one file are kept")
    func manyMistakes() throws {
        #expect(try composed("{" + String(repeating: "a: b, ", count: 20_000) + "}").diagnostics.count == 10_000)
        let file = SourceFile(name: "a", text: Array((0..<20_000).map { "k\($0): v\n" }.joined().utf8))
        var document = Document(file, in: FileInputs(), .unknown)
        _ = document.checker.fields(try #require(document.root), FileLanguage.unknown.file)
        #expect(document.checker.diagnostics.count == 10_000)
    }
}
