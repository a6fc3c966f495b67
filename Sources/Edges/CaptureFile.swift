package import BluetoothHost
import Glibc
import Platform
package import Reactor

/// All HCI traffic into a file, as `BTSnoop` has it. Nothing depends on it: when the file cannot be written any more,
/// or has become too long, that is said once and the rest is not captured.
@ReactorActor
package final class CaptureFile {
    /// What is captured at most: days of presses, or some hours of a search for buttons.
    package nonisolated static let maximumLength = 64 * 1024 * 1024
    /// What waits for the disk at most, and how long.
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

    /// Begins a new file, readable by its owner only. What is there already, a link included, stays as it is.
    ///
    /// - Parameter ended: told once, in a sentence, when nothing more is captured.
    package convenience init(
        loop: EventLoop, path: String, limit: Int = maximumLength, _ ended: @escaping @ReactorActor (String) -> Void
    ) throws(Failure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Failure(
                description: errno == EEXIST
                    ? "\(path) is there already: nothing is captured. Remove it, or name another with --capture"
                    : "the capture \(path) cannot be written: \(describe(errno))")
        }
        self.init(loop: loop, path: path, descriptor: descriptor, limit: limit, ended)
    }

    /// - Parameter descriptor: of a new file; it is closed at the end.
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

    /// What was captured is on file after this.
    package func close() {
        flush()
        end(nil)
    }

    private func flush() {
        isWaiting = false
        timer?.cancel()
        var rest = buffer[...]
        buffer.removeAll(keepingCapacity: true)
        while descriptor >= 0, !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                return end("the capture \(path) ends here: \(count < 0 ? describe(errno) : "nothing more fits")")
            }
            length += count
            rest = rest.dropFirst(count)
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
