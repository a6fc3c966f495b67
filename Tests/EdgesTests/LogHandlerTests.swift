import ButtonModel
import Glibc
import JSON
import Logging
import Testing

@testable import Edges

@Suite struct LogHandlerTests {
    private static let noon = UTCTime(milliseconds: 1_795_262_400_123)

    @Test(
        "a line in each format",
        arguments: [
            (.text, "2026-11-21T12:00:00.123Z warning  radio: link lost button=kitchen reason=\"no answer\""),
            (.journal, "<4>radio: link lost button=kitchen reason=\"no answer\""),
            (
                .json,
                #"{"time":"2026-11-21T12:00:00.123Z","level":"warning","label":"radio","message":"link lost","#
                    + #""fields":{"button":"kitchen","reason":"no answer"}}"#
            ),
        ] as [(LogFormat, String)])
    func formats(format: LogFormat, line: String) {
        var entry = LogLine(level: .warning, label: "radio", message: "link lost")
        entry.fields = [("button", "kitchen"), ("reason", "no answer")]
        #expect(entry.rendered(format, at: Self.noon) == line)
    }

    @Test("the journal's priorities", arguments: zip(Logger.Level.allCases, [7, 7, 6, 5, 4, 3, 2]))
    func priorities(level: Logger.Level, priority: Int) {
        #expect(
            LogLine(level: level, label: "a", message: "b").rendered(.journal, at: Self.noon) == "<\(priority)>a: b")
    }

    @Test("what comes from outside cannot begin a line, colour the terminal or pass for another field")
    func injection() {
        var entry = LogLine(level: .info, label: "radio", message: "name\n<0>forged\u{1B}[31m\u{9B}")
        entry.fields = [("name", "a\" level=\"x"), ("empty", "")]
        #expect(
            entry.rendered(.journal, at: Self.noon)
                == #"<6>radio: name <0>forged [31m  name="a\" level=\"x" empty="""#)
    }

    @Test("what turns the direction of writing, is invisible or ends a line of a terminal is a space")
    func formatCharacters() {
        var entry = LogLine(
            level: .info, label: "radio", message: "a\u{202E}b\u{2066}c\u{2028}d\u{2029}e\u{FEFF}f\u{AD}g")
        entry.fields = [("name", "x\u{202E}y"), ("bare", "\u{200B}")]
        #expect(entry.rendered(.journal, at: Self.noon) == #"<6>radio: a b c d e f g name="x y" bare=" ""#)
        entry = LogLine(level: .info, label: "radio", message: "Küche, 厨房, مطبخ, 🏠")
        #expect(entry.rendered(.journal, at: Self.noon) == "<6>radio: Küche, 厨房, مطبخ, 🏠")
    }

    @Test("fields of the logger and of the event are written in order, the event's winning, and the error last")
    func merging() throws {
        let lines = try written(level: .info) { output in
            var logger = Logger(label: "radio") { TryckLogHandler(label: $0, output: output) }
            logger[metadataKey: "button"] = "hall"
            logger[metadataKey: "adapter"] = "hci0"
            logger.error("link lost", metadata: ["button": "kitchen"])
        }
        #expect(lines == ["<3>radio: link lost adapter=hci0 button=kitchen"])
    }

    @Test("a change of the level reaches loggers that exist already")
    func level() throws {
        let lines = try written(level: .warning) { output in
            let logger = Logger(label: "radio") { TryckLogHandler(label: $0, output: output) }
            logger.info("not heard")
            output.level = .debug
            logger.debug("heard")
        }
        #expect(lines == ["<7>radio: heard"])
    }

    @Test(
        "what ends the daemon before it has a log is an error of the journal, line by line",
        arguments: [
            ("no such file", "<3>no such file\n"), ("a:1:2: error\n  1 | a\n", "<3>a:1:2: error\n<3>  1 | a\n"),
        ])
    func errors(text: String, journal: String) {
        #expect(LogOutput.errors(text, isJournal: true) == journal)
        #expect(LogOutput.errors(text, isJournal: false) == journal.replacing("<3>", with: ""))
    }

    @Test("the journal is known by the device and inode of the descriptor")
    func journal() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        var status = stat()
        fstat(ends[1], &status)
        #expect(LogOutput.isJournal(stream: "\(status.st_dev):\(status.st_ino)", descriptor: ends[1]))
        #expect(!LogOutput.isJournal(stream: "\(status.st_dev):\(status.st_ino + 1)", descriptor: ends[1]))
        #expect(!LogOutput.isJournal(stream: nil, descriptor: ends[1]))
    }

    private func written(level: Logger.Level, _ body: (LogOutput) -> Void) throws -> [Substring] {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        body(LogOutput(level: level, format: .journal, descriptor: ends[1]))
        close(ends[1])
        var octets = [UInt8](repeating: 0, count: 4096)
        let count = read(ends[0], &octets, octets.count)
        close(ends[0])
        return String(decoding: octets.prefix(max(count, 0)), as: UTF8.self).split(separator: "\n")
    }
}
