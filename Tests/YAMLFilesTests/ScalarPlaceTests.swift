import Diagnostics
import Testing

@testable import YAMLFiles

@Suite("Where a piece of a text stands in the file")
struct ScalarPlaceTests {
    /// - Returns: the place of `piece` in the scalar under `a`, as `2:5-8`, the last column being the one behind it.
    private func place(of piece: String, in yaml: String) throws -> String {
        let document = Document(SourceFile(name: "a.yaml", text: Array(yaml.utf8)), in: FileInputs(), .unknown)
        let node = try #require(document.root?["a"])
        let text = Array(try #require(node.scalar).utf8)
        let piece = Array(piece.utf8)
        let start = try #require((0...text.count - piece.count).first { text[$0...].starts(with: piece) })
        let (from, to) = document.checker.source.positions(of: start..<start + piece.count, in: node)
        return "\(from.line):\(from.column)-" + (from.line == to.line ? "" : "\(to.line):") + "\(to.column)"
    }

    @Test(
        "every style of text is looked through",
        arguments: [
            ("a: one two", "two", "1:8-11"),
            ("a: &x one two", "two", "1:11-14"),
            ("{a: one two, b: c}", "two", "1:9-12"),
            ("a: Küche zwei", "zwei", "1:10-14"),
            ("a: 'it''s two'", "two", "1:11-14"),
            ("a: 'it''s two'", "'s", "1:7-10"),
            ("a: 'it''s two'", "it'", "1:5-9"),
            (#"a: "one two""#, "two", "1:9-12"),
            (#"a: "o\"ne two""#, "two", "1:11-14"),
            (#"a: "\u00e9\x41\U0001F600 two""#, "two", "1:26-29"),
            (#"a: "\t\n two\\""#, "two\\", "1:10-15"),
            (#"a: "\N\_\L\P\0\e two""#, "two", "1:18-21"),
            (#"a: "\u0020\u000atwo""#, "two", "1:17-20"),
            (#"a: &x "one two""#, "two", "1:12-15"),
        ])
    func oneLine(yaml: String, piece: String, place: String) throws {
        #expect(try self.place(of: piece, in: yaml) == place)
    }

    @Test(
        "a text of several lines is followed from line to line",
        arguments: [
            ("a: |\n  one\n  two three\n", "three", "3:7-12"),
            ("a: |\n  one\n    two\n", "two", "3:5-8"),
            ("a: |-  # why\n\n  one\n  two\n", "two", "4:3-6"),
            ("a: >\n  one\n  two\n\n  three\n", "three", "5:3-8"),
            ("a: one\n  two\n  three\n", "three", "3:3-8"),
            ("a: 'one\n  two'\n", "two", "2:3-6"),
            ("a: \"one\n\n  two \\\n  three\"\n", "three", "4:3-8"),
            ("a: |\n  one\n  two\n", "one\ntwo", "2:3-3:6"),
            ("a: |2\n    # one\n", "one", "2:7-10"),
            ("a: |\r\n  one\r\n  two\r\n", "two", "3:3-6"),
        ])
    func manyLines(yaml: String, piece: String, place: String) throws {
        #expect(try self.place(of: piece, in: yaml) == place)
    }

    @Test("what is empty stands just behind what is before it")
    func empty() throws {
        let document = Document(SourceFile(name: "a.yaml", text: Array("a: 'x +'".utf8)), in: FileInputs(), .unknown)
        let node = try #require(document.root?["a"])
        let (start, end) = document.checker.source.positions(of: 3..<3, in: node)
        #expect(start == SourcePosition(line: 1, column: 8))
        #expect(end == SourcePosition(line: 1, column: 9))
    }

    @Test("what is out of range, or no text, is the whole node")
    func outOfRange() throws {
        let document = Document(
            SourceFile(name: "a.yaml", text: Array("a: ''\nb: [c]".utf8)), in: FileInputs(), .unknown)
        for key in ["a", "b"] {
            let node = try #require(document.root?[key])
            let (start, end) = document.checker.source.positions(of: 7..<9, in: node)
            #expect(start == node.start)
            #expect(end == node.end)
        }
    }
}
