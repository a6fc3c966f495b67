import CLinux
import DiskTestSupport
import Glibc
import Hub
import JSON
import Reactor
import ReactorTestSupport
import Testing

@testable import Edges

@Suite("The file of a recording", .serialized)
struct RecordEdgeTests {
    static let header: JSONValue = ["format": .string(Recording.format), "version": 1]

    @Test("lines are written in the next turn of the loop, to a file that other users cannot read")
    func turn() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.jsonl"
        try await withReactor {
            let sentences = Happenings<String>()
            let edge = try RecordEdge(loop: .shared, path: path) { sentences.add($0) }
            edge.write(RecordEdgeTests.header)
            edge.write(["input": "start"])
            #expect(readFile(path) == [])
            await nextTurn()
            #expect(readFile(path) == Array("\(RecordEdgeTests.header)\n{\"input\":\"start\"}\n".utf8))
            edge.write(["input": "stop"])
            edge.end()
            #expect(readFile(path).split(separator: 0x0A).count == 3)
            edge.write(["input": "late"])
            await nextTurn()
            #expect(readFile(path).split(separator: 0x0A).count == 3)
            #expect(sentences.takeAll().isEmpty)
        }
        #expect(mode(of: path) == 0o600)
    }

    @Test("many octets are written immediately")
    func much() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.jsonl"
        try await withReactor {
            let edge = try RecordEdge(loop: .shared, path: path) { _ in }
            edge.write(["x": .string(String(repeating: "x", count: 70_000))])
            #expect(readFile(path).count > 70_000)
            edge.end()
        }
    }

    @Test("an existing recording is continued, also after an incomplete line", arguments: ["\n", "\n{\"at_"])
    func continued(end: String) async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.jsonl"
        let before = "\(RecordEdgeTests.header)" + end
        writeFile(path, before.utf8, mode: 0o644)
        try await withReactor {
            let edge = try RecordEdge(loop: .shared, path: path) { _ in }
            edge.write(RecordEdgeTests.header)
            edge.end()
        }
        let separator = end.hasSuffix("\n") ? "" : "\n"
        #expect(String(decoding: readFile(path), as: UTF8.self) == before + separator + "\(RecordEdgeTests.header)\n")
        #expect(mode(of: path) == 0o600)
    }

    @Test("a file that is not a recording is not changed")
    func another() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/rules.yaml"
        writeFile(path, "version: 1\n".utf8, mode: 0o644)
        try await withReactor {
            #expect(throws: RecordFailure.notARecording(path: path)) {
                try RecordEdge(loop: .shared, path: path) { _ in }
            }
            for path in ["/dev/null", directory.path] {
                #expect(throws: RecordFailure.notAFile(path: path)) {
                    try RecordEdge(loop: .shared, path: path) { _ in }
                }
            }
            let missing = directory.path + "/x/y"
            #expect(
                throws: RecordFailure.system(operation: "opening", path: missing, reason: "No such file or directory")
            ) {
                try RecordEdge(loop: .shared, path: missing) { _ in }
            }
        }
        #expect(readFile(path) == Array("version: 1\n".utf8))
        #expect(mode(of: path) == 0o644)
    }

    @Test("a recording of the maximum length ends with a complete line, and one sentence is reported")
    func bound() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.jsonl"
        let sentences = try await withReactor {
            let sentences = Happenings<String>()
            let edge = try RecordEdge(loop: .shared, path: path, maximumLength: 64) { sentences.add($0) }
            for number in 0..<20 { edge.write(["number": .integer(Int64(number + 10))]) }
            await nextTurn()
            edge.end()
            return sentences.takeAll()
        }
        #expect(sentences == ["\(path) has reached its maximum length: recording ends"])
        // Each line has 14 octets, with its line feed.
        #expect(readFile(path).count == 56)
        #expect(readFile(path).last == 0x0A)
    }

    @Test("on a full disk the recording ends with a complete line, and one sentence is reported")
    func fullDisk() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.jsonl"
        let sentences = try await withReactor {
            let sentences = Happenings<String>()
            let edge = try RecordEdge(loop: .shared, path: path) { sentences.add($0) }
            edge.write(["number": 1])
            await nextTurn()
            fillDisk(under: path)
            edge.write(["number": 2])
            await nextTurn()
            edge.write(["number": 3])
            await nextTurn()
            edge.end()
            return sentences.takeAll()
        }
        #expect(
            sentences == ["\(path) cannot be written (No space left on device): nothing is recorded from here on"])
        #expect(readFile(path) == Array("{\"number\":1}\n".utf8))
    }

    /// Replaces the open descriptor of this file with one of `/dev/full`.
    private nonisolated func fillDisk(under path: String) {
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        for descriptor in Int32(3)..<1024 {
            var target = [CChar](repeating: 0, count: 4096)
            let count = readlink("/proc/self/fd/\(descriptor)", &target, target.count)
            guard count > 0, String(decoding: target[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) == path
            else { continue }
            dup2(full, descriptor)
        }
    }

    @ReactorActor
    private func nextTurn() async {
        await withCheckedContinuation { continuation in EventLoop.shared.onNextTurn { continuation.resume() } }
    }
}
