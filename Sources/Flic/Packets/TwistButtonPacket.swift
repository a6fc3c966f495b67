import Bytes

/// A packet from button to host that only a Twist sends.
///
/// - Source: protocol notes, 8.2.
enum TwistButtonPacket: Hashable, Sendable {
    case buttonEventNotification(TwistEventNotification)
    case rotationNotification(TwistRotation)
    case changeConfigurationResponse
}

/// How far a Twist's dial was turned since the previous such packet.
///
///     octet  1                                          2      5        8        11
///            mode (4 bits), top was last (1), too old (1)  total  minimum  maximum  hub packet
///
/// The three deltas are signed 24-bit integers in units of 1/`Dial.unitsPerTurn` of a turn.
struct TwistRotation: Hashable, Sendable {
    /// 0…15: 0…11 are slots, 12 is the dial while it is pressed.
    var mode: Int
    /// True if the top end of the range was reached last, not the bottom end.
    var lastMinimumUpdateWasTop: Bool
    /// True if the Twist rejected an `UpdatePosition` because it counted too few rotation packets.
    var lastUpdateWasTooOld: Bool = false
    var totalDelta: Int
    /// The position minus the lowest position since the previous packet; at least 0.
    var minimumDelta: Int
    /// The position minus the highest position since the previous packet; at most 0.
    var maximumDelta: Int
    /// The low 16 bits of `receivedCount` in the last `UpdatePosition` that the Twist applied.
    var lastUpdateCount: UInt16 = 0

    /// The range of a delta.
    static let deltas = -0x80_0000...0x7F_FFFF
}

extension TwistButtonPacket {
    /// Decodes the payload; `nil` for opcodes that a Flic 2 has, too, and for unknown opcodes.
    init?(opcode: UInt8, _ reader: inout ByteReader) throws(Truncated) {
        switch opcode {
        case 9: self = .buttonEventNotification(try TwistEventNotification(&reader))
        case 10: self = .rotationNotification(try TwistRotation(&reader))
        case 23: self = .changeConfigurationResponse
        default: return nil
        }
    }

    var octets: [UInt8] {
        var writer = ByteWriter(capacity: 128)
        writer.uint8(opcode)
        switch self {
        case .buttonEventNotification(let notification): notification.write(to: &writer)
        case .rotationNotification(let rotation): rotation.write(to: &writer)
        case .changeConfigurationResponse: break
        }
        return writer.bytes
    }

    var opcode: UInt8 {
        switch self {
        case .buttonEventNotification: 9
        case .rotationNotification: 10
        case .changeConfigurationResponse: 23
        }
    }
}

extension TwistRotation {
    fileprivate init(_ reader: inout ByteReader) throws(Truncated) {
        let bits = try reader.uint8()
        mode = Int(bits & 0x0F)
        lastMinimumUpdateWasTop = bits & 0x10 != 0
        lastUpdateWasTooOld = bits & 0x20 != 0
        totalDelta = Self.signed(try reader.uint24())
        minimumDelta = Self.signed(try reader.uint24())
        maximumDelta = Self.signed(try reader.uint24())
        lastUpdateCount = try reader.uint16()
    }

    fileprivate func write(to writer: inout ByteWriter) {
        writer.uint8(
            UInt8(mode & 0x0F) | (lastMinimumUpdateWasTop ? 0x10 : 0) | (lastUpdateWasTooOld ? 0x20 : 0))
        for delta in [totalDelta, minimumDelta, maximumDelta] { writer.uint24(UInt32(truncatingIfNeeded: delta)) }
        writer.uint16(lastUpdateCount)
    }

    private static func signed(_ bits: UInt32) -> Int { Int(Int32(bitPattern: bits << 8) >> 8) }
}
