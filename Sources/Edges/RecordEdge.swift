import Glibc
import Hub
package import JSON
import Platform
package import Reactor

/// The reason why a recording cannot be written.
package enum RecordFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file has other contents, which must not be changed.
    case notARecording(path: String)
    case notAFile(path: String)
    case system(operation: String, path: String, reason: String)

    package var description: String {
        switch self {
        case .notARecording(let path):
            "\(path) exists and is not a recording: remove it, or specify another file with --record"
        case .notAFile(let path): "\(path) is not a regular file: specify another file with --record"
        case .system(let operation, let path, let reason): "\(operation) of \(path) for --record failed: \(reason)"
        }
    }

    /// The reason without the option that does not matter for a history.
    var reason: String {
        switch self {
        case .notARecording(let path), .notAFile(let path): "\(path) is another file"
        case .system(let operation, let path, let reason): "\(operation) of \(path) failed: \(reason)"
        }
    }
}

/// Writes the recording that `--record` requests.
///
/// Lines of a turn of the loop are written at the beginning of the next turn, without fsync. The kernel keeps them when
/// the process ends for any reason, so at most one turn is lost. An existing recording is continued. The file ends with
/// a complete line, unless the process ended during a write.
///
/// A segment of a history is written by a helper thread, one second after its first line that waits. Up to two seconds are then
/// lost when the process is killed.
@ReactorActor
package final class RecordEdge {
    /// The limit in octets. A recording that would exceed it ends.
    package nonisolated static let maximumLength = 256 * 1024 * 1024
    /// Buffered lines are written at once when they exceed this many octets.
    private static let bufferLength = 64 * 1024
    /// The delay in nanoseconds before a helper thread writes.
    private static let delay: Int64 = 1_000_000_000
    /// The limit in octets for lines that wait while a helper thread is writing.
    private static let maximumWaiting = 4 << 20

    private let loop: EventLoop
    private let path: String
    private let maximumLength: Int
    private let ended: @ReactorActor (String) -> Void
    private var descriptor: Int32
    private var buffer: [UInt8] = []
    /// The length of the file in octets: complete lines, except as in `needsLineEnd`.
    private var length: Int
    /// True if the file ends with an incomplete line, because the previous process ended during a write. A line feed is
    /// added before the next line; the incomplete line stays.
    private var needsLineEnd = false
    /// Starts the helper thread; `nil` if the loop's thread writes.
    private var timer: Timer?
    /// The number of octets that a helper thread is writing.
    private var writing = 0
    /// True if the file is closed when the helper thread has written.
    private var isEnding = false

    /// The length of the file with all lines that wait, in octets.
    package var totalLength: Int { length + writing + buffer.count }

    /// - Parameters:
    ///   - writesLater: true if a helper thread writes, so that a slow disk delays nothing else.
    ///   - ended: called once, with a sentence for users, if the recording ends before `end`.
    package init(
        loop: EventLoop, path: String, maximumLength: Int = maximumLength, writesLater: Bool = false,
        _ ended: @escaping @ReactorActor (String) -> Void
    ) throws(RecordFailure) {
        self.loop = loop
        self.path = path
        self.maximumLength = maximumLength
        self.ended = ended
        let descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw errno == EISDIR
                ? .notAFile(path: path) : .system(operation: "opening", path: path, reason: systemMessage(errno))
        }
        do throws(RecordFailure) {
            length = try Self.examine(descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        needsLineEnd = length > 0 && Self.octets(1, of: descriptor, at: length - 1) != [UInt8(ascii: "\n")]
        if writesLater { timer = loop.timer { [weak self] in self?.writeLater() } }
    }

    package func write(_ line: JSONValue) {
        guard descriptor >= 0 else { return }
        let octets = line.encoded()
        guard octets.count <= Recording.maximumLineLength,
            totalLength + octets.count < maximumLength
        else {
            flush()
            return giveUp("\(path) has reached its maximum length: recording ends")
        }
        if let timer {
            if buffer.isEmpty, writing == 0 { timer.set(at: loop.nanosecondsSinceBoot + Self.delay) }
        } else if buffer.isEmpty {
            loop.onNextTurn { [weak self] in self?.flush() }
        }
        if needsLineEnd { buffer.append(UInt8(ascii: "\n")) }
        needsLineEnd = false
        buffer += octets
        buffer.append(UInt8(ascii: "\n"))
        if timer == nil {
            if buffer.count > Self.bufferLength { flush() }
        } else if buffer.count > Self.maximumWaiting, writing > 0 {
            giveUp("\(path) cannot be written fast enough")
        }
    }

    /// Writes all lines, and closes the file. If a helper thread is writing, it ends later.
    package func end() {
        guard writing == 0 else {
            isEnding = true
            return
        }
        flush()
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
    }

    private func flush() {
        guard descriptor >= 0, writing == 0, !buffer.isEmpty else { return }
        let code = Self.write(buffer, to: descriptor)
        guard code == 0 else { return writeFailed(code) }
        length += buffer.count
        buffer.removeAll(keepingCapacity: true)
    }

    private func writeFailed(_ code: Int32) {
        // An incomplete line is removed, because it could not be replayed.
        ftruncate(descriptor, length)
        giveUp("\(path) cannot be written (\(systemMessage(code))): nothing is recorded from here on")
    }

    private func writeLater() {
        guard descriptor >= 0, writing == 0, !buffer.isEmpty else { return }
        let octets = buffer
        buffer = []
        writing = octets.count
        loop.offload { [descriptor] in
            Self.write(octets, to: descriptor)
        } then: { [self, descriptor] code in
            writing = 0
            // `giveUp` left the file open for the helper thread.
            guard self.descriptor >= 0 else {
                close(descriptor)
                return
            }
            guard code == 0 else { return writeFailed(code) }
            length += octets.count
            if isEnding { return end() }
            if !buffer.isEmpty { timer?.set(at: loop.nanosecondsSinceBoot + Self.delay) }
        }
    }

    /// - Returns: 0, or the `errno` of the failure.
    private nonisolated static func write(_ octets: [UInt8], to descriptor: Int32) -> Int32 {
        var remaining = octets[...]
        while !remaining.isEmpty {
            let count = remaining.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count < 0 ? errno : ENOSPC }
            remaining = remaining.dropFirst(count)
        }
        return 0
    }

    private func giveUp(_ sentence: String) {
        timer?.cancel()
        guard descriptor >= 0 else { return }
        // A helper thread that is writing still uses the descriptor.
        if writing == 0 { close(descriptor) }
        descriptor = -1
        buffer = []
        ended(sentence)
    }

    /// Checks that the descriptor is a regular file that is empty or a recording, and makes it private.
    ///
    /// - Returns: the length of the file.
    private nonisolated static func examine(_ descriptor: Int32, _ path: String) throws(RecordFailure) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw .system(operation: "examination", path: path, reason: systemMessage(errno))
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: path) }
        let beginning = Array("{\"format\":\"\(Recording.format)\"".utf8)
        guard status.st_size == 0 || octets(beginning.count, of: descriptor, at: 0) == beginning else {
            throw .notARecording(path: path)
        }
        guard fchmod(descriptor, 0o600) == 0 else {
            throw .system(operation: "chmod", path: path, reason: systemMessage(errno))
        }
        return status.st_size
    }

    private nonisolated static func octets(_ count: Int, of descriptor: Int32, at offset: Int) -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: count)
        let read = pread(descriptor, &octets, count, offset)
        return Array(octets.prefix(max(0, read)))
    }
}
