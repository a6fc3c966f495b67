import CLinux
import Glibc
import TestSupport
import Testing

@testable import Edges

@Suite("Lines for a log that may take nothing")
struct LogQueueTests {
    /// A log with room for so many octets.
    private struct Log {
        var queue = LogQueue()
        var room = 0
        var written = ""
        var calls = 0

        mutating func write(_ line: String) {
            let room = self.room
            var (left, octets, calls) = (room, [UInt8](), 0)
            queue.write(line + "\n") {
                "[\($0)]\n"
            } take: { given in
                calls += 1
                let taken = min(left, given.count)
                octets += given.prefix(taken)
                left -= taken
                return taken
            }
            self.room = left
            self.calls += calls
            written += String(decoding: octets, as: UTF8.self)
        }
    }

    @Test("a log that takes everything costs one write for a line")
    func ordinary() {
        var log = Log(room: 100)
        log.write("a")
        log.write("b")
        #expect(log.written == "a\nb\n")
        #expect(log.calls == 2)
    }

    @Test("lines that found no room are counted, and the count comes before the next line")
    func omitted() {
        var log = Log(room: 2)
        for line in ["a", "b", "c"] { log.write(line) }
        #expect(log.queue.omitted == 2)
        log.room = 100
        log.write("d")
        log.write("e")
        #expect(log.written == "a\n[2]\nd\ne\n")
        #expect(log.queue.omitted == 0)
    }

    @Test("what is missing of a line comes before all others, in however many pieces")
    func cut() {
        var log = Log(room: 3)
        log.write("abcdef")
        log.room = 2
        log.write("lost")
        #expect(log.written == "abcde")
        log.room = 2
        log.write("g")
        #expect(log.written == "abcdef\n")
        log.room = 100
        log.write("h")
        #expect(log.written == "abcdef\n[2]\nh\n")
    }

    @Test(
        "whatever room there is, lines stay whole and in order, and every one is written or counted", arguments: 0..<50)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var log = Log()
        for number in 0..<300 {
            log.room = Bool.random(using: &generator) ? 0 : Int.random(in: 0...12, using: &generator)
            log.write("line \(number)")
        }
        log.room = 1000
        log.write("last")
        log.write("end")
        var next = 0
        for line in log.written.split(separator: "\n").dropLast(2) {
            if line.hasPrefix("[") {
                next += Int(line.dropFirst().dropLast()) ?? 0
            } else {
                #expect(line == "line \(next)")
                next += 1
            }
        }
        #expect(next == 300)
        #expect(log.written.hasSuffix("last\nend\n"))
    }

    @Test("a pipe, a socket and a pipe of another user take what fits and no more, and their flags stay as they are")
    func descriptors() throws {
        for makesSocket in [false, true] {
            var ends: [Int32] = [0, 0]
            try #require((makesSocket ? socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) : pipe(&ends)) == 0)
            defer { for end in ends { close(end) } }
            let descriptor = LogDescriptor(ends[1])
            defer { descriptor.close() }
            let line = [UInt8](repeating: 0x61, count: 100_001)
            var taken = 0
            while case let count = line.withUnsafeBytes({ descriptor.write($0) }), count > 0 { taken += count }
            #expect(taken > 0)
            #expect(fcntl(ends[1], F_GETFL) & O_NONBLOCK == 0)
            var octets = [UInt8](repeating: 0, count: taken)
            var got = 0
            while got < taken, case let count = read(ends[0], &octets, octets.count), count > 0 { got += count }
            #expect(got == taken)
            #expect(line.withUnsafeBytes { descriptor.write(UnsafeRawBufferPointer(rebasing: $0.prefix(10))) } == 10)
        }
    }

    @Test("a pipe that cannot be opened anew is asked before each piece")
    func polled() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let descriptor = LogDescriptor(polling: ends[1])
        let line = [UInt8](repeating: 0x61, count: 100_001)
        let taken = line.withUnsafeBytes { descriptor.write($0) }
        #expect(taken >= 61_440 && taken <= 65_536)
        #expect(line.withUnsafeBytes { descriptor.write($0) } == 0)
        var octets = [UInt8](repeating: 0, count: 8192)
        #expect(read(ends[0], &octets, octets.count) == 8192)
        #expect(line.withUnsafeBytes { descriptor.write($0) } > 0)
    }
}
