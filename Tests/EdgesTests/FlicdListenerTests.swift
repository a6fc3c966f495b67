import CLinux
import FlicdProtocol
import Glibc
import Hub
import Reactor
import ReactorTestSupport
import Testing

@testable import Edges
@testable import Platform

@Suite("Where clients of flicd connect")
struct FlicdListenerTests {
    @Test("a client that writes no more is heard, answered, and only then closed")
    func halfClosed() async throws {
        try await withReactor {
            let place = try await ListeningPlace()
            let (client, id) = try await place.connect()
            client.send([1, 2, 3])
            client.finish()
            await place.next(.received(id, [1, 2, 3]))
            await place.next(.finished(id))
            place.listener.carryOut(.send(id, [4, 5]))
            place.listener.carryOut(.close(id, isWritten: true))
            #expect(client.readToEnd() == [4, 5])
            place.listener.stop()
        }
    }

    @Test("a client that does not read is reported once and still read; waiting data is written before the end")
    func blocked() async throws {
        try await withReactor {
            let place = try await ListeningPlace()
            let (client, id) = try await place.connect()
            let piece = [UInt8](repeating: 7, count: 64 * 1024)
            var sent = 0
            while place.reports.takeAll().isEmpty, sent < 1000 {
                place.listener.carryOut(.send(id, piece))
                sent += 1
            }
            client.send([9])
            await place.next(.received(id, [9]))
            place.listener.carryOut(.close(id, isWritten: true))
            var count = 0
            while count < sent * piece.count {
                count += client.readWhatIsThere()
                await place.turn()
            }
            #expect(client.readToEnd() == [])
            await place.next(.gone(id))
            place.listener.stop()
        }
    }

    @Test("a paused client is not read; its disconnection is reported when it is resumed")
    func paused() async throws {
        try await withReactor {
            let place = try await ListeningPlace()
            let (client, id) = try await place.connect()
            place.listener.carryOut(.pause(id))
            client.reset()
            let (other, otherID) = try await place.connect()
            other.send([1])
            await place.next(.received(otherID, [1]))
            #expect(place.reports.takeAll().isEmpty)
            place.listener.carryOut(.resume(id))
            await place.next(.gone(id))
            other.reset()
            place.listener.stop()
        }
    }

    @Test("there are at most twice as many connections as clients, and a closed one makes room for another")
    func bound() async throws {
        try await withReactor {
            let place = try await ListeningPlace()
            var clients: [SocketClient] = []
            for number in 1...FlicdListener.maximumConnections {
                clients.append(try await place.connect(from: "127.0.1.\(number)").client)
            }
            let refused = SocketClient(port: place.port)
            while refused.isOpen { await place.turn() }
            clients.removeFirst().reset()
            await place.next(.gone(FlicdServer.ClientID(rawValue: 1)))
            clients.append(try await place.connect().client)
            for client in clients { client.reset() }
            place.listener.stop()
        }
    }

    @Test("of a flood from twenty clients, one turn of the loop takes no more than the budget")
    func flood() async throws {
        try await withReactor {
            let turns = OctetsPerTurn()
            let place = try await ListeningPlace { if case .received(_, let octets) = $0 { turns.add(octets.count) } }
            let flood = [UInt8](repeating: 7, count: 32 * 1024)
            var clients: [SocketClient] = []
            for number in 1...20 {
                let (client, id) = try await place.connect(from: "127.0.1.\(number)")
                place.listener.carryOut(.pause(id))
                client.send(flood)
                clients.append(client)
            }
            for number in 1...20 { place.listener.carryOut(.resume(.init(rawValue: UInt64(number)))) }
            while turns.all < clients.count * flood.count { await place.turn() }
            // The last portion may begin just before the budget is used up.
            #expect(turns.most > 16 * 1024 && turns.most < TurnBudget.octets + 4 * 1024, "\(turns.most)")
            for client in clients { client.reset() }
            place.listener.stop()
        }
    }

    @Test("connections of one address leave half of the places for others")
    func share() async throws {
        try await withReactor {
            let place = try await ListeningPlace()
            var clients: [SocketClient] = []
            for _ in 0..<FlicdListener.maximumConnections / 2 { clients.append(try await place.connect().client) }
            let refused = SocketClient(port: place.port)
            while refused.isOpen { await place.turn() }
            clients.append(try await place.connect(from: "127.0.1.1").client)
            clients.removeFirst().reset()
            await place.next(.gone(FlicdServer.ClientID(rawValue: 1)))
            clients.append(try await place.connect().client)
            for client in clients { client.reset() }
            place.listener.stop()
        }
    }
}

/// Counts what arrives in each turn of the loop.
@ReactorActor
private final class OctetsPerTurn {
    private(set) var all = 0
    /// In one turn of the loop.
    private(set) var most = 0
    private var current = 0
    private var turn: UInt64 = 0

    func add(_ count: Int) {
        if turn != EventLoop.shared.turn { (turn, current) = (EventLoop.shared.turn, 0) }
        all += count
        current += count
        most = max(most, current)
    }
}

/// A listener on the loopback, and what it reports.
@ReactorActor
private final class ListeningPlace {
    let reports = Happenings<FlicdReport>()
    let listener: FlicdListener
    let port = freePort()

    /// - Parameter observe: is called with each report at once.
    init(_ observe: @escaping @ReactorActor (FlicdReport) -> Void = { _ in }) async throws {
        let reports = reports
        listener = FlicdListener(loop: .shared, host: "127.0.0.1", port: port) {
            observe($0)
            reports.add($0)
        }
        listener.carryOut(.listen)
        await next(.listening("127.0.0.1:\(port)", warning: nil))
    }

    func connect(from host: String? = nil) async throws -> (client: SocketClient, id: FlicdServer.ClientID) {
        let client = SocketClient(port: port, from: host)
        let id = await reports.next { if case .connected(let id, _) = $0 { id } else { nil } }
        return (client, id)
    }

    /// The loop comes round once.
    func turn() async {
        await withCheckedContinuation { continuation in EventLoop.shared.onNextTurn { continuation.resume() } }
    }

    func next(_ report: FlicdReport) async { await reports.next { $0 == report ? () : nil } }
}

/// A client's socket. It waits where it reads to the end, ten seconds at most.
private struct SocketClient {
    private let descriptor: Int32

    init(port: UInt16, from host: String? = nil) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        if let host, case .success(let addresses) = SocketAddress.resolve(host: host, port: 0) {
            _ = addresses.first?.bind(descriptor)
        }
        if case .success(let addresses) = SocketAddress.resolve(host: "127.0.0.1", port: port) {
            _ = addresses.first?.connect(descriptor)
        }
    }

    func send(_ octets: [UInt8]) { #expect(Glibc.send(descriptor, octets, octets.count, 0) == octets.count) }

    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    var isOpen: Bool {
        var octet: UInt8 = 0
        return recv(descriptor, &octet, 1, Int32(MSG_DONTWAIT | MSG_PEEK)) != 0
    }

    func readWhatIsThere() -> Int {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        return max(0, recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)))
    }

    /// Reads until the peer has closed, then closes the socket. `nil`: the peer does not close.
    func readToEnd() -> [UInt8]? {
        var octets: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else {
                close(descriptor)
                return count == 0 ? octets : nil
            }
            octets += buffer.prefix(count)
        }
    }

    /// Closes without a word.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        close(descriptor)
    }
}
