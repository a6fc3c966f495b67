import CLinux
import Glibc
import JSON
import Reactor

/// A conversation with a running daemon: one JSON object a line, both ways.
@ReactorActor
final class ControlConnection {
    enum Event: Sendable {
        case received(JSONValue)
        /// A sentence for people. Nothing comes after it.
        case closed(String)
    }

    private let descriptor: Int32
    private let handler: @ReactorActor (Event) -> Void
    private var watch: Watch?
    private var buffer = LineBuffer()
    private var unsent: [UInt8] = []

    /// Connects to the first place where somebody listens.
    ///
    /// - Throws: `Failure` with status 69.
    init(
        _ loop: EventLoop, candidates: [String], _ handler: @escaping @ReactorActor (Event) -> Void
    ) throws(Failure) {
        descriptor = try Self.connect(candidates)
        self.handler = handler
        watch = loop.watch(descriptor, .read) { [unowned self] interest in ready(interest) }
    }

    func send(_ request: JSONValue) {
        guard watch != nil else { return }
        unsent += request.encoded() + [UInt8(ascii: "\n")]
        write()
    }

    func close() {
        guard let watch else { return }
        watch.cancel()
        self.watch = nil
        Glibc.close(descriptor)
    }

    private func ready(_ interest: Interest) {
        if interest.contains(.write) { write() }
        guard interest.contains(.read) || interest.hasHangup else { return }
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        let count = recv(descriptor, &chunk, chunk.count, Int32(MSG_DONTWAIT))
        if count > 0 {
            take(chunk.prefix(count))
        } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
            end("The daemon has closed the connection; look into its log for the reason.")
        }
    }

    private func take(_ octets: ArraySlice<UInt8>) {
        guard let lines = try? buffer.append(octets) else {
            return end("The daemon sent a line longer than \(LineBuffer.maximumLength) octets. Please report this.")
        }
        for line in lines where watch != nil {
            guard let value = try? JSONValue(parsing: line) else {
                return end("The daemon sent a line that is not JSON. Is another program listening on its socket?")
            }
            handler(.received(value))
        }
    }

    private func write() {
        while !unsent.isEmpty {
            let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
            let count = unsent.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, flags) }
            if count > 0 {
                unsent.removeFirst(count)
            } else if errno != EINTR {
                // A broken connection shows itself when it is read.
                break
            }
        }
        watch?.set(unsent.isEmpty ? .read : [.read, .write])
    }

    private func end(_ sentence: String) {
        guard watch != nil else { return }
        close()
        handler(.closed(sentence))
    }

    private static func connect(_ candidates: [String]) throws(Failure) -> Int32 {
        var refusal: String?
        for path in candidates {
            var address = sockaddr_un()
            let length = linux_unix_address(&address, path)
            guard length > 0 else { throw Failure(.usage, "\"\(path)\" is too long for a socket; use a shorter path.") }
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { continue }
            let result = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, length) }
            }
            if result == 0 { return descriptor }
            if errno == EACCES {
                refusal = """
                    \(path) is not for you to use. Become a member of the group "tryck" (sudo usermod -aG tryck $USER), \
                    log in again, or use sudo.
                    """
            }
            Glibc.close(descriptor)
        }
        throw Failure(
            .unavailable,
            refusal ?? """
                No daemon answers at \(candidates.joined(separator: " or ")). \
                Start one (systemctl start tryck, or: tryck run), or say where it is with --control-socket.
                """)
    }
}
