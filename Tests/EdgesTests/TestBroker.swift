import CLinux
import DiskTestSupport
import Glibc
import Synchronization
import Testing

/// A real mosquitto on a free port of the loopback, ended by its pid with `stop`.
final class TestBroker: Sendable {
    struct Missing: Error, CustomStringConvertible {
        var description: String { "there is no /usr/sbin/mosquitto: install the package mosquitto to run these tests" }
    }
    struct DidNotStart: Error {
        var log: String
    }

    let port: UInt16
    private let process: pid_t
    private let log: Int32
    private let isStopped = Atomic(false)

    /// - Parameter settings: of the listener and the broker, one a line.
    init(_ settings: String = "allow_anonymous true", port: UInt16? = nil, in directory: TemporaryDirectory) throws {
        guard access("/usr/sbin/mosquitto", X_OK) == 0 else { throw Missing() }
        self.port = port ?? freePort()
        let configuration = directory.path + "/mosquitto-\(self.port).conf"
        let user = geteuid() == 0 ? "user root" : ""
        writeFile(
            configuration,
            "listener \(self.port) 127.0.0.1\nset_tcp_nodelay true\n\(user)\nlog_dest stderr\n\(settings)\n".utf8)
        let (process, log) = try startLogged(["/usr/sbin/mosquitto", "-c", configuration])
        self.process = process
        self.log = log
        // The broker prints a line when it listens.
        var said: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while !String(decoding: said, as: UTF8.self).contains(" running") {
            let count = read(log, &chunk, chunk.count)
            guard count > 0 else {
                waitpid(process, nil, 0)
                throw DidNotStart(log: String(decoding: said, as: UTF8.self))
            }
            said += chunk.prefix(count)
        }
    }

    /// Every test calls this: `deinit` may come after the end of the test process.
    func stop() {
        guard !isStopped.exchange(true, ordering: .relaxed) else { return }
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }

    /// Stops the process of the broker, so that it does not answer.
    func freeze() { kill(process, SIGSTOP) }

    deinit {
        stop()
        close(log)
    }
}

/// Starts a program, its standard error on a pipe.
func startLogged(_ arguments: [String]) throws -> (pid_t, log: Int32) {
    var ends: [Int32] = [-1, -1]
    #expect(pipe(&ends) == 0)
    _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
    linux_spawn_closefrom(&actions, 3)
    var process = pid_t()
    var strings = arguments.map { strdup($0) } + [nil]
    defer { for string in strings { free(string) } }
    let failure = posix_spawn(&process, arguments[0], &actions, nil, &strings, linux_environment())
    close(ends[1])
    guard failure == 0 else { throw TestBroker.DidNotStart(log: String(cString: strerror(failure))) }
    return (process, ends[0])
}

/// Runs a program to its end.
func runToEnd(_ arguments: [String]) throws {
    let (process, log) = try startLogged(arguments)
    var said: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while case let count = read(log, &chunk, chunk.count), count > 0 { said += chunk.prefix(count) }
    close(log)
    var status: Int32 = 0
    waitpid(process, &status, 0)
    try #require(status == 0, "\(arguments): \(String(decoding: said, as: UTF8.self))")
}

func freePort() -> UInt16 {
    let (listener, port) = listenOnLoopback()
    close(listener)
    return port
}

/// A listening socket on a port the system chose.
func listenOnLoopback() -> (listener: Int32, port: UInt16) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutableBytes(of: &address) { bytes in
        let generic = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
        precondition(bind(listener, generic, length) == 0 && listen(listener, 16) == 0, "\(errno)")
        precondition(getsockname(listener, generic, &length) == 0)
    }
    return (listener, UInt16(bigEndian: address.sin_port))
}
