import CLinux
import DiskTestSupport
import Glibc
import Reactor
import ReactorTestSupport
import Testing

@testable import Platform
@testable import TrialEdges

@Suite("The socket of simulated buttons")
struct H4ServerTests {
    @Test("a socket file without a listening process is replaced; one with a listener, and other files, are not")
    func abandoned() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/air.sock"
        try await withReactor {
            // A killed simulator leaves a socket file on which no process listens.
            let dead = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            if case .success(let addresses) = SocketAddress.resolve(unixPath: path) { _ = addresses[0].bind(dead) }
            close(dead)
            #expect(access(path, F_OK) == 0)
            let server = try #require(H4Server(loop: .shared, path: path) { _ in })
            #expect(H4Server(loop: .shared, path: path) { _ in } == nil)
            #expect(errno == EADDRINUSE)
            server.close()
            #expect(access(path, F_OK) != 0)

            writeFile(path, "a letter".utf8)
            #expect(H4Server(loop: .shared, path: path) { _ in } == nil)
            #expect(errno == ENOTSOCK)
            #expect(readFile(path) == Array("a letter".utf8))
        }
    }

    @Test("a socket file that another program has put in its place is left there")
    func replaced() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/air.sock"
        try await withReactor {
            let server = try #require(H4Server(loop: .shared, path: path) { _ in })
            unlink(path)
            let later = try #require(H4Server(loop: .shared, path: path) { _ in })
            server.close()
            #expect(access(path, F_OK) == 0)
            later.close()
            #expect(access(path, F_OK) != 0)
        }
    }
}
