import CLinux
import Edges
import Glibc
import Platform
package import Reactor

/// The controller's end of an `h4:unix:` transport, which serves one host at a time.
@ReactorActor
package final class H4Server {
    private let loop: EventLoop
    private let path: String
    private let received: @ReactorActor ([UInt8]) -> Void
    private var listener: Int32
    /// The socket file.
    private var file: FileIdentity?
    private var listenerWatch: Watch?
    private var connection: Int32 = -1
    private var connectionWatch: Watch?
    private var framer = H4Framer()

    /// Begins to listen. A socket file on which no process listens was left by a killed program, and is replaced.
    ///
    /// `nil` when it cannot listen at the path; `errno` then has the reason: `EADDRINUSE` if another process listens there, and
    /// `ENOTSOCK` if another file is there.
    package init?(loop: EventLoop, path: String, _ received: @escaping @ReactorActor ([UInt8]) -> Void) {
        self.loop = loop
        self.path = path
        self.received = received
        listener = -1
        guard case .success(let addresses) = SocketAddress.resolve(unixPath: path), let address = addresses.first else {
            errno = ENAMETOOLONG
            return nil
        }
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { return nil }
        guard Self.bind(listener, to: address, path), listen(listener, 1) == 0 else {
            let failure = errno
            Glibc.close(listener)
            errno = failure
            return nil
        }
        file = FileIdentity(path: path)
        listenerWatch = loop.watch(listener, .read) { [weak self] _ in self?.accepted() }
    }

    /// - Returns: false if it failed for the reason in `errno`.
    private static func bind(_ listener: Int32, to address: SocketAddress, _ path: String) -> Bool {
        if address.bind(listener) == 0 { return true }
        guard errno == EADDRINUSE else { return false }
        do throws(SocketFileObstacle) {
            try address.removeAbandonedFile(at: path)
        } catch {
            errno =
                switch error {
                case .notASocket: ENOTSOCK
                case .inUse: EADDRINUSE
                case .system(_, let error): error
                }
            return false
        }
        return address.bind(listener) == 0
    }

    package func send(_ packet: [UInt8]) {
        guard connection >= 0 else { return }
        _ = packet.withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    package func close() {
        hangUp()
        listenerWatch?.cancel()
        if listener >= 0 { Glibc.close(listener) }
        listener = -1
        // Another program may have replaced the file.
        if file != nil, FileIdentity(path: path) == file { unlink(path) }
    }

    private func accepted() {
        hangUp()
        connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        framer = H4Framer()
        connectionWatch = loop.watch(connection, .read) { [weak self] _ in self?.readable() }
    }

    private func readable() {
        var chunk = [UInt8](repeating: 0, count: 4096)
        let count = read(connection, &chunk, chunk.count)
        guard count > 0 else { return hangUp() }
        framer.append(Array(chunk[..<count]))
        while let packet = try? framer.next() { received(packet) }
    }

    private func hangUp() {
        connectionWatch?.cancel()
        connectionWatch = nil
        if connection >= 0 { Glibc.close(connection) }
        connection = -1
    }
}
