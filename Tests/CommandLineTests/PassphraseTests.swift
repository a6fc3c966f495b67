import Foundation
import Synchronization
import Testing

@testable import CommandSupport
@testable import ExportCommands
@testable import Platform
@testable import Setup

@Suite("Passphrases")
struct PassphraseTests {
    @Test(
        "a line is edited as on any terminal",
        arguments: [
            ("correct horse\r", .entered(Array("correct horse".utf8))),
            ("correct horse\n", .entered(Array("correct horse".utf8))),
            ("correkt\u{7F}\u{7F}ct\u{4}", .entered(Array("correct".utf8))),
            ("Kü\u{7F}\u{8}\u{7F}\u{7F}Küche\n", .entered(Array("Küche".utf8))),
            ("wrong\u{15}right\n", .entered(Array("right".utf8))),
            ("a\tb\u{1B}c\0\n", .entered(Array("abc".utf8))),
            ("\n", .entered([])), ("half\u{3}", .cancelled), ("\u{4}", .cancelled), ("half", .more),
        ] as [(String, PassphraseLine.Answer)])
    func line(typed: String, answer: PassphraseLine.Answer) {
        var line = PassphraseLine()
        var answers = typed.utf8.map { line.take($0) }
        #expect(answers.popLast() == answer)
        #expect(answers.allSatisfy { $0 == .more })
    }

    @Test("what has no end is kept no longer than it has to be to be refused")
    func endless() {
        var line = PassphraseLine()
        for _ in 0..<5000 { _ = line.take(UInt8(ascii: "x")) }
        #expect(line.take(0x0A) == .entered([UInt8](repeating: UInt8(ascii: "x"), count: 1025)))
    }

    @Test("a new one is not short, none is empty or endless, and none prints itself")
    func lengths() throws {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 1024)
        for (octets, isNew) in [([1], false), (long, false), (Array(long.prefix(8)), true), (long, true)] {
            #expect(try Passphrase(octets, isNew: isNew).octets == octets)
        }
        for (octets, isNew) in [([], false), (long + [1], false), (Array(long.prefix(7)), true), (long + [1], true)] {
            #expect(throws: Failure.self) { try Passphrase(octets, isNew: isNew) }
        }
        let passphrase = try Passphrase(Array("correct horse".utf8), isNew: true)
        var dumped = "\(passphrase) \(String(reflecting: passphrase))"
        dump(passphrase, to: &dumped)
        #expect(!dumped.contains("correct") && !dumped.contains("99"))
    }

    @Test("a new one has as many characters as the refusal says, however many octets these are")
    func characters() throws {
        let refusal = Failure(.usage, "A passphrase has at least 8 characters.")
        for text in ["Küchen7", "🔔🔔", "пароль1"] {
            #expect(throws: refusal) { try Passphrase(Array(text.utf8), isNew: true) }
            #expect(try Passphrase(Array(text.utf8), isNew: false).octets == Array(text.utf8))
        }
        #expect(try Passphrase(Array("Küchen77".utf8), isNew: true).octets.count == 9)
    }

    @Test("from a file it is the first line, whatever ends it")
    func file() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let file = directory.path + "/passphrase"
        for text in ["correct horse", "correct horse\n", "correct horse\r\nbattery\n", "correct horse\n\n"] {
            try write(text, to: file, mode: 0o600)
            #expect(try Passphrase(file: file, isNew: true).octets == Array("correct horse".utf8))
        }
        try write("\ncorrect horse", to: file, mode: 0o600)
        #expect(throws: Failure.self) { try Passphrase(file: file, isNew: false) }
    }

    @Test(
        "a file that others can read is refused, and one that is not there",
        arguments: [0o644, 0o640, 0o604] as [mode_t])
    func openFile(mode: mode_t) throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let file = directory.path + "/passphrase"
        #expect(
            throws: Failure(.usage, "\(file) does not exist. Its first line must be the passphrase.")
        ) { try Passphrase(file: file, isNew: false) }
        try write("correct horse", to: file, mode: mode)
        #expect(
            throws: Failure(.usage, "Other users can read the passphrase in \(file). Run: chmod 600 \(file)")
        ) { try Passphrase(file: file, isNew: false) }
    }

    @Test("asked for on a terminal it is not shown; a new one has to be typed twice")
    func prompt() throws {
        let terminal = try Terminal()
        let (passphrase, shown) = try terminal.asking(isNew: true, typing: ["correct horse\r", "correct horse\r"])
        #expect(try passphrase.get().octets == Array("correct horse".utf8))
        #expect(shown == "Passphrase: \r\nRepeat it: \r\n")
        let (once, shownOnce) = try terminal.asking(isNew: false, typing: ["horse\r"])
        #expect(try once.get().octets == Array("horse".utf8))
        #expect(shownOnce == "Passphrase: \r\n")
    }

    @Test("two that differ are refused, and Ctrl-C says nothing more")
    func refusals() throws {
        let terminal = try Terminal()
        let differing = try terminal.asking(isNew: true, typing: ["correct horse\r", "correct hoarse\r"])
        #expect(differing.0 == .failure(Failure(.negativeResult, "The passphrases differ. Nothing was written.")))
        #expect(try terminal.asking(isNew: true, typing: ["half\u{3}"]).0 == .failure(.silent(.negativeResult)))
    }

    @Test("without a terminal it says what to do")
    func noTerminal() {
        let file = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(file) }
        let failure = #expect(throws: Failure.self) { try PassphrasePrompt(input: file).ask(isNew: false) }
        #expect(failure?.status == .usage)
        #expect(failure?.sentence.contains("--passphrase-file") == true)
    }

    private func write(_ text: String, to path: String, mode: mode_t) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(file) }
        try #require(fchmod(file, mode) == 0 && Foundation.write(file, text, text.utf8.count) == text.utf8.count)
    }
}

