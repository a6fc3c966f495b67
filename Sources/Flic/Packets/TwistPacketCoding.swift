import Bytes

// Packets that exist in both dialects have the same payload, so only their opcodes are translated here.

extension HostPacket {
    /// - Throws: `Truncated`, when the octets end before the fixed fields do.
    init(decodingTwist octets: [UInt8]) throws(Truncated) {
        var reader = ByteReader(octets)
        let opcode = try reader.uint8()
        if let own = try TwistHostPacket(opcode: opcode, &reader) {
            self = .twist(own)
        } else if let common = Self.twistOpcodes.first(where: { $0.twist == opcode })?.flic2 {
            try self.init(decoding: [common] + reader.remainder())
        } else {
            self = .other(opcode: opcode)
        }
    }

    /// The packet encoded for a Twist; `nil` if a Twist has no opcode for it.
    var twistOctets: [UInt8]? {
        if case .twist(let packet) = self { return packet.octets }
        if case .other(let opcode) = self { return [opcode] }
        let opcode = opcode
        guard let own = Self.twistOpcodes.first(where: { $0.flic2 == opcode })?.twist else { return nil }
        return [own] + octets.dropFirst()
    }

    /// - Source: protocol notes, 8.2.
    private static let twistOpcodes: [(twist: UInt8, flic2: UInt8)] = [
        (0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 8), (8, 9), (9, 10), (10, 11), (11, 13), (13, 16),
        (16, 18), (17, 20), (18, 24), (19, 25), (20, 26), (21, 27),
    ]
}

extension ButtonPacket {
    /// - Throws: `Truncated`, when the octets end before the fixed fields do.
    init(decodingTwist octets: [UInt8]) throws(Truncated) {
        var reader = ByteReader(octets)
        let opcode = try reader.uint8()
        if let own = try TwistButtonPacket(opcode: opcode, &reader) {
            self = .twist(own)
        } else if let common = Self.twistOpcodes.first(where: { $0.twist == opcode })?.flic2 {
            try self.init(decoding: [common] + reader.remainder())
            if case .disconnectedVerifiedLink(let reason) = self {
                self = .disconnectedVerifiedLink(reason: Self.reason(ofTwist: reason))
            }
        } else {
            self = .other(opcode: opcode)
        }
    }

    /// The packet encoded for a Twist; `nil` if a Twist has no opcode for it.
    var twistOctets: [UInt8]? {
        if case .twist(let packet) = self { return packet.octets }
        if case .other(let opcode) = self { return [opcode] }
        if case .disconnectedVerifiedLink(let reason) = self { return [7, Self.twistReason(of: reason)] }
        let opcode = opcode
        guard let own = Self.twistOpcodes.first(where: { $0.flic2 == opcode })?.twist else { return nil }
        let version: [UInt8] = if case .initButtonEventsResponse = self { [Self.apiVersion] } else { [] }
        return [own] + octets.dropFirst() + version
    }

    /// The version of the event encoding, the last octet of the init response.
    private static let apiVersion: UInt8 = 2

    private static let twistOpcodes: [(twist: UInt8, flic2: UInt8)] = [
        (0, 0), (1, 1), (2, 3), (3, 4), (4, 5), (5, 6), (6, 8), (7, 9), (8, 10), (11, 13), (12, 16), (13, 17),
        (14, 18), (15, 19), (16, 20), (17, 22), (18, 23), (19, 24), (20, 25),
    ]

    /// Translates the reason of a DisconnectedVerifiedLinkInd: for a Twist 0 is a wrong signature and 1 the user.
    /// Further reasons are mapped above those of a Flic 2.
    private static func reason(ofTwist reason: UInt8) -> UInt8 { reason == 0 ? 1 : UInt8(clamping: Int(reason) + 2) }

    private static func twistReason(of reason: UInt8) -> UInt8 { reason < 2 ? 0 : max(reason - 2, 1) }
}
