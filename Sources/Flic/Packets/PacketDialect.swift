import Bytes

/// The two ways of writing packets. What they say is the same, but for what only one kind of button has.
///
/// A Twist has opcodes of its own in both directions, and one GATT value is one packet: no frame header, so no logical
/// connections, and no pieces. What one dialect has no opcode for cannot be said in it.
///
/// - Source: protocol notes, 4 and 8.2.
enum PacketDialect: Hashable, Sendable {
    /// Of a Flic 2 and a Duo.
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

    /// `nil` for what cannot be said.
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

    /// `nil` for what cannot be said.
    func octets(in dialect: PacketDialect) -> [UInt8]? {
        switch dialect {
        case .flic2: octets
        case .twist: twistOctets
        }
    }
}

extension Frame {
    /// What one GATT value of a Twist would be as a frame: of the only logical connection that there is, and new in the
    /// two packets that a session begins with. `nil` for no octets.
    init?(twist value: [UInt8], connectionID: UInt8 = 1) {
        guard let opcode = value.first else { return nil }
        self.init(
            header: FrameHeader(connectionID: connectionID, isNewlyAssigned: opcode == 0 || opcode == 6),
            packet: value)
    }
}
