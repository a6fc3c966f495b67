import Bytes

/// A frame announces a length above the framer's maximum.
package struct FlicdFrameTooLong: Error, Hashable, Sendable {
    /// The announced length of the packet in octets, and the packet's opcode if it has arrived.
    package var length: Int
    package var opcode: UInt8?
}

/// Splits a TCP stream into packets.
///
///     octet  0…1      2       3…
///            length   opcode  fields, length − 1 octets
///
/// Empty frames are skipped. The buffer grows with the octets received, not with the length that a header announces.
///
/// - Source: flicd notes, 1.
package struct FlicdFramer: Sendable {
    /// The limit for commands, in octets. The longest command has 14.
    package static let maximumCommandLength = 4096
    /// The limit for events: all lengths, because the list of paired buttons may be long.
    package static let maximumEventLength = 0xFFFF

    private let maximumLength: Int
    private var reader = ByteReader([])

    /// - Parameter maximumLength: the largest packet in octets, without the length field. When `next` has returned
    ///   `nil`, less than one such frame is buffered.
    package init(maximumLength: Int) { self.maximumLength = maximumLength }

    package mutating func append(_ octets: [UInt8]) {
        reader = ByteReader(reader.isAtEnd ? octets : reader.remainder() + octets)
    }

    /// The next complete packet, from its opcode on; `nil` until more octets arrive.
    ///
    /// - Throws: `FlicdFrameTooLong`, at this and every later call, after the packets before the faulty frame were
    ///   returned.
    package mutating func next() throws(FlicdFrameTooLong) -> [UInt8]? {
        while true {
            var ahead = reader
            guard let length = try? ahead.uint16() else { return nil }
            guard length <= maximumLength else {
                throw FlicdFrameTooLong(length: Int(length), opcode: try? ahead.uint8())
            }
            guard let packet = try? ahead.bytes(Int(length)) else { return nil }
            reader = ahead
            if !packet.isEmpty { return packet }
        }
    }
}
