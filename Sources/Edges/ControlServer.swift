import ButtonModel
import CLinux
import Glibc
package import Hub
import Platform
package import Reactor

/// The reason why there is no control socket.
package enum ControlServerFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another daemon listens there.
    case inUse(path: String)
    /// A file that is not a socket has this path, so it is not removed.
    case notASocket(path: String)
    /// The path of the socket is unusable.
    case unusable(path: String, reason: String)
    /// - Parameter code: an `errno`.
    case system(operation: String, path: String, code: Int32)

    /// True if the file system of the socket is full or read-only, which may change while the daemon runs.
    fileprivate var mayPass: Bool {
        switch self {
        case .inUse, .notASocket, .unusable: false
        case .system(_, _, let code): [EROFS, ENOSPC, EDQUOT].contains(code)
        }
    }

    package var description: String {
        switch self {
        case .inUse(let path): "another tryckd listens on \(path): stop it, or give this one its own `control_socket`"
        case .notASocket(let path): "\(path) is not a socket: remove it, or configure another `control_socket`"
        case .unusable(let path, let reason): "resolving of \(path) failed: \(reason)"
        case .system(let operation, let path, let code): "\(operation) of \(path) failed: \(systemMessage(code))"
        }
    }
}

/// The Unix socket on which the daemon accepts commands, one request or answer per line.
///
/// The file's mode, 0660, and its directory decide who may connect. A client is disconnected if it sends a line longer
/// than `maximumLineLength`, or does not read `OutgoingBuffer.maximumCount` octets. A client above the limits of
/// `ConnectionLimit`, which bounds the clients of each user, gets an error and is disconnected.
///
/// Clients with complete lines take turns, one line each, within the budget of a turn of the loop. Until their lines
/// are handled, nothing more is read from these clients.
@ReactorActor
package final class ControlServer {
    /// The octets of a request without the line feed; enough for a firmware image of 256 KiB in hexadecimal.
    package nonisolated static let maximumLineLength = 640 * 1024
    package nonisolated static let maximumClients = 64

    private static let share = ConnectionLimit(capacity: maximumClients)
    private static let mode: mode_t = 0o660
    private static let backlog: Int32 = 16
    /// Nanoseconds without accepting after the process ran out of descriptors or memory.
    private static let exhaustionPause: Int64 = 1_000_000_000

    private struct Client {
        var connection: StreamConnection
        let user: uid_t
        var framer = LineFramer(maximumLength: ControlServer.maximumLineLength)
        /// True if it is in `waiting`.
        var isWaiting = false
    }

    private let loop: EventLoop
    private let path: String
    private let onRequest: @ReactorActor (Hub.ClientID, [UInt8]) -> Void
    private let onDisconnect: @ReactorActor (Hub.ClientID) -> Void
    /// -1 if there is none.
    private var listener: Int32 = -1
    /// Why nobody can connect: the file system of the socket is full or read-only; `nil` if the server listens.
    package private(set) var fault: ControlServerFailure?
    private var isClosed = false
    /// The socket file; `nil` for an abstract address.
    private var file: FileIdentity?
    private var watch: Watch?
    private var resume: Timer?
    private var clients: [Hub.ClientID: Client] = [:]
    /// Clients that may have sent complete lines that are not handled yet.
    private var waiting: [Hub.ClientID] = []
    private let budget: EdgeBudget
    private lazy var goOn = loop.timer { [unowned self] in handleLines() }
    private var accepted: UInt64 = 0

    /// Begins to listen. A socket file on which no process listens was left by a killed daemon, and is replaced. On a file system that
    /// is full or read-only there is a `fault` until `restoreFile` succeeds.
    ///
    /// - Parameters:
    ///   - onRequest: receives each line without its line feed.
    ///   - onDisconnect: called once for each client that disconnected or was disconnected, except by `close`.
    package init(
        loop: EventLoop, path: String, onRequest: @escaping @ReactorActor (Hub.ClientID, [UInt8]) -> Void,
        onDisconnect: @escaping @ReactorActor (Hub.ClientID) -> Void = { _ in }
    ) throws(ControlServerFailure) {
        self.loop = loop
        budget = EdgeBudget(loop)
        self.path = path
        self.onRequest = onRequest
        self.onDisconnect = onDisconnect
        resume = loop.timer { [unowned self] in watch?.set(.read) }
        do throws(ControlServerFailure) {
            try beginListening()
        } catch {
            guard error.mayPass else { throw error }
            fault = error
        }
    }

    private func beginListening() throws(ControlServerFailure) {
        let replacement = try Self.listen(at: path)
        watch?.cancel()
        if listener >= 0 { Glibc.close(listener) }
        listener = replacement
        file = FileIdentity(path: path)
        watch = loop.watch(listener, .read) { [unowned self] _ in accept() }
        fault = nil
    }

    /// Sends a line, given without its line feed. It is discarded if the client has disconnected.
    package func send(_ line: [UInt8], to client: Hub.ClientID) {
        clients[client]?.connection.send(line + [UInt8(ascii: "\n")])
    }

    /// Listens again if the socket file was deleted or replaced, or could not be created. Connected clients stay connected.
    package func restoreFile() throws(ControlServerFailure) {
        guard !isClosed, fault != nil || !path.hasPrefix("@") && (file == nil || FileIdentity(path: path) != file)
        else {
            return
        }
        try beginListening()
    }

    /// Disconnects all clients and removes the socket file, unless another program has replaced it.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        watch?.cancel()
        watch = nil
        resume?.cancel()
        goOn.cancel()
        if listener >= 0 { Glibc.close(listener) }
        if file != nil, FileIdentity(path: path) == file { unlink(path) }
        for client in clients.values { client.connection.close() }
        clients = [:]
        waiting = []
    }

    // MARK: Clients

    private func accept() {
        let descriptor = linux_accept(listener)
        guard descriptor >= 0 else {
            if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) {
                // The connection stays in the backlog, so the listener stays readable.
                watch?.set([])
                resume?.set(at: loop.nanosecondsSinceBoot + Self.exhaustionPause)
            }
            return
        }
        let user = linux_peer_user(descriptor)
        let held = clients.values.count { $0.user == user }
        guard Self.share.admits(owned: held, total: clients.count) else {
            Self.refuse(descriptor, holding: held)
            return
        }
        accepted += 1
        let id = Hub.ClientID(rawValue: accepted)
        let connection = StreamConnection(loop, descriptor) { [unowned self] event in
            switch event {
            case .received(let octets): received(octets, from: id)
            // A client that shuts down its sending side does not wait for answers.
            case .finished, .ended: drop(id)
            case .blocked, .drained: break
            }
        }
        clients[id] = Client(connection: connection, user: user)
    }

    /// Does not block: a new socket's send buffer has room for the answer.
    private static func refuse(_ descriptor: Int32, holding held: Int) {
        let sentence =
            held > 0
            ? "this user has \(held) connection\(held == 1 ? "" : "s") already; end some of them"
            : "other users have all \(maximumClients) connections; try again later"
        let answer = Array(#"{"status":"error","error":"\#(sentence)","data":{}}"#.utf8) + [UInt8(ascii: "\n")]
        _ = Glibc.send(descriptor, answer, answer.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        Glibc.close(descriptor)
    }

    private func received(_ octets: [UInt8], from id: Hub.ClientID) {
        clients[id]?.framer.append(octets)
        if clients[id]?.isWaiting == false {
            clients[id]?.isWaiting = true
            waiting.append(id)
        }
        handleLines()
    }

    private func handleLines() {
        while let id = waiting.first, budget.allows {
            waiting.removeFirst()
            do throws(LineTooLong) {
                if let line = try clients[id]?.framer.next() {
                    waiting.append(id)
                    budget.spend(line.count)
                    // A request may close its client, or the server.
                    onRequest(id, line)
                } else {
                    clients[id]?.isWaiting = false
                    clients[id]?.connection.setPaused(false)
                }
            } catch {
                drop(id)
            }
        }
        guard !waiting.isEmpty else { return }
        for id in waiting { clients[id]?.connection.setPaused(true) }
        goOn.set(at: 0)
    }

    private func drop(_ id: Hub.ClientID) {
        guard let client = clients.removeValue(forKey: id) else { return }
        client.connection.close()
        onDisconnect(id)
    }

    // MARK: Listening

    private static func listen(at path: String) throws(ControlServerFailure) -> Int32 {
        let address: SocketAddress
        switch SocketAddress.resolve(unixPath: path) {
        case .success(let addresses) where !addresses.isEmpty: address = addresses[0]
        case .success: throw .unusable(path: path, reason: "there is no address")
        case .failure(let unresolved): throw .unusable(path: path, reason: unresolved.reason)
        }
        let listener = try openSocket(path)
        do throws(ControlServerFailure) {
            // The file gets the socket's mode, less the umask, so it is never more accessible than with its final mode.
            fchmod(listener, mode)
            if address.bind(listener) != 0 {
                guard errno == EADDRINUSE else { throw failure("bind", path) }
                try removeStale(path, address)
                guard address.bind(listener) == 0 else { throw failure("bind", path) }
            }
            if !path.hasPrefix("@") {
                guard chmod(path, mode) == 0 else { throw failure("chmod", path) }
            }
            guard Glibc.listen(listener, backlog) == 0 else { throw failure("listen", path) }
        } catch {
            Glibc.close(listener)
            throw error
        }
        return listener
    }

    private static func removeStale(_ path: String, _ address: SocketAddress) throws(ControlServerFailure) {
        do throws(SocketFileObstacle) {
            try address.removeAbandonedFile(at: path)
        } catch {
            switch error {
            case .notASocket: throw .notASocket(path: path)
            case .inUse: throw .inUse(path: path)
            case .system(let operation, let error):
                throw .system(operation: operation, path: path, code: error)
            }
        }
    }

    private static func openSocket(_ path: String) throws(ControlServerFailure) -> Int32 {
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure("socket", path) }
        return descriptor
    }

    private static func failure(_ operation: String, _ path: String) -> ControlServerFailure {
        .system(operation: operation, path: path, code: errno)
    }
}
