import DiskTestSupport
import Glibc
import Reactor
import ReactorTestSupport
import Testing

@testable import Platform

@Suite("Files that a user wrote")
struct FileTextTests {
    @Test("a FIFO is refused at once, whether its writer stalls or nothing writes to it", arguments: [false, true])
    func fifo(hasWriter: Bool) throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/fifo"
        #expect(mkfifo(path, 0o600) == 0)
        let writer = hasWriter ? open(path, O_RDWR | O_CLOEXEC) : -1
        defer { if hasWriter { close(writer) } }
        #expect(!hasWriter || write(writer, "version: 1\n", 11) == 11)
        #expect(throws: FileText.Failure.unreadable(path, cause: "it is not a regular file")) {
            try FileText(reading: path)
        }
    }

    @Test("with acceptsPipes, a FIFO without a writer is refused at once")
    func emptyPipe() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/fifo"
        #expect(mkfifo(path, 0o600) == 0)
        #expect(throws: FileText.Failure.unreadable(path, cause: "nothing writes to it")) {
            try FileText(reading: path, acceptsPipes: true)
        }
    }

    @Test("with acceptsPipes, a pipe is read to its end")
    func pipe() throws {
        var ends: [Int32] = [-1, -1]
        #expect(Glibc.pipe(&ends) == 0)
        defer { close(ends[0]) }
        #expect(write(ends[1], "abc", 3) == 3)
        close(ends[1])
        #expect(try FileText(reading: "/dev/fd/\(ends[0])", acceptsPipes: true).octets == Array("abc".utf8))
    }

    @Test("a file of 32 MiB is read; one octet more is refused")
    func longest() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/long"
        writeFile(path, [])
        #expect(truncate(path, FileText.maximumLength) == 0)
        #expect(try FileText(reading: path).octets.count == FileText.maximumLength)
        #expect(truncate(path, FileText.maximumLength + 1) == 0)
        #expect(throws: FileText.Failure.tooLong(path)) { try FileText(reading: path) }
    }

    @Test("a directory is refused")
    func isDirectory() {
        let directory = TemporaryDirectory()
        #expect(throws: FileText.Failure.unreadable(directory.path, cause: "it is a directory")) {
            try FileText(reading: directory.path)
        }
    }

    @Test("replacing a file also syncs its directory")
    func replaced() async throws {
        let directory = TemporaryDirectory()
        let disk = WatchedDisk(directory.path)
        try await withReactor {
            disk.begin()
            defer { disk.end() }
            #expect(FileText.write([1, 2], to: directory.path + "/file"))
            #expect(disk.events.suffix(2) == [.syncBegan(""), .synced("")])
            disk.fail(.callsFrom(0, errno: EIO))
            #expect(!FileText.write([3], to: directory.path + "/file"))
        }
    }
}
