import CLinux
import Glibc
package import JSON
import Platform

/// The reason why a command has no answer.
package enum ControlClientFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no socket at the path, or no process listens on it.
    case notRunning(path: String)
    case notPermitted(path: String)
    /// The daemon closed the connection: it was stopped, or has too many clients.
    case closed
    case timedOut
    /// The line is longer than `ControlClient.maximumLineLength`.
    case lineTooLong
    case system(operation: String, reason: String)

    package var description: String {
        switch self {
        case .notRunning(let path): "no tryckd listens on \(path): start it with `systemctl start tryck` or `tryck run`"
        case .notPermitted(let path):
            "you have no permission to use \(path): run `sudo usermod -aG tryck $USER` and log in again"
        case .closed: "tryckd closed the connection: it was stopped, or has too many clients"
        case .timedOut: "tryckd did not answer in time"
        case .lineTooLong: "tryckd sent a line that is too long"
        case .system(let operation, let reason): "\(operation) failed: \(reason)"
        }
    }
}

/// A client of the control socket, for a command that has nothing else to do: the package's calls block. On the event loop,
/// `ControlConnection` calls those that do not.
package final class ControlClient {
    /// The limit in octets for a line, which is the limit of the server's buffer for a client.
    package static let maximumLineLength = OutgoingBuffer.maximumCount

    package let descriptor: Int32
    private var framer = LineFramer(maximumLength: maximumLineLength)
    /// Lines or the rest of a line that the socket has not taken yet.
    private var unsent: [UInt8] = []

    /// - Parameter timeLimit: how long a daemon may take to accept the connection; `nil`: without limit.
    package init(path: String, connectingWithin timeLimit: Duration? = nil) throws(ControlClientFailure) {
        descriptor = try ControlSocket.connect(path, within: timeLimit)
    }

    deinit { Glibc.close(descriptor) }

    /// Sends a request, and waits for its answer.
    ///
    /// - Parameter timeLimit: how long the answer may take.
    /// - Returns: `nil` if the answer is not JSON.
    package func ask(_ request: JSONValue, within timeLimit: Duration) throws(ControlClientFailure) -> JSONValue? {
        try send(request.encoded())
        let line = try readLine(timeout: timeLimit)
        return try? JSONValue(parsing: line)
    }

    /// Sends a line, given without its line feed.
    package func send(_ line: [UInt8]) throws(ControlClientFailure) {
        enqueue(line)
        defer { unsent = [] }
        _ = try sendEnqueued(isBlocking: true)
    }

    /// Waits for the next line, and returns it without its line feed.
    ///
    /// - Parameter timeout: how long to wait for the line; `nil`: without limit.
    package func readLine(timeout: Duration? = nil) throws(ControlClientFailure) -> [UInt8] {
        let deadline = timeout.map { ContinuousClock.now + $0 }
        while true {
            if let line = try nextLine() { return line }
            try waitUntilReadable(deadline)
            try receive(isBlocking: true)
        }
    }

    /// Adds a line, given without its line feed, to those that `sendEnqueued` sends.
    func enqueue(_ line: [UInt8]) { unsent += line + [UInt8(ascii: "\n")] }

    /// Sends the enqueued lines.
    ///
    /// - Parameter isBlocking: false: only as much as the socket takes at once.
    /// - Returns: whether everything is sent, which is always so if the call blocks.
    func sendEnqueued(isBlocking: Bool = false) throws(ControlClientFailure) -> Bool {
        let flags = Int32(MSG_NOSIGNAL) | (isBlocking ? 0 : Int32(MSG_DONTWAIT))
        while !unsent.isEmpty {
            let count = unsent.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, flags) }
            if count > 0 {
                unsent.removeFirst(count)
            } else if errno == EPIPE || errno == ECONNRESET {
                throw .closed
            } else if errno == EAGAIN {
                if isBlocking { throw .timedOut }
                return false
            } else if errno != EINTR {
                throw .system(operation: "sending", reason: systemMessage(errno))
            }
        }
        return true
    }

    /// Reads once, for `nextLine`.
    ///
    /// - Parameter isBlocking: false: reads only what has arrived, which may be nothing.
    func receive(isBlocking: Bool = false) throws(ControlClientFailure) {
        var octets = [UInt8](repeating: 0, count: 64 * 1024)
        let count = recv(descriptor, &octets, octets.count, isBlocking ? 0 : Int32(MSG_DONTWAIT))
        if count > 0 {
            framer.append(Array(octets.prefix(count)))
        } else if count == 0 || errno == ECONNRESET {
            throw .closed
        } else if errno != EAGAIN, errno != EINTR {
            throw .system(operation: "reading", reason: systemMessage(errno))
        }
    }

    /// The next line that was received completely, without its line feed; `nil` if there is none.
    func nextLine() throws(ControlClientFailure) -> [UInt8]? {
        do throws(LineTooLong) {
            return try framer.next()
        } catch {
            throw .lineTooLong
        }
    }

    private func waitUntilReadable(_ deadline: ContinuousClock.Instant?) throws(ControlClientFailure) {
        guard let deadline else { return }
        while true {
            // Rounded up, so that `poll` does not return just before the deadline and have to be called again.
            let rest = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&request, 1, Int32(min(max(rest.rounded(.up), 0), 1e9)))
            if ready > 0 { return }
            if ready == 0, ContinuousClock.now >= deadline { throw .timedOut }
            if ready < 0, errno != EINTR {
                throw .system(operation: "waiting", reason: systemMessage(errno))
            }
        }
    }
}
