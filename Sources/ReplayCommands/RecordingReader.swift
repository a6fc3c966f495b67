import CommandSupport
import Glibc
import Hub
import Platform

/// Reads a recording line by line, so that it need not fit into memory. The sentence of a failure continues after the
/// file's name.
struct RecordingReader: ~Copyable {
    struct Line: Hashable, Sendable {
        /// The first line is 1.
        var number: Int
        /// The line without its end.
        var octets: [UInt8]
        /// True if the line has an end.
        var isWhole: Bool
    }

    private static let chunkLength = 64 * 1024

    private let descriptor: Int32
    private let maximumLineLength: Int
    private var buffer: [UInt8] = []
    private var position = 0
    private var number = 0

    init(_ path: String, maximumLineLength: Int = Recording.maximumLineLength) throws(Failure) {
        self.maximumLineLength = maximumLineLength
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            throw Failure(
                .configuration,
                errno == ENOENT
                    ? "it does not exist. A recording is made with: tryckd --record FILE"
                    : "it cannot be read: \(String(cString: strerror(errno))).")
        }
    }

    deinit { close(descriptor) }

    /// The next line; `nil` at the end of the file.
    mutating func next() throws(Failure) -> Line? {
        var searched = position
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { position = end + 1 }
                return try line(upTo: end, isWhole: true)
            }
            guard buffer.count - position <= maximumLineLength else { throw tooLong }
            buffer.removeFirst(position)
            position = 0
            searched = buffer.count
            guard try fill() else {
                guard !buffer.isEmpty else { return nil }
                defer { position = buffer.count }
                return try line(upTo: buffer.count, isWhole: false)
            }
        }
    }

    private mutating func line(upTo end: Int, isWhole: Bool) throws(Failure) -> Line {
        guard end - position <= maximumLineLength else { throw tooLong }
        number += 1
        return Line(number: number, octets: Array(buffer[position..<end]), isWhole: isWhole)
    }

    private var tooLong: Failure {
        Failure(.configuration, "line \(number + 1): it is longer than the limit for a recording.")
    }

    /// - Returns: false at the end of the file.
    private mutating func fill() throws(Failure) -> Bool {
        var chunk = [UInt8](repeating: 0, count: Self.chunkLength)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw Failure(.configuration, "it cannot be read: \(String(cString: strerror(errno))).")
            }
            buffer += chunk.prefix(count)
            return count > 0
        }
    }
}
