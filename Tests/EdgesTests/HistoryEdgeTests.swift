import ButtonModel
import DiskTestSupport
import Glibc
import Hub
import JSON
import Reactor
import ReactorTestSupport
import Testing

@testable import Edges

@Suite("The files of a history", .serialized)
struct HistoryEdgeTests {
    /// The octets that the history leaves free, more than any disk has.
    private static let everything = UInt64(1) << 62

    private static func segment(_ number: Int) -> HistorySegment {
        HistorySegment(number: number, length: 0, modifiedAt: UTCTime(milliseconds: 0))
    }

    @Test("lines are written a second later, to files that other users cannot read")
    func later() async throws {
        let directory = TemporaryDirectory()
        let history = directory.path + "/state/history"
        let path = history + "/00000001.jsonl"
        try await withReactor {
            let events = Happenings<HistoryEdge.Event>()
            let edge = HistoryEdge(loop: .shared, directory: history, maximumLength: 1000, leastFree: 0) {
                events.add($0)
            }
            edge.open(Self.segment(1))
            edge.write(["number": 1])
            edge.write(["number": 2])
            #expect(edge.length == 26)
            #expect(mode(of: history) == nil)
            EventLoop.shared.advanceClock(nanoseconds: 1_000_000_000)
            #expect(await events.next() == .written)
            #expect(readFile(path) == Array("{\"number\":1}\n{\"number\":2}\n".utf8))
            edge.write(["number": 3])
            edge.open(Self.segment(2))
            #expect(edge.length == 0)
            edge.write(["number": 4])
            // The end does not wait for the second.
            edge.end()
            edge.write(["number": 5])
            #expect(events.takeAll() == [])
        }
        #expect(readFile(path).count == 39)
        #expect(readFile(history + "/00000002.jsonl") == Array("{\"number\":4}\n".utf8))
        #expect(mode(of: path) == 0o600)
        #expect(mode(of: history) == 0o700)
        #expect(Set(HistoryEdge.segments(in: history).map(\.number)) == [1, 2])
        #expect(Set(HistoryEdge.segments(in: history).map(\.length)) == [39, 13])
    }

