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
}

/// Writes the recording that `--record` requests.
///
/// Lines of a turn of the loop are written at the end of the next turn, without fsync. The kernel keeps them when the
/// process ends for any reason, so at most two turns are lost. An existing recording is continued. The file ends with
/// a complete line, unless the process ended during a write.
@ReactorActor
package final class RecordEdge {
    /// The limit in octets. A recording that would exceed it ends.
    package nonisolated static let maximumLength = 256 * 1024 * 1024
    /// Buffered lines are written at once when they exceed this many octets.
    private static let bufferLength = 64 * 1024

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

    /// - Parameter ended: called once, with a sentence for users, if the recording ends before `end`.
    package init(
        loop: EventLoop, path: String, maximumLength: Int = maximumLength,
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
    }

    package func write(_ line: JSONValue) { write(line.encoded()) }

    /// - Parameter octets: a line without its line feed.
    package func write(_ octets: [UInt8]) {
        guard descriptor >= 0 else { return }
        guard octets.count <= Recording.maximumLineLength,
            length + buffer.count + octets.count < maximumLength
        else {
            flush()
            return giveUp("\(path) has reached its maximum length: recording ends")
        }
        if buffer.isEmpty { loop.onNextTurn { [weak self] in self?.flush() } }
        if needsLineEnd { buffer.append(UInt8(ascii: "\n")) }
        needsLineEnd = false
        buffer += octets
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count > Self.bufferLength { flush() }
    }

    /// Writes all lines, and closes the file.
    package func end() {
        flush()
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
    }

    private func flush() {
        guard descriptor >= 0, !buffer.isEmpty else { return }
        var remaining = buffer[...]
        while !remaining.isEmpty {
            let count = remaining.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let reason = count < 0 ? systemMessage(errno) : "nothing was written"
                // An incomplete line is removed, because it could not be replayed.
                ftruncate(descriptor, length)
                return giveUp("\(path) cannot be written (\(reason)): nothing is recorded from here on")
            }
            remaining = remaining.dropFirst(count)
        }
        length += buffer.count
        buffer.removeAll(keepingCapacity: true)
    }

    private func giveUp(_ sentence: String) {
        guard descriptor >= 0 else { return }
        close(descriptor)
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
