import BluetoothHost
import DiskTestSupport
import Glibc
import Reactor
import ReactorTestSupport
import Testing

@testable import Edges
@testable import Platform

@Suite("The capture of HCI traffic")
struct CaptureFileTests {
    private static let packet: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
    private static let recordLength = 24 + packet.count

    @Test("a packet is in the file after at most a second, and other users may not read the file")
    func file() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/x.btsnoop"
        let outcome: ([UInt8], [UInt8], UInt32)? = await onReactor { run in
            guard let capture = try? CaptureFile(loop: run.loop, path: path, { _ in }) else {
                return run.finish(([], [], 0))
            }
            let begun = (try? FileText(reading: path))?.octets ?? []
            capture.add(Self.packet, .sent)
            capture.add([0x04, 0x10, 0x01, 0x42], .received)
            run.loop.advanceClock(nanoseconds: 1_200_000_000)
            run.after(milliseconds: 0) {
                var status = stat()
                stat(path, &status)
                let octets = (try? FileText(reading: path))?.octets ?? []
                capture.close()
                run.finish((begun, octets, status.st_mode & 0o777))
            }
        }
        #expect(outcome?.0 == BTSnoop.header)
        #expect(outcome?.1.count == 16 + 2 * Self.recordLength)
        #expect(outcome?.1.suffix(4) == [0x04, 0x10, 0x01, 0x42])
        #expect(outcome?.2 == 0o600)
    }

    @Test("closing writes what is left")
    func close() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/x.btsnoop"
        let count: Int? =
            await onReactor { run in
                let capture = try? CaptureFile(loop: run.loop, path: path) { _ in }
                capture?.add(Self.packet, .sent)
                capture?.close()
                capture?.add(Self.packet, .sent)
                run.finish((try? FileText(reading: path))?.octets.count)
            } ?? nil
        #expect(count == 16 + Self.recordLength)
    }

    @Test("at its limit it ends with a whole packet, and says so once")
    func limit() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/x.btsnoop"
        let outcome: (Int, [String])? = await onReactor { run in
            var said: [String] = []
            let capture = try? CaptureFile(loop: run.loop, path: path, limit: 1024 * 1024) { said.append($0) }
            for _ in 0..<50_000 { capture?.add(Self.packet, .sent) }
            run.finish(((try? FileText(reading: path))?.octets.count ?? 0, said))
        }
        #expect(outcome?.0 == 16 + (1024 * 1024 - 16) / Self.recordLength * Self.recordLength)
        #expect(outcome?.1 == ["the capture \(path) has reached 1 MiB and ends here"])
    }

    @Test("a full disk ends it with one sentence")
    func fullDisk() async {
        let said: [String]? = await onReactor { run in
            var said: [String] = []
            let descriptor = open("/dev/full", O_WRONLY | O_CLOEXEC)
            // The header does not fit either, but that failure is reported after the file was opened.
            let capture = CaptureFile(loop: run.loop, path: "x", descriptor: descriptor) { said.append($0) }
            for _ in 0..<5000 { capture.add(Self.packet, .sent) }
            run.finish(said)
        }
        #expect(said == ["the capture x ends here: No space left on device"])
    }

    @Test("a file that is there is neither emptied nor followed", arguments: [false, true])
    func taken(isLink: Bool) async throws {
        let directory = TemporaryDirectory()
        let (path, kept) = (directory.path + "/x", directory.path + "/kept")
        for name in isLink ? [kept] : [path, kept] {
            let descriptor = open(name, O_WRONLY | O_CREAT, 0o644)
            write(descriptor, "kept", 4)
            Glibc.close(descriptor)
        }
        if isLink { symlink(kept, path) }
        let failure: String? = await onReactor { run in
            do throws(CaptureFile.Failure) {
                _ = try CaptureFile(loop: run.loop, path: path) { _ in }
                run.finish("")
            } catch {
                run.finish(error.description)
            }
        }
        #expect(
            failure
                == "\(path) exists already, so nothing is captured: remove it, or specify another file with --capture")
        #expect(try FileText(reading: kept).octets == Array("kept".utf8))
        #expect(try FileText(reading: path).octets == Array("kept".utf8))
        var status = stat()
        stat(kept, &status)
        #expect(status.st_mode & 0o777 == 0o644)
    }

    @Test("a file that cannot be there is refused with the reason")
    func refused() async {
        let failure: String? = await onReactor { run in
            do throws(CaptureFile.Failure) {
                _ = try CaptureFile(loop: run.loop, path: "/no/such/directory/x") { _ in }
                run.finish("")
            } catch {
                run.finish(error.description)
            }
        }
        #expect(failure == "the capture /no/such/directory/x cannot be written: No such file or directory")
    }
}
