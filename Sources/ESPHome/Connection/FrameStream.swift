import Bytes

/// Splits a stream of octets into frames, and writes frames.
///
///     plain      0x00, length of the message, number of the message, message; both in groups of seven bits
///     encrypted  0x01, length of the body (2, big endian), body
///
/// After an error the stream cannot be synchronised again, so it has to be closed. Lengths are checked as soon as they
/// are known, so that no more than one frame is held back.
struct FrameStream: Sendable {
    static let plainIndicator: UInt8 = 0
    static let encryptedIndicator: UInt8 = 1
    private static let longestHeaderNumber = 4

    private var reader = ByteReader([])

    mutating func append(_ octets: [UInt8]) {
        reader = ByteReader(reader.isAtEnd ? octets : reader.remainder() + octets)
    }

    mutating func clear() { reader = ByteReader([]) }

    /// The next complete plain frame; `nil` if there is none yet.
    mutating func plainFrame() throws(ESPHomeMalformed) -> (id: UInt32, message: [UInt8])? {
        var ahead = reader
        guard try Self.indicator(Self.plainIndicator, &ahead),
            let length = try Self.headerNumber(&ahead)
        else { return nil }
        guard length <= ESPHomeLimits.messageLength else { throw .messageTooLong(Int(length)) }
        guard let id = try Self.headerNumber(&ahead), let message = try? ahead.bytes(Int(length)) else { return nil }
        reader = ahead
        return (id, message)
    }

    /// The body of the next complete encrypted frame; `nil` if there is none yet.
    ///
    /// - Parameters:
    ///   - limit: the longest body.
    ///   - tooLong: the error for a longer one, by its length.
    mutating func encryptedBody(
        limit: Int, orThrow tooLong: (Int) -> ESPHomeMalformed
    ) throws(ESPHomeMalformed) -> [UInt8]? {
        var ahead = reader
        guard try Self.indicator(Self.encryptedIndicator, &ahead), let length = (try? ahead.uint16BE()).map(Int.init)
        else { return nil }
        guard length <= limit else { throw tooLong(length) }
        guard let body = try? ahead.bytes(length) else { return nil }
        reader = ahead
        return body
    }

    /// True if a frame has begun with this indicator, false at the end.
    private static func indicator(_ expected: UInt8, _ reader: inout ByteReader) throws(ESPHomeMalformed) -> Bool {
        guard let octet = try? reader.uint8() else { return false }
        guard octet == expected else { throw .indicator(octet) }
        return true
    }

    /// A number of a plain frame's header; `nil` if it is not complete.
    private static func headerNumber(_ reader: inout ByteReader) throws(ESPHomeMalformed) -> UInt32? {
        var value: UInt32 = 0
        for index in 0..<longestHeaderNumber {
            guard let octet = try? reader.uint8() else { return nil }
            value |= UInt32(octet & 0x7F) << UInt32(7 * index)
            if octet & 0x80 == 0 { return value }
        }
        throw .headerTooLong
    }
}

extension FrameStream {
    static func plainFrame(id: UInt32, message: [UInt8]) -> [UInt8] {
        var writer = ProtobufWriter()
        writer.number(UInt64(message.count))
        writer.number(UInt64(id))
        return [plainIndicator] + writer.octets + message
    }

    /// - Parameter body: at most 65535 octets.
    static func encryptedFrame(_ body: [UInt8]) -> [UInt8] {
        [encryptedIndicator] + bigEndian(body.count) + body
    }

    /// The plaintext of an encrypted frame: the number and the length of the message, and the message.
    static func inner(id: UInt32, message: [UInt8]) -> [UInt8] {
        bigEndian(Int(id)) + bigEndian(message.count) + message
    }

    /// The inverse of `inner`. Octets behind the message are ignored.
    static func message(inner octets: [UInt8]) throws(ESPHomeMalformed) -> (id: UInt32, message: [UInt8]) {
        var reader = ByteReader(octets)
        guard let id = try? reader.uint16BE(), let promised = (try? reader.uint16BE()).map(Int.init) else {
            throw .frameTooShort(octets.count)
        }
        let present = reader.remainingCount
        guard let message = try? reader.bytes(promised) else {
            throw .innerLength(promised: promised, present: present)
        }
        return (UInt32(id), message)
    }

    /// The low 16 bits.
    private static func bigEndian(_ value: Int) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
    }
}
