/// Splits the octets that an editor sends into messages: a header with `Content-Length`, an empty line, and the message.
///
/// - Source: Language Server Protocol 3.17, Base Protocol.
package struct MessageFramer: Sendable {
    /// The octets of one message. A longer message is skipped and reported. A file may have 16 MiB, and JSON writes each line end,
    /// quotation mark and backslash of it with two octets.
    static let maximumLength = 33 << 20
    /// The octets of one header. What follows is skipped until a line that begins with `Content-Length`.
    static let maximumHeaderLength = 4096

    package enum Frame: Hashable, Sendable {
        case message([UInt8])
        /// Octets that are not a message were skipped; the reason is a sentence for the editor's log.
        case malformed(String)
    }

    private var buffer: [UInt8] = []
    /// The octets at the beginning of `buffer` that are used up.
    private var start = 0
    /// The length of the message whose header was read.
    private var length: Int?
    /// The octets that are still to be skipped of a message that is too long.
    private var skipped = 0
    /// True after a malformed header, until the next `Content-Length`.
    private var isLost = false

    package init() {}

    package mutating func append(_ octets: [UInt8]) {
        var octets = octets[...]
        let ignored = min(skipped, octets.count)
        skipped -= ignored
        octets.removeFirst(ignored)
        if start > 0, start == buffer.count || start > 1 << 16 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer += octets
    }

    /// The next message, if all its octets are here.
    package mutating func next() -> Frame? {
        if isLost, !findHeader() { return nil }
        if length == nil {
            guard let end = headerEnd() else {
                guard buffer.count - start > MessageFramer.maximumHeaderLength else { return nil }
                return lose("A header is longer than \(MessageFramer.maximumHeaderLength) octets.")
            }
            let header = buffer[start..<end.header]
            guard let length = MessageFramer.contentLength(header) else {
                start = end.next
                return lose("A header has no valid Content-Length.")
            }
            start = end.next
            guard length <= MessageFramer.maximumLength else { return skip(length) }
            self.length = length
        }
        guard let length, buffer.count - start >= length else { return nil }
        defer {
            start += length
            self.length = nil
        }
        return .message(Array(buffer[start..<start + length]))
    }

    private mutating func skip(_ length: Int) -> Frame {
        let here = min(length, buffer.count - start)
        start += here
        skipped = length - here
        return .malformed("A message is longer than \(MessageFramer.maximumLength >> 20) MiB.")
    }

    private mutating func lose(_ reason: String) -> Frame {
        isLost = true
        return .malformed(reason)
    }

    /// Skips to the next `Content-Length` and returns whether there is one.
    private mutating func findHeader() -> Bool {
        let name = Array("content-length:".utf8)
        var index = start
        while index + name.count <= buffer.count {
            if buffer[index..<index + name.count].elementsEqual(name, by: { $0 | 0x20 == $1 || $0 == $1 }) {
                start = index
                isLost = false
                return true
            }
            index += 1
        }
        // The end of the buffer may be the beginning of the name.
        start = max(start, buffer.count - name.count + 1)
        return false
    }

    /// The end of the header, and the offset after the empty line. Line feeds without carriage returns are accepted.
    private func headerEnd() -> (header: Int, next: Int)? {
        var index = start
        let limit = min(buffer.count, start + MessageFramer.maximumHeaderLength)
        while index < limit {
            defer { index += 1 }
            guard buffer[index] == 0x0A else { continue }
            if index + 1 < buffer.count, buffer[index + 1] == 0x0A { return (index, index + 2) }
            if index + 2 < buffer.count, buffer[index + 1] == 0x0D, buffer[index + 2] == 0x0A {
                return (index, index + 3)
            }
        }
        return nil
    }

    private static func contentLength(_ header: ArraySlice<UInt8>) -> Int? {
        for line in header.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            guard name == "content-length" else { continue }
            let value = line[(colon + 1)...].drop { $0 == 0x20 }
            let digits = value.prefix { (0x30...0x39).contains($0) }
            guard !digits.isEmpty, digits.count <= 15, value[digits.endIndex...].allSatisfy({ $0 == 0x20 }) else {
                return nil
            }
            return Int(String(decoding: digits, as: UTF8.self))
        }
        return nil
    }

    /// A message with its header.
    package static func frame(_ message: [UInt8]) -> [UInt8] {
        Array("Content-Length: \(message.count)\r\n\r\n".utf8) + message
    }
}
