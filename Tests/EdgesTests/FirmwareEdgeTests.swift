import DiskTestSupport
import Glibc
import Hub
import Reactor
import ReactorTestSupport
import Testing

@testable import Edges

@Suite("Files with firmware")
struct FirmwareEdgeTests {
    @Test(
        "a name says the model and the version",
        arguments: [
            ("flic2-11.bin", FirmwareFile(model: "flic2", version: 11)),
            ("twist-0.bin", FirmwareFile(model: "twist", version: 0)),
            ("0-4294967295.bin", FirmwareFile(model: "0", version: .max)),
            ("abcdefghijklmnop-1.bin", FirmwareFile(model: "abcdefghijklmnop", version: 1)),
        ])
    func names(name: String, file: FirmwareFile) {
        #expect(FirmwareFile(name: name) == file)
    }

    @Test(
        "any other name is none",
        arguments: [
            "flic2-011.bin", "flic2-4294967296.bin", "flic2-.bin", "-11.bin", "flic2.bin", "flic2-11.BIN",
            "Flic2-11.bin",
            "flic2-11", "flic2-11.bin.bin", "flic2-1-1.bin", "flic2--1.bin", "flic2-+1.bin", "flic2-1١.bin",
            "flic2- 1.bin",
            "abcdefghijklmnopq-1.bin", "../flic2-11.bin", "flic2-11.bin\0", "fl\u{69}\u{301}c-1.bin", "",
        ])
    func otherNames(name: String) {
        #expect(FirmwareFile(name: name) == nil)
    }

    @Test("only regular files of a possible size are listed; the others are named")
    func listing() throws {
        let directory = TemporaryDirectory()
        let path = directory.path
        for name in ["flic2-9.bin", "flic2-11.bin", "duo-3.bin", "notes.txt", ".hidden"] {
            writeFile("\(path)/\(name)", [1])
        }
        writeFile("\(path)/twist-1.bin", [UInt8](repeating: 0, count: FirmwareFiles.maximumLength))
        writeFile("\(path)/twist-2.bin", [UInt8](repeating: 0, count: FirmwareFiles.maximumLength + 1))
        writeFile("\(path)/Flic2_11.bin", [1])
        #expect(symlink("flic2-9.bin", "\(path)/flic2-10.bin") == 0)
        #expect(mkfifo("\(path)/flic2-12.bin", 0o600) == 0)
        #expect(mkdir("\(path)/flic2-13.bin", 0o700) == 0)
        let found = FirmwareFiles(in: path)
        #expect(found.files.map(\.name) == ["duo-3.bin", "flic2-9.bin", "flic2-11.bin", "twist-1.bin"])
        let notRegular = "it is not a regular file; put the image itself there"
        #expect(
            found.notices == [
                "\(path)/Flic2_11.bin is ignored: its name is not MODEL-VERSION.bin, as in flic2-11.bin",
                "\(path)/flic2-10.bin is ignored: \(notRegular)",
                "\(path)/flic2-12.bin is ignored: \(notRegular)",
                "\(path)/flic2-13.bin is ignored: \(notRegular)",
                "\(path)/twist-2.bin is ignored: an image has at most 262148 octets",
            ])
    }

    @Test("of a directory with too many entries only a bounded number is read, and a notice says so")
    func bounds() {
        let directory = TemporaryDirectory()
        for version in 1...FirmwareFiles.maximumCount { writeFile("\(directory.path)/flic2-\(version).bin", [1]) }
        #expect(FirmwareFiles(in: directory.path).files.count == FirmwareFiles.maximumCount)
        #expect(FirmwareFiles(in: directory.path).notices == [])
        writeFile("\(directory.path)/flic2-1000.bin", [1])
        let tooMany = FirmwareFiles(in: directory.path)
        #expect(tooMany.files.count == FirmwareFiles.maximumCount)
        #expect(tooMany.notices == ["\(directory.path) has more than 64 firmware files: remove some"])
        for number in 1...FirmwareFiles.maximumEntryCount { writeFile("\(directory.path)/x\(number).bin", []) }
        let filled = FirmwareFiles(in: directory.path)
        #expect(filled.files.count <= FirmwareFiles.maximumCount)
        #expect(filled.notices.count <= 10)
        #expect(filled.notices.contains("\(directory.path) has more than 1024 entries: remove some"))
    }

    @Test("the directory is made, and what is put there or taken away is noticed")
    func changes() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let place = directory.path + "/firmware"
            let happenings = Happenings<FirmwareEdge.Event>()
            let edge = FirmwareEdge(loop: .shared, directory: place) { happenings.add($0) }
            edge.start()
            #expect(mode(of: place) == 0o700)
            #expect(await happenings.next() == .files([]))
            writeFile(place + "/notes.txt", [1])
            writeFile(place + "/flic2-11.bin", [1, 2])
            #expect(await happenings.next() == .files([FirmwareFile(model: "flic2", version: 11)]))
            writeFile(place + "/part", [1])
            rename(place + "/part", place + "/flic2-12.bin")
            #expect(
                await happenings.next()
                    == .files([
                        FirmwareFile(model: "flic2", version: 11), FirmwareFile(model: "flic2", version: 12),
                    ]))
            symlink("flic2-11.bin", place + "/flic2-13.bin")
            guard case .notice = await happenings.next() else { throw Unexpected() }
            unlink(place + "/flic2-11.bin")
            #expect(await happenings.next() == .files([FirmwareFile(model: "flic2", version: 12)]))
            edge.stop()
        }
    }

    @Test("an image is read; what is none is refused with a sentence that says what to do")
    func reading() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path
        let image = (0..<FirmwareFiles.maximumLength).map { UInt8(truncatingIfNeeded: $0) }
        writeFile("\(path)/flic2-1.bin", image)
        writeFile("\(path)/flic2-2.bin", image + [0])
        symlink("flic2-1.bin", "\(path)/flic2-3.bin")
        mkfifo("\(path)/flic2-4.bin", 0o600)
        mkdir("\(path)/flic2-5.bin", 0o700)
        let results = try await withReactor {
            let edge = FirmwareEdge(loop: .shared, directory: path) { _ in }
            var results: [FirmwareReading] = []
            let files =
                (1...6).map { FirmwareFile(model: "flic2", version: $0) } + [FirmwareFile(model: "../x", version: 1)]
            for file in files {
                results.append(
                    await withCheckedContinuation { continuation in
                        edge.read(file) { continuation.resume(returning: $0) }
                    })
            }
            return results
        }
        #expect(
            results == [
                .octets(image),
                .failed(
                    "\(path)/flic2-2.bin is too long for an image, which has at most 262148 octets; download it again."),
                .failed("\(path)/flic2-3.bin is a link; put the image itself there."),
                .failed("\(path)/flic2-4.bin is not a regular file; put the image itself there."),
                .failed("\(path)/flic2-5.bin is not a regular file; put the image itself there."),
                .failed("\(path)/flic2-6.bin does not exist any more; copy it there again."),
                .failed("\(path)/../x-1.bin does not have the name of an image."),
            ])
    }
}
