import Bytes

/// One frame of the stream.
package enum ESPHomeFrame: Hashable, Sendable {
    /// A frame that begins with 0x00: a message id and a payload.
    case plain(id: UInt32, [UInt8])
    /// A frame that begins with 0x01: a part of the handshake, or a ciphertext.
    case encrypted([UInt8])
}

/// The stream does not consist of frames, so that everything after this place is lost.
package enum ESPHomeFrameFault: Error, Hashable, Sendable {
    /// The first octet of a frame is neither 0x00 nor 0x01.
    case indicator(UInt8)
    /// A varint of the header has more than four octets.
    case varintTooLong
    /// The frame announces a length above the limit.
    case tooLong(Int)
}

/// Splits a TCP stream into frames.
///
///     00 | varint payload length | varint message id | payload
///     01 | length, two octets, big endian | body
///
/// The buffer grows with the octets received, and `next` leaves less than one frame in it.
package struct ESPHomeFramer: Sendable {
    /// The largest frame of the handshake, in octets.
    package static let maximumHandshakeLength = 128
    /// The largest encrypted body: the payload, its header and the tag.
    package static let maximumBodyLength = ESPHomeLimits.payload + 4 + 16

    /// The largest body of an encrypted frame that is accepted.
    package var maximumBodyLength: Int
    private var reader = ByteReader([])

    package init(maximumBodyLength: Int) { self.maximumBodyLength = maximumBodyLength }

    package mutating func append(_ octets: [UInt8]) {
        reader = ByteReader(reader.isAtEnd ? octets : reader.remainder() + octets)
    }

    /// The next complete frame; `nil` until more octets arrive.
    package mutating func next() throws(ESPHomeFrameFault) -> ESPHomeFrame? {
        var ahead = reader
        guard let indicator = try? ahead.uint8() else { return nil }
        switch indicator {
        case 0:
            guard let length = try Self.varint(&ahead) else { return nil }
            guard length <= ESPHomeLimits.payload else { throw .tooLong(length) }
            guard let id = try Self.varint(&ahead), let payload = try? ahead.bytes(length) else { return nil }
            reader = ahead
            return .plain(id: UInt32(id), payload)
        case 1:
            guard let high = try? ahead.uint8(), let low = try? ahead.uint8() else { return nil }
            let length = Int(high) << 8 | Int(low)
            guard length <= maximumBodyLength else { throw .tooLong(length) }
            guard let body = try? ahead.bytes(length) else { return nil }
            reader = ahead
            return .encrypted(body)
        default: throw .indicator(indicator)
        }
    }

    /// A varint of at most four octets; `nil` until it is complete.
    private static func varint(_ reader: inout ByteReader) throws(ESPHomeFrameFault) -> Int? {
        var value = 0
        for index in 0..<4 {
            guard let octet = try? reader.uint8() else { return nil }
            value |= Int(octet & 0x7F) << (7 * index)
            if octet < 0x80 { return value }
        }
        throw .varintTooLong
    }
}

extension ESPHomeFrame {
    /// The octets of the frame. A body has at most 65,535 octets; `ESPHomeLimits.payload` is far below.
    package var octets: [UInt8] {
        switch self {
        case .plain(let id, let payload):
            var writer = ProtobufWriter()
            writer.varint(UInt64(payload.count))
            writer.varint(UInt64(id))
            return [0] + writer.octets + payload
        case .encrypted(let body):
            return [1, UInt8(truncatingIfNeeded: body.count >> 8), UInt8(truncatingIfNeeded: body.count)] + body
        }
    }
}

/// The messages of a session in frames, plain or encrypted.
struct ESPHomeSessionCoder: Sendable {
    /// The ciphers of both directions; `nil` in plaintext.
    private var ciphers: (sending: NoiseCipher, receiving: NoiseCipher)?

    init() {}

    init(sending: NoiseCipher, receiving: NoiseCipher) { ciphers = (sending, receiving) }

    var isEncrypted: Bool { ciphers != nil }

    /// The frame of a message; `nil` if libcrypto fails or the payload is too long.
    mutating func encode(_ message: ESPHomeMessage) -> [UInt8]? {
        let payload = message.payload
        guard payload.count <= ESPHomeLimits.payload else { return nil }
        guard ciphers != nil else { return ESPHomeFrame.plain(id: message.id, payload).octets }
        let header = [UInt32(message.id), UInt32(payload.count)].flatMap {
            [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)]
        }
        return ciphers?.sending.seal(header + payload).map { ESPHomeFrame.encrypted($0).octets }
    }

    /// The message of a frame.
    mutating func decode(_ frame: ESPHomeFrame) throws(ESPHomeFault) -> ESPHomeMessage {
        let (id, payload) = try content(of: frame)
        do throws(ProtobufFault) {
            return try ESPHomeMessage(id: id, decoding: payload)
        } catch {
            throw .malformedMessage(id: id, error)
        }
    }

    private mutating func content(of frame: ESPHomeFrame) throws(ESPHomeFault) -> (UInt32, [UInt8]) {
        switch frame {
        case .plain(let id, let payload):
            guard ciphers == nil else { throw .keyNotNeeded }
            return (id, payload)
        case .encrypted(let body):
            guard ciphers != nil else { throw .keyNeeded }
            guard let plaintext = ciphers?.receiving.open(body) else { throw .changedFrame }
            var reader = ByteReader(plaintext)
            guard let idHigh = try? reader.uint8(), let idLow = try? reader.uint8(), let high = try? reader.uint8(),
                let low = try? reader.uint8(), let payload = try? reader.bytes(Int(high) << 8 | Int(low))
            else { throw .changedFrame }
            return (UInt32(idHigh) << 8 | UInt32(idLow), payload)
        }
    }
}