    @Test(
        "on a full disk the segment ends with a complete line, one failure is reported, and another segment can begin")
    func fullDisk() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/00000001.jsonl"
        try await withReactor {
            let events = Happenings<HistoryEdge.Event>()
            let edge = HistoryEdge(loop: .shared, directory: directory.path, maximumLength: 1000, leastFree: 0) {
                events.add($0)
            }
            edge.open(Self.segment(1))
            edge.write(["number": 1])
            EventLoop.shared.advanceClock(nanoseconds: 1_000_000_000)
            #expect(await events.next() == .written)
            Self.fillDisk(under: path)
            edge.write(["number": 2])
            edge.write(["number": 3])
            EventLoop.shared.advanceClock(nanoseconds: 1_000_000_000)
            #expect(
                await events.next()
                    == .failed(reason: "\(directory.path): No space left on device", length: 13))
            edge.write(["number": 4])
            edge.open(Self.segment(3))
            edge.write(["number": 5])
            EventLoop.shared.advanceClock(nanoseconds: 1_000_000_000)
            #expect(await events.next() == .written)
            edge.end()
        }
        #expect(readFile(path) == Array("{\"number\":1}\n".utf8))
        #expect(readFile(directory.path + "/00000003.jsonl") == Array("{\"number\":5}\n".utf8))
    }

    @Test("segments are removed although something else failed before")
    func removalAfterFault() async throws {
        let directory = TemporaryDirectory()
        func path(_ number: Int) -> String { "\(directory.path)/0000000\(number).jsonl" }
        for number in 1...4 { writeFile(path(number), "{}\n".utf8) }
        try await withReactor {
            let events = Happenings<HistoryEdge.Event>()
            let edge = HistoryEdge(loop: .shared, directory: directory.path, maximumLength: 100, leastFree: 0) {
                events.add($0)
            }
            @ReactorActor func next() async -> HistoryEdge.Event {
                EventLoop.shared.advanceClock(nanoseconds: 1_000_000_000)
                return await events.next()
            }
            // The disk is full, and the removal is in the same batch as the line that fails.
            edge.open(Self.segment(5))
            #expect(await next() == .written)
            Self.fillDisk(under: path(5))
            edge.write(["number": 1])
            edge.remove(Self.segment(1))
            edge.open(Self.segment(6))
            #expect(await next() == .failed(reason: "\(directory.path): No space left on device", length: 0))
            #expect(mode(of: path(1)) == nil)
            // A reader must see that lines are missing, so a segment that was to follow is not there.
            #expect(mode(of: path(6)) == nil)
            // A line is too long, and the removal waits for the helper thread.
            edge.open(Self.segment(7))
            edge.remove(Self.segment(2))
            edge.write(["text": .string(String(repeating: "a", count: 100))])
            #expect(
                await events.next()
                    == .failed(reason: "a segment would be longer than history_size in tryck.yaml allows", length: 0))
            #expect(mode(of: path(2)) != nil)
            #expect(await next() == .written)
            #expect(mode(of: path(2)) == nil)
            // Segments are also removed while none is open, and when the daemon ends.
            edge.remove(Self.segment(3))
            #expect(await next() == .written)
            #expect(mode(of: path(3)) == nil)
            edge.remove(Self.segment(4))
            edge.end()
            #expect(mode(of: path(4)) == nil)
        }
    }

    @Test("lines keep their order when the daemon ends before a helper thread begins")
    func orderAtTheEnd() {
        let directory = TemporaryDirectory()
        let disk = HistoryDisk(directory.path, leastFree: 0)
        disk.add([.open("00000001.jsonl"), .write(Array("1\n".utf8))])
        disk.add([.write(Array("2\n".utf8)), .close])
        #expect(disk.carryOut() == nil)
        // The helper thread comes too late, and has nothing to do.
        #expect(disk.carryOut() == nil)
        #expect(readFile(directory.path + "/00000001.jsonl") == Array("1\n2\n".utf8))
    }

    @Test("many long lines do not wait for a second")
    func long() async throws {
        let directory = TemporaryDirectory()
        let line: JSONValue = ["text": .string(String(repeating: "a", count: 64 << 10))]
        let length = line.encoded().count + 1
        try await withReactor {
            let events = Happenings<HistoryEdge.Event>()
            let edge = HistoryEdge(loop: .shared, directory: directory.path, maximumLength: 64 << 20, leastFree: 0) {
                events.add($0)
            }
            edge.open(Self.segment(1))
            var most = 0
            for _ in 0..<36 {
                edge.write(line)
                most = max(most, edge.waitingLength)
            }
            // A helper thread begins with the line that exceeds the limit, and the others wait until it has written.
            let first = HistoryEdge.longestDelayed / length + 1
            #expect(most == max(first, 36 - first) * length)
            #expect(await events.next() == .written)
            #expect(edge.waitingLength == 0)
            edge.end()
        }
        #expect(readFile(directory.path + "/00000001.jsonl").count == 36 * length)
    }

    @Test("the history leaves space on the disk to others")
    func leastFree() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let events = Happenings<HistoryEdge.Event>()
            let edge = HistoryEdge(
                loop: .shared, directory: directory.path, maximumLength: 1000, leastFree: Self.everything
            ) { events.add($0) }
            edge.open(Self.segment(1))
            edge.write(["number": 1])
            EventLoop.shared.advanceClock(nanoseconds: 1_000_000_000)
            #expect(
                await events.next() == .failed(reason: "\(directory.path): No space left on device", length: 0))
            edge.end()
        }
        #expect(readFile(directory.path + "/00000001.jsonl") == [])
    }

    @Test("a segment that would be too long fails at once")
    func bound() async throws {
        let directory = TemporaryDirectory()
        let events = try await withReactor {
            let events = Happenings<HistoryEdge.Event>()
            let edge = HistoryEdge(loop: .shared, directory: directory.path, maximumLength: 30, leastFree: 0) {
                events.add($0)
            }
            edge.open(Self.segment(1))
            for number in 1...4 { edge.write(["number": .integer(Int64(number))]) }
            edge.end()
            return events.takeAll()
        }
        #expect(
            events == [
                .failed(reason: "a segment would be longer than history_size in tryck.yaml allows", length: 26)
            ])
    }

    @Test(
        "a link in the place of a segment is replaced, and what it points to stays; links and directories are no segments"
    )
    func links() async throws {
        let directory = TemporaryDirectory()
        let target = directory.path + "/target"
        writeFile(target, "mine\n".utf8)
        let path = directory.path + "/00000001.jsonl"
        #expect(symlink(target, path) == 0)
        #expect(mkdir(directory.path + "/00000002.jsonl", 0o700) == 0)
        #expect(HistoryEdge.segments(in: directory.path) == [])
        try await withReactor {
            let edge = HistoryEdge(loop: .shared, directory: directory.path, maximumLength: 100, leastFree: 0) { _ in }
            edge.open(Self.segment(1))
            edge.write(["number": 1])
            edge.end()
        }
        #expect(readFile(target) == Array("mine\n".utf8))
        #expect(readFile(path) == Array("{\"number\":1}\n".utf8))
        HistoryEdge.removeSegments(in: directory.path)
        #expect(mode(of: path) == nil)
        #expect(mode(of: target) != nil)
    }

    /// Replaces the open descriptor of this file with one of `/dev/full`.
    private static func fillDisk(under path: String) {
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
}
