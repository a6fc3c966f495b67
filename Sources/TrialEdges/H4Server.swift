import CLinux
import Edges
import Glibc
package import Reactor

/// The controller's end of an `h4:unix:` transport, which serves one host at a time.
@ReactorActor
package final class H4Server {
    private let loop: EventLoop
    private let path: String
    private let received: @ReactorActor ([UInt8]) -> Void
    private var listener: Int32
    private var listenerWatch: Watch?
    private var connection: Int32 = -1
    private var connectionWatch: Watch?
    private var framer = H4Framer()

    /// `nil` when it cannot listen at the path; `errno` then has the reason.
    package init?(loop: EventLoop, path: String, _ received: @escaping @ReactorActor ([UInt8]) -> Void) {
        self.loop = loop
        self.path = path
        self.received = received
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let octets = Array(path.utf8)
        guard listener >= 0 else { return nil }
        guard octets.count < MemoryLayout.size(ofValue: address.sun_path) else {
            Glibc.close(listener)
            errno = ENAMETOOLONG
            return nil
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: octets) }
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isBound, listen(listener, 1) == 0 else { return nil }
        listenerWatch = loop.watch(listener, .read) { [weak self] _ in self?.accepted() }
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
        unlink(path)
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
