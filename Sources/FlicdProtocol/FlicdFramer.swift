import Bytes

/// A frame that claims to be longer than frames may be here.
package struct FlicdFrameTooLong: Error, Hashable, Sendable {
    /// Octets of the packet it announces, and the first of them if it has come.
    package var length: Int
    package var opcode: UInt8?
}

/// Cuts a stream into packets.
///
///     octet  0…1      2       3…
///            length   opcode  fields, length − 1 octets
///
/// Empty frames are skipped. What is kept grows with what arrived, not with what a header announces.
///
/// - Source: flicd notes, "Transport and framing".
package struct FlicdFramer: Sendable {
    /// No client has a reason for more.
    package static let maximumCommandLength = 4096
    /// All that a length can say: the list of buttons may be long.
    package static let maximumEventLength = 0xFFFF

    private let maximumLength: Int
    private var reader = ByteReader([])

    /// - Parameter maximumLength: octets of a packet, its length not counted. Less than a frame of that is kept
    ///   between `next`, when it said nil, and `append`.
    package init(maximumLength: Int) { self.maximumLength = maximumLength }

    package mutating func append(_ octets: [UInt8]) {
        reader = ByteReader(reader.isAtEnd ? octets : reader.remainder() + octets)
    }

    /// The next packet that is complete, from its opcode on.
    ///
    /// - Throws: `FlicdFrameTooLong`, now and ever after, once the packets before it have been given out.
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
