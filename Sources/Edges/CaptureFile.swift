package import BluetoothHost
import Glibc
import Platform
package import Reactor

/// Writes all HCI traffic to a file in btsnoop format. If the file cannot be written or becomes too long, this is
/// reported once and capturing ends; nothing else is affected.
@ReactorActor
package final class CaptureFile {
    /// The maximum length in octets: enough for days of presses, or some hours of a search for buttons.
    package nonisolated static let maximumLength = 64 * 1024 * 1024
    /// The octets that are buffered before a write, and the nanoseconds after which they are written in any case.
    nonisolated static let maximumBuffered = 32 * 1024
    private static let longestWait: Int64 = 1_000_000_000

    package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        package var description: String
    }

    private let path: String
    private let loop: EventLoop
    private let limit: Int
    private let ended: @ReactorActor (String) -> Void
    private var descriptor: Int32
    private var length = 0
    private var buffer: [UInt8] = BTSnoop.header
    private var timer: Timer?
    private var isWaiting = false

    /// Creates the file, readable by its owner only. Fails if there is a file or symbolic link with this path.
    ///
    /// - Parameter ended: called once, with a sentence, when capturing ends before `close`.
    package convenience init(
        loop: EventLoop, path: String, limit: Int = maximumLength, _ ended: @escaping @ReactorActor (String) -> Void
    ) throws(Failure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Failure(
                description: errno == EEXIST
                    ? "\(path) exists already, so nothing is captured: remove it, or specify another file with --capture"
                    : "the capture \(path) cannot be written: \(systemMessage(errno))")
        }
        self.init(loop: loop, path: path, descriptor: descriptor, limit: limit, ended)
    }

    /// - Parameter descriptor: the descriptor of a new file, which is closed at the end.
    package init(
        loop: EventLoop, path: String, descriptor: Int32, limit: Int = maximumLength,
        _ ended: @escaping @ReactorActor (String) -> Void
    ) {
        self.path = path
        self.loop = loop
        self.limit = limit
        self.ended = ended
        self.descriptor = descriptor
        timer = loop.timer { [weak self] in self?.flush() }
        flush()
    }

    package func add(_ packet: [UInt8], _ direction: BTSnoop.Direction) {
        guard descriptor >= 0 else { return }
        let record = BTSnoop.record(packet, direction, at: Self.time)
        guard length + buffer.count + record.count <= limit else {
            flush()
            return end("the capture \(path) has reached \(limit / 1024 / 1024) MiB and ends here")
        }
        buffer += record
        guard buffer.count < Self.maximumBuffered else { return flush() }
        guard !isWaiting else { return }
        isWaiting = true
        timer?.set(at: loop.nanosecondsSinceBoot + Self.longestWait)
    }

    /// Writes the buffered packets and closes the file.
    package func close() {
        flush()
        end(nil)
    }

    private func flush() {
        isWaiting = false
        timer?.cancel()
        var remaining = buffer[...]
        buffer.removeAll(keepingCapacity: true)
        while descriptor >= 0, !remaining.isEmpty {
            let count = remaining.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                return end(
                    "the capture \(path) ends here: \(count < 0 ? systemMessage(errno) : "nothing could be written")")
            }
            length += count
            remaining = remaining.dropFirst(count)
        }
    }

    private func end(_ reason: String?) {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
        buffer = []
        timer?.cancel()
        if let reason { ended(reason) }
    }

    private static var time: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}
