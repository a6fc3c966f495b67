import Bytes

/// The two encodings of packets, one for Flic 2 and Duo, and one for Twist.
///
/// A Twist has its own opcodes in both directions, and a GATT value is exactly one packet: there is no frame header,
/// and so there are no logical connections and no fragments. A packet without an opcode in a dialect cannot be encoded
/// in it.
///
/// - Source: protocol notes, 4 and 8.2.
enum PacketDialect: Hashable, Sendable {
    /// The dialect of Flic 2 and Duo.
    case flic2
    case twist
}

extension HostPacket {
    init(decoding octets: [UInt8], in dialect: PacketDialect) throws(Truncated) {
        switch dialect {
        case .flic2: try self.init(decoding: octets)
        case .twist: try self.init(decodingTwist: octets)
        }
    }

    /// The encoded packet; `nil` if the dialect has no opcode for it.
    func octets(in dialect: PacketDialect) -> [UInt8]? {
        switch dialect {
        case .flic2: octets
        case .twist: twistOctets
        }
    }
}

extension ButtonPacket {
    init(decoding octets: [UInt8], in dialect: PacketDialect) throws(Truncated) {
        switch dialect {
        case .flic2: try self.init(decoding: octets)
        case .twist: try self.init(decodingTwist: octets)
        }
    }

    /// The encoded packet; `nil` if the dialect has no opcode for it.
    func octets(in dialect: PacketDialect) -> [UInt8]? {
        switch dialect {
        case .flic2: octets
        case .twist: twistOctets
        }
    }
}

extension Frame {
    /// A GATT value of a Twist as a frame, so that sessions handle both dialects alike. Its header has the only logical
    /// connection's id, newly assigned in the two responses that begin a session. `nil` if the value is empty.
    init?(twist value: [UInt8], connectionID: UInt8 = 1) {
        guard let opcode = value.first else { return nil }
        self.init(
            header: FrameHeader(connectionID: connectionID, isNewlyAssigned: opcode == 0 || opcode == 6),
            packet: value)
    }
}
