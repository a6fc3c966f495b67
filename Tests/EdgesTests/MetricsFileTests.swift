import DiskTestSupport
import Glibc
import Reactor
import ReactorTestSupport
import Testing

@testable import Edges

@Suite("The file for Prometheus")
struct MetricsFileTests {
    @ReactorActor
    private static func finish(_ file: MetricsFile) async {
        await withCheckedContinuation { done in file.finish { done.resume() } }
    }

    @Test("everybody may read it, whatever stood there under either name; nothing else is left")
    func file() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/tryck.prom"
        writeFile(directory.path + "/other", Array("mine".utf8))
        #expect(symlink("other", path + ".tmp") == 0)
        writeFile(path, Array("old".utf8))
        let said = try await withReactor {
            var said: [String] = []
            let file = MetricsFile(loop: .shared, path: path) { said.append($0) }
            file.write(Array("tryck_up 1\n".utf8))
            await Self.finish(file)
            return said
        }
        #expect(said == [])
        #expect(readFile(path) == Array("tryck_up 1\n".utf8))
        #expect(mode(of: path) == 0o644)
        #expect(readFile(directory.path + "/other") == Array("mine".utf8))
        #expect(mode(of: path + ".tmp") == nil)
    }

    /// All of one octet, and as long as no other.
    private static func text(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: 20_000 + number) }

    @Test("a reader finds a whole file at every moment; what is overtaken is not written")
    func whole() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/tryck.prom"
        writeFile(path, Self.text(0))
        let (lengths, last) = try await withReactor {
            let file = MetricsFile(loop: .shared, path: path) { _ in }
            let reading = Happenings<[Int?]>()
            EventLoop.shared.offload {
                (0..<500).map { _ in
                    let octets = readFile(path)
                    return octets.first.map { Self.text(Int($0)) } == octets ? octets.count : nil
                }
            } then: {
                reading.add($0)
            }
            for number in 1...120 {
                file.write(Self.text(number))
                if number % 3 == 0 { await Self.finish(file) }
            }
            return (await reading.next(), readFile(path))
        }
        #expect(lengths.count == 500 && !lengths.contains(nil))
        #expect(last == Self.text(120))
    }

    @Test("what is wrong is said once with what to do, and once when it is well again, without being asked")
    func failure() async throws {
        let directory = TemporaryDirectory()
        let place = directory.path + "/new"
        let path = place + "/tryck.prom"
        let said = try await withReactor {
            let said = Happenings<String>()
            let file = MetricsFile(loop: .shared, path: path, retryDelay: 10_000_000) { said.add($0) }
            file.write([1])
            let first = await said.next()
            file.write([2])
            file.write([3])
            await Self.finish(file)
            #expect(said.takeAll() == [])
            #expect(mkdir(place, 0o700) == 0)
            file.write([4])
            return [first, await said.next()]
        }
        #expect(
            said == [
                "the metrics file \(path) cannot be written: No such file or directory; "
                    + "create the directory \(place), or set another path in metrics.textfile",
                "\(path) can be written again",
            ])
        #expect(readFile(path) == [4])
    }

    @Test("it is tried again by itself")
    func again() async throws {
        let directory = TemporaryDirectory()
        let place = directory.path + "/new"
        try await withReactor {
            let said = Happenings<String>()
            let file = MetricsFile(loop: .shared, path: place + "/x.prom", retryDelay: 10_000_000) { said.add($0) }
            file.write([7])
            _ = await said.next()
            #expect(mkdir(place, 0o700) == 0)
            #expect(await said.next() == "\(place)/x.prom can be written again")
            withExtendedLifetime(file) {}
        }
        #expect(readFile(place + "/x.prom") == [7])
    }

    @Test("a directory of that name is no file")
    func directory() async throws {
        let directory = TemporaryDirectory()
        let said = try await withReactor {
            let said = Happenings<String>()
            let file = MetricsFile(loop: .shared, path: directory.path) { said.add($0) }
            file.write([1])
            defer { withExtendedLifetime(file) {} }
            return await said.next()
        }
        #expect(said.hasSuffix("cannot be written: Is a directory; set metrics.textfile to the path of a file"))
        #expect(mode(of: directory.path + ".tmp") == nil)
    }
}
