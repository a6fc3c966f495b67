import CLinux
import Glibc
package import JSON
import Platform
package import Reactor

/// A connection to a running daemon's control socket: one JSON object for each line, in both directions.
@ReactorActor
package final class ControlConnection {
    package enum Event: Sendable {
        case received(JSONValue)
        /// The reason, as a sentence for people. No event comes after it.
        case closed(String)
    }

    private let descriptor: Int32
    private let handler: @ReactorActor (Event) -> Void
    private var watch: Watch?
    private var framer = LineFramer(maximumLength: ControlClient.maximumLineLength)
    private var unsent: [UInt8] = []

    /// Connects to the first path at which a daemon listens.
    ///
    /// - Throws: as `ControlSocket.first` does.
    package init(
        _ loop: EventLoop, candidates: [String], _ handler: @escaping @ReactorActor (Event) -> Void
    ) throws(ControlClientFailure) {
        descriptor = try ControlSocket.first(of: candidates, connect: ControlSocket.connect)
        self.handler = handler
        watch = loop.watch(descriptor, .read) { [unowned self] interest in ready(interest) }
    }

    package func send(_ request: JSONValue) {
        guard watch != nil else { return }
        unsent += request.encoded() + [UInt8(ascii: "\n")]
        write()
    }

    package func close() {
        guard let watch else { return }
        watch.cancel()
        self.watch = nil
        Glibc.close(descriptor)
    }

    private func ready(_ interest: IOEvents) {
        if interest.contains(.write) { write() }
        guard interest.contains(.read) || interest.hasHangup else { return }
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        let count = recv(descriptor, &chunk, chunk.count, Int32(MSG_DONTWAIT))
        if count > 0 {
            take(Array(chunk.prefix(count)))
        } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
            end("The daemon has closed the connection; see its log for the reason.")
        }
    }

    private func take(_ octets: [UInt8]) {
        framer.append(octets)
        do throws(LineTooLong) {
            while watch != nil, let line = try framer.next() {
                guard let value = try? JSONValue(parsing: line) else {
                    return end("The daemon sent a line that is not JSON. Is another program listening on its socket?")
                }
                handler(.received(value))
            }
        } catch {
            end("The daemon sent a line longer than \(ControlClient.maximumLineLength) octets. Please report this.")
        }
    }

    private func write() {
        while !unsent.isEmpty {
            let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
            let count = unsent.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, flags) }
            if count > 0 {
                unsent.removeFirst(count)
            } else if errno != EINTR {
                // The rest is written later. A broken connection is reported when it is read.
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
}
