import ButtonModel
import Glibc
import Hub
import JSON
import TestSupport
import Testing

@testable import CommandSupport
@testable import Platform
@testable import ReplayCommands
@testable import Setup

@Suite("Replaying a recording")
struct ReplayTests {
    /// A recording of a real daemon: pairing, a rule that publishes a secret and fails, a hold; then the daemon was
    /// killed and started again, and received a press that a button had stored.
    static let path =
        #filePath.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/Golden/replay-session.jsonl"

    static func octets() throws -> [UInt8] {
        var reader = try RecordingReader(path)
        var octets: [UInt8] = []
        while let line = try reader.next() { octets += line.octets + [UInt8(ascii: "\n")] }
        return octets
    }

    /// Replays octets in the same way as the command replays a file.
    static func replay(_ octets: [UInt8], json: Bool = false) throws -> (text: String, summary: ReplayRun.Summary) {
        let file = TemporaryFile(octets)
        var reader = try RecordingReader(file.path)
        var run = ReplayRun()
        var screen = ReplayScreen()
        var text = ""
        while let line = try reader.next() {
            for occurrence in try run.take(line) {
                text += json ? ReplayJSON.line(occurrence) : screen.text(occurrence, style: .plain)
            }
        }
        let summary = try run.summary()
        text += json ? ReplayJSON.line(summary) : ReplayScreen.text(summary, style: .plain)
        return (text, summary)
    }

    @Test("it prints what tryck watch would have printed, the same each time")
    func text() throws {
        let (text, summary) = try ReplayTests.replay(ReplayTests.octets())
        expectGolden(text, "replay-session.txt")
        #expect(try ReplayTests.replay(ReplayTests.octets()).text == text)
        #expect(summary.presses == 4)
        #expect(summary.programs == 1)
        #expect(!summary.isCutOff)
    }

    @Test("as JSON, each line has its time, and the last one counts")
    func json() throws {
        let (text, _) = try ReplayTests.replay(ReplayTests.octets(), json: true)
        expectGolden(text, "replay-session-json.txt")
        for line in text.split(separator: "\n") { #expect(try JSONValue(parsing: String(line))["kind"] != nil) }
    }

    @Test("a recording that was cut off in a line is replayed up to there", arguments: 1...30 as ClosedRange<UInt64>)
    func cutOff(seed: UInt64) throws {
        let octets = try ReplayTests.octets()
        var random = SeededGenerator(seed: seed)
        let firstLine = try #require(octets.firstIndex(of: UInt8(ascii: "\n")))
        let end = Int.random(in: (firstLine + 1)..<octets.count, using: &random)
        let cut = Array(octets[..<end])
        let (text, summary) = try ReplayTests.replay(cut)
        // Before the line's end or at it, nothing is missing.
        let isWhole = octets[end] == UInt8(ascii: "\n") || octets[end - 1] == UInt8(ascii: "\n")
        #expect(summary.isCutOff == !isWhole)
        let whole = try ReplayTests.replay(octets).text
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast(3)
        #expect(whole.split(separator: "\n", omittingEmptySubsequences: false).starts(with: lines))
    }

    @Test("a daemon that was killed in a line and started again is two sessions")
    func killedInALine() throws {
        let lines = try ReplayTests.octets().split(separator: UInt8(ascii: "\n"))
        let header = try #require(lines.first)
        let octets = (lines.prefix(20) + [lines[20].prefix(12)] + [header] + lines[1..<3]).joined(separator: [0x0A])
        let (text, summary) = try ReplayTests.replay(Array(octets))
        #expect(!summary.isCutOff)
        #expect(text.split(separator: "\n").filter { $0.hasPrefix("tryckd ") }.count == 2)
    }

    @Test(
        "what is no recording is refused with its line",
        arguments: [
            ([""], "this is not a recording; one is made with: tryckd --record FILE."),
            (["hello"], "line 1: this is not a recording; one is made with: tryckd --record FILE."),
            (
                [#"{"at_ns":0,"input":"start"}"#],
                "line 1: this is not a recording; one is made with: tryckd --record FILE."
            ),
            (["H", "[]"], "line 2: this is not a recording; one is made with: tryckd --record FILE."),
            (["H", #"{"at_ns":-1,"input":"start"}"#], #"line 2: "at_ns" is missing or wrong."#),
            (
                ["H", #"{"at_ns":5,"input":"start"}"#, #"{"at_ns":4,"input":"stop"}"#],
                #"line 3: "at_ns" is missing or wrong."#
            ),
            (["H", "{", #"{"at_ns":5,"input":"start"}"#], "line 2: not JSON: the text ends too early at byte 1."),
            (["H", "{", ""], "line 2: not JSON: the text ends too early at byte 1."),
            (
                [#"{"format":"tryck-recording","version":3}"#],
                "line 1: the recording has format 3 and this program reads format 2: replay it with a newer tryck."
            ),
        ])
    func refused(lines: [String], sentence: String) throws {
        let header = try #require(try ReplayTests.octets().split(separator: UInt8(ascii: "\n")).first)
        let text = lines.map { $0 == "H" ? String(decoding: header, as: UTF8.self) : $0 }.joined(separator: "\n")
        #expect(throws: Failure(.configuration, sentence)) { try ReplayTests.replay(Array(text.utf8)) }
    }

    @Test("rules that this version cannot read are shown with what is wrong in them")
    func badRules() throws {
        let lines = try ReplayTests.octets().split(separator: UInt8(ascii: "\n"))
        let header = String(decoding: try #require(lines.first), as: UTF8.self)
        let failure = #expect(throws: Failure.self) {
            try ReplayTests.replay(Array(header.replacing("event: click", with: "event: clack").utf8))
        }
        #expect(failure?.status == .configuration)
        #expect(failure?.sentence.contains("unknown event \"clack\"") == true)
    }

    @Test("a line that is too long is refused before it is all there")
    func longLine() throws {
        let file = TemporaryFile([UInt8](repeating: 0x20, count: 300_000))
        var reader = try RecordingReader(file.path, maximumLineLength: 100_000)
        let failure = #expect(throws: Failure.self) { _ = try reader.next() }
        #expect(failure?.sentence == "line 1: it is longer than the limit for a recording.")
    }

    @Test("lines come one by one, however long the file is", arguments: 1...20 as ClosedRange<UInt64>)
    func lines(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let lines = (0..<Int.random(in: 0...40, using: &random)).map { _ in
            [UInt8](repeating: 0x61, count: Int.random(in: 0...9000, using: &random))
        }
        let file = TemporaryFile(Array(lines.joined(separator: [0x0A])))
        var reader = try RecordingReader(file.path)
        var read: [[UInt8]] = []
        while let line = try reader.next() {
            read.append(line.octets)
            #expect(line.number == read.count)
        }
        // An end without a line is none.
        #expect(read == (lines.last?.isEmpty == true ? lines.dropLast() : lines))
    }
}

private final class TemporaryFile {
    let path: String

    init(_ octets: [UInt8]) {
        let name = strdup("/tmp/tryck-replay-XXXXXX")
        defer { free(name) }
        let descriptor = name.map { mkstemp($0) } ?? -1
        precondition(descriptor >= 0 && write(descriptor, octets, octets.count) == octets.count, "\(errno)")
        close(descriptor)
        path = name.map { String(cString: $0) } ?? ""
    }

    deinit { unlink(path) }
}
