import Bytes

/// What can stand at the beginning of a packet is not what stood there.
package struct H4Malformed: Error, Hashable, Sendable, CustomStringConvertible {
    package var indicator: UInt8

    package var description: String { "0x\(String(indicator, radix: 16)) begins no packet" }
}

/// Cuts a stream into HCI packets.
///
///     indicator     header                               contents
///     0x01 command  opcode (2), length (1)               length octets
///     0x02 ACL      handle and flags (2), length (2)     length octets
///     0x03 SCO      handle and flags (2), length (1)     length octets
///     0x04 event    code (1), length (1)                 length octets
///     0x05 ISO      handle and flags (2), length (2)     length octets, of which the low 14 bits count
///
/// There is no way back into step after an octet that begins no packet: the stream is of no further use then.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part A, 2; Part E, 5.4.
package struct H4Framer: Sendable {
    /// The longest packet there can be: indicator, header and contents of ACL data. Less than that is kept between
    /// `next`, when it said nil, and `append`.
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

    /// The next packet that is complete, with its indicator.
    ///
    /// - Throws: `H4Malformed`, now and ever after, once the packets before the fault have been given out.
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
