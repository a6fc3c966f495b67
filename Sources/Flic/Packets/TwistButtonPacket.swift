import Bytes

/// What only a Twist sends.
///
/// - Source: protocol notes, 8.2.
enum TwistButtonPacket: Hashable, Sendable {
    case buttonEventNotification(TwistEventNotification)
    case rotationNotification(TwistRotation)
    case changeConfigurationResponse
}

/// How far the dial was turned since the last such packet.
///
///     octet  1                                          2      5        8        11
///            mode (4 bits), top was last (1), too old (1)  total  minimum  maximum  hub packet
///
/// The three deltas are 24 bits, signed, in `Dial.unitsPerTurn` to a turn.
struct TwistRotation: Hashable, Sendable {
    /// 0…15; 0…11 are slots, 12 is the dial while it is pressed.
    var mode: Int
    /// Which end of the range was reached last.
    var lastMinimumUpdateWasTop: Bool
    /// The last position that we sent came too late to be taken.
    var lastUpdateWasTooOld: Bool = false
    var totalDelta: Int
    /// The position less the lowest since the last packet, so not below 0.
    var minimumDelta: Int
    /// The position less the highest since the last packet, so not above 0.
    var maximumDelta: Int
    /// The count in the last position that the Twist took, its low 16 bits.
    var lastUpdateCount: UInt16 = 0

    /// What 24 bits can say.
    static let deltas = -0x80_0000...0x7F_FFFF
}

extension TwistButtonPacket {
    /// `nil` for an opcode that a Flic 2 knows too, or nobody.
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
