import CLinux
import Glibc
import Testing

@testable import Edges
@testable import Platform

@Suite struct ServiceNotifierTests {
    @Test(
        "each thing said is one datagram",
        arguments: ["@tryck-test-notify-\(getpid())", "/tmp/tryck-test-notify-\(getpid())"])
    func datagrams(path: String) throws {
        let manager = try Manager(path)
        let notifier = try #require(ServiceNotifier(socket: path))
        notifier.ready()
        notifier.status("2 buttons\n1 connected")
        notifier.watchdog()
        notifier.stopping()
        #expect(manager.heard() == ["READY=1", "STATUS=2 buttons 1 connected", "WATCHDOG=1", "STOPPING=1"])
    }

    @Test("the watchdog is fed at half of its time")
    func watchdogInterval() throws {
        let path = "@tryck-test-watchdog-\(getpid())"
        let manager = try Manager(path)
        defer { withExtendedLifetime(manager) {} }
        #expect(ServiceNotifier(socket: path, watchdogMicroseconds: 30_000_000)?.watchdogInterval == .seconds(15))
        #expect(try #require(ServiceNotifier(socket: path, watchdogMicroseconds: 0)).watchdogInterval == nil)
        #expect(try #require(ServiceNotifier(socket: path)).watchdogInterval == nil)
    }

    @Test("without a service manager there is no notifier", arguments: ["", "/no/such/socket", "@tryck-test-absent"])
    func absent(path: String) {
        #expect(ServiceNotifier(socket: path) == nil)
    }
}

/// The socket of a service manager.
private final class Manager {
    private let descriptor: Int32
    private let path: String

    init(_ path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        try #require(SocketAddress.resolve(unixPath: path).get()[0].bind(descriptor) == 0)
    }

    func heard() -> [String] {
        var texts: [String] = []
        var octets = [UInt8](repeating: 0, count: 256)
        while case let count = read(descriptor, &octets, octets.count), count > 0 {
            texts.append(String(decoding: octets.prefix(count), as: UTF8.self))
        }
        return texts
    }

    deinit {
        close(descriptor)
        unlink(path)
    }
}
