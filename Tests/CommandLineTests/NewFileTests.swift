import DiskTestSupport
import Reactor
import ReactorTestSupport
import Testing

@testable import CommandSupport
@testable import Platform

@Suite("Exports on the disk")
struct NewFileTests {
    @Test("when an export is written, its name is on the disk, too", arguments: [false, true])
    func name(isReplacing: Bool) async throws {
        let directory = DiskTestSupport.TemporaryDirectory()
        let disk = WatchedDisk(directory.path)
        try await withReactor {
            disk.begin()
            defer { disk.end() }
            try NewFile(directory.path + "/export", isReplacing: isReplacing).write([1])
            #expect(CutDisk(disk.events).afterCut.keys.sorted() == ["export"])
        }
    }

    @Test("what cannot be synced is said, and a file that was replaced is not taken away")
    func failure() async throws {
        let directory = DiskTestSupport.TemporaryDirectory()
        let disk = WatchedDisk(directory.path)
        try await withReactor {
            let path = directory.path + "/export"
            try NewFile(path).write([1])
            // The first sync is that of the file, the second that of the directory.
            disk.begin(.sync(1))
            defer { disk.end() }
            let failure = #expect(throws: CommandSupport.Failure.self) {
                try NewFile(path, isReplacing: true).write([2])
            }
            #expect(failure?.status == .inputOutput)
            #expect(try FileText(reading: path).octets == [2])
        }
    }
}