/// Both ends of a terminal: one for the program, one for who sits before it.
private final class Terminal {
    private let person: Int32
    private let program: Int32

    init() throws {
        var person: Int32 = -1
        var program: Int32 = -1
        try #require(openpty(&person, &program, nil, nil, nil) == 0)
        self.person = person
        self.program = program
    }

    deinit {
        close(program)
        close(person)
    }

    /// Types each text when the program has asked; with what the screen showed.
    func asking(isNew: Bool, typing texts: [String]) throws -> (Result<Passphrase, Failure>, String) {
        let prompt = PassphrasePrompt(input: program, output: Output(descriptor: program))
        let asking = Asking(prompt, isNew: isNew)
        var shown = ""
        for (index, text) in texts.enumerated() {
            while shown.split(separator: ": ", omittingEmptySubsequences: false).count < index + 2 {
                shown += try read()
            }
            try #require(write(person, text, text.utf8.count) == text.utf8.count)
        }
        // The end of the last line.
        while !shown.hasSuffix("\r\n") { shown += try read() }
        return (try #require(asking.answer()), shown)
    }

    private func read() throws -> String {
        var chunk = [UInt8](repeating: 0, count: 256)
        var wait = pollfd(fd: person, events: Int16(POLLIN), revents: 0)
        try #require(poll(&wait, 1, 60_000) == 1)
        let count = Foundation.read(person, &chunk, chunk.count)
        try #require(count > 0)
        return String(decoding: chunk.prefix(count), as: UTF8.self)
    }
}

/// Asks on a thread of its own, which waits for who types.
private final class Asking: Sendable {
    private let result = Mutex<Result<Passphrase, Failure>?>(nil)
    private let end = DispatchSemaphore(value: 0)

    init(_ prompt: PassphrasePrompt, isNew: Bool) {
        Thread.detachNewThread { [self] in
            let answer = Result { () throws(Failure) in try prompt.ask(isNew: isNew) }
            result.withLock { $0 = answer }
            end.signal()
        }
    }

    func answer() -> Result<Passphrase, Failure>? {
        _ = end.wait(timeout: .now() + 60)
        return result.withLock { $0 }
    }
}
