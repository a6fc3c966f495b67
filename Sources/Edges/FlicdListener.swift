import ButtonModel
import CLinux
import FlicdProtocol
import Glibc
package import Hub
import Platform
package import Reactor

/// The TCP server for clients of flicd. It reports them to the hub as `FlicdReport` and performs each `FlicdOrder`.
@ReactorActor
package final class FlicdListener {
    /// The maximum number of connections, including those that are closed as soon as everything is written.
    package nonisolated static let maximumConnections = 2 * FlicdServer.maximumClients
    private static let share = ConnectionLimit(capacity: maximumConnections)
    private static let backlog: Int32 = 64
    /// Nanoseconds without accepting after the process ran out of descriptors or memory.
    private static let exhaustionPause: Int64 = 1_000_000_000
    /// A client that vanished would keep its buttons connected. TCP probes a client after this many seconds of silence,
    /// at this interval in seconds, this many times; sent data may be unacknowledged for `userTimeout` milliseconds.
    private static let keepAliveTime: Int32 = 60
    private static let keepAliveInterval: Int32 = 10
    private static let keepAliveCount: Int32 = 3
    private static let userTimeout: Int32 = 30_000

    private let loop: EventLoop
    private let host: String
    private let port: UInt16
    private let report: @ReactorActor (FlicdReport) -> Void
    private var listeners: [(descriptor: Int32, watch: Watch)] = []
    private var resume: Timer?
    private var connections: [FlicdServer.ClientID: StreamConnection] = [:]
    /// The owner of each connection, whose limit it counts against.
    private var owners: [FlicdServer.ClientID: String] = [:]
    private let budget: EdgeBudget
    private var accepted: UInt64 = 0
    private var isStopped = false

    package init(
        loop: EventLoop, host: String, port: UInt16, _ report: @escaping @ReactorActor (FlicdReport) -> Void
    ) {
        self.loop = loop
        budget = EdgeBudget(loop)
        self.host = host
        self.port = port
        self.report = report
        resume = loop.timer { [unowned self] in for listener in listeners { listener.watch.set(.read) } }
    }

    package func carryOut(_ order: FlicdOrder) {
        switch order {
        case .listen: listen()
        case .send(let client, let octets): connections[client]?.send(octets)
        case .pause(let client): connections[client]?.setPaused(true)
        case .resume(let client): connections[client]?.setPaused(false)
        case .close(let client, let isWritten):
            if isWritten, connections[client]?.closeWhenWritten() == false { break }
            connections.removeValue(forKey: client)?.close()
            owners[client] = nil
        }
    }

    package func stop() {
        isStopped = true
        resume?.cancel()
        for (descriptor, watch) in listeners {
            watch.cancel()
            Glibc.close(descriptor)
        }
        listeners = []
        for connection in connections.values { connection.close() }
        connections = [:]
        owners = [:]
    }

    // MARK: Listening

    private func listen() {
        let (host, port) = (host, port)
        loop.offload {
            SocketAddress.resolve(host: host, port: port)
        } then: { [weak self] resolved in
            guard let self, !isStopped, listeners.isEmpty else { return }
            switch resolved {
            case .failure(let unresolved): report(.notListening(sentence(unresolved.reason)))
            case .success(let addresses): listen(at: addresses)
            }
        }
    }

    private func listen(at addresses: [SocketAddress]) {
        var failure = EADDRNOTAVAIL
        var opened: [Int32] = []
        for address in addresses {
            switch Self.open(address, isOneOfSeveral: addresses.count > 1) {
            case .success(let descriptor): opened.append(descriptor)
            case .failure(let error):
                // A failure of one address family is ignored while the other one works, because the machine may have only IPv4 or
                // only IPv6.
                guard error.errno != EADDRINUSE else {
                    for descriptor in opened { Glibc.close(descriptor) }
                    return report(.notListening(sentence(systemMessage(EADDRINUSE) + "; is another flicd running?")))
                }
                failure = error.errno
            }
        }
        guard !opened.isEmpty else { return report(.notListening(sentence(systemMessage(failure)))) }
        for descriptor in opened {
            let watch = loop.watch(descriptor, .read) { [unowned self] _ in accept(from: descriptor) }
            listeners.append((descriptor, watch))
        }
        let isOpen = !addresses.allSatisfy(\.isLoopback)
        report(
            .listening(
                endpoint,
                warning: isOpen
                    ? "flicd.listen: every program that can reach \(endpoint) can pair, delete and listen to buttons without a password"
                    : nil))
    }

    private var endpoint: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    private func sentence(_ reason: String) -> String {
        "flicd.listen: clients cannot be served at \(endpoint): \(reason)."
    }

    private struct SystemFailure: Error {
        var errno: Int32
    }

    private static func open(_ address: SocketAddress, isOneOfSeveral: Bool) -> Result<Int32, SystemFailure> {
        let descriptor = socket(
            address.family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return .failure(SystemFailure(errno: errno)) }
        // The port can be bound while connections of the last run are in TIME_WAIT.
        set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        if address.family == AF_INET6, isOneOfSeveral { set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 1) }
        guard address.bind(descriptor) == 0, Glibc.listen(descriptor, backlog) == 0 else {
            defer { Glibc.close(descriptor) }
            return .failure(SystemFailure(errno: errno))
        }
        return .success(descriptor)
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    // MARK: Clients

    private func accept(from listener: Int32) {
        let descriptor = linux_accept(listener)
        guard descriptor >= 0 else {
            if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) {
                // The connection stays in the backlog, so the listener stays readable.
                for listener in listeners { listener.watch.set([]) }
                resume?.set(at: loop.nanosecondsSinceBoot + Self.exhaustionPause)
            }
            return
        }
        let peer = SocketAddress.peer(of: descriptor)
        let owner = FlicdServer.owner(of: peer)
        guard Self.share.admits(owned: owners.values.count { $0 == owner }, total: connections.count) else {
            Glibc.close(descriptor)
            return
        }
        let tcp = Int32(IPPROTO_TCP)
        Self.set(descriptor, tcp, TCP_NODELAY, 1)
        Self.set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
        Self.set(descriptor, tcp, TCP_KEEPIDLE, Self.keepAliveTime)
        Self.set(descriptor, tcp, TCP_KEEPINTVL, Self.keepAliveInterval)
        Self.set(descriptor, tcp, TCP_KEEPCNT, Self.keepAliveCount)
        Self.set(descriptor, tcp, TCP_USER_TIMEOUT, Self.userTimeout)
        accepted += 1
        let id = FlicdServer.ClientID(rawValue: accepted)
        connections[id] = StreamConnection(loop, descriptor, budget: budget) { [unowned self] event in
            switch event {
            case .received(let octets): report(.received(id, octets))
            case .finished: report(.finished(id))
            case .blocked: report(.blocked(id))
            case .drained: report(.drained(id))
            case .ended:
                connections[id] = nil
                owners[id] = nil
                report(.gone(id))
            }
        }
        owners[id] = owner
        report(.connected(id, peer: peer))
    }
}
