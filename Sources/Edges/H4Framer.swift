import Bytes

/// An octet that is not a packet indicator, where a packet has to begin in the stream.
package struct H4Malformed: Error, Hashable, Sendable, CustomStringConvertible {
    package var indicator: UInt8

    package var description: String { "0x\(String(indicator, radix: 16)) is not a packet indicator" }
}

/// Splits a stream of octets into HCI packets (H4).
///
///     indicator     header                               contents
///     0x01 command  opcode (2), length (1)               length octets
///     0x02 ACL      handle and flags (2), length (2)     length octets
///     0x03 SCO      handle and flags (2), length (1)     length octets
///     0x04 event    code (1), length (1)                 length octets
///     0x05 ISO      handle and flags (2), length (2)     length octets; the length has 14 bits
///
/// After an invalid indicator the stream cannot be synchronised again, so it has to be closed.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part A, 2; Part E, 5.4.
package struct H4Framer: Sendable {
    /// The length of the longest packet: indicator, header and contents of ACL data. After `next` has returned `nil`,
    /// the framer holds fewer octets than that.
    package static let maximumPacketLength = 1 + 4 + 0xFFFF

    private enum Indicator: UInt8 {
        case command = 1
        case acl, sco, event, iso
    }

    private var reader = ByteReader([])

    package init() {}

    package mutating func append(_ octets: [UInt8]) {
        reader = ByteReader(reader.isAtEnd ? octets : reader.remainder() + octets)
    }

    /// The next complete packet, including its indicator; `nil` if there is none yet.
    ///
    /// - Throws: `H4Malformed` for an invalid indicator, after all packets before it were returned, and for every later
    ///   call.
    package mutating func next() throws(H4Malformed) -> [UInt8]? {
        var ahead = reader
        guard let first = try? ahead.uint8() else { return nil }
        guard let indicator = Indicator(rawValue: first) else { throw H4Malformed(indicator: first) }
        guard let contents = try? Self.contentsLength(of: indicator, &ahead) else { return nil }
        let header = reader.remainingCount - ahead.remainingCount
        return try? reader.bytes(header + contents)
    }

    private static func contentsLength(
        of indicator: Indicator, _ header: inout ByteReader
    ) throws(Truncated) -> Int {
        switch indicator {
        case .command, .sco:
            try header.skip(2)
            return Int(try header.uint8())
        case .acl:
            try header.skip(2)
            return Int(try header.uint16())
        case .event:
            try header.skip(1)
            return Int(try header.uint8())
        case .iso:
            try header.skip(2)
            return Int(try header.uint16() & 0x3FFF)
        }
    }
}
