import Bytes

/// The UUID of a service, a characteristic or a descriptor.
package enum GATTUUID: Hashable, Sendable {
    /// 16 or 32 bits.
    case short(UInt32)
    /// 16 octets in wire order, the reverse of the printed form.
    case long([UInt8])

    /// The Bluetooth base UUID without its first 32 bits, which a short UUID replaces: the last four of the first eight
    /// octets, and the last eight octets.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 3, Part B, 2.5.1.
    private static let baseHighHalf: UInt64 = 0x0000_1000
    private static let baseLowHalf: UInt64 = 0x8000_0080_5F9B_34FB

    /// Makes a UUID from the first and the last eight octets of its printed form. Old proxies write short UUIDs in this
    /// form, too; they become `short`, so that equal UUIDs are equal values.
    package init(high: UInt64, low: UInt64) {
        guard high & 0xFFFF_FFFF != Self.baseHighHalf || low != Self.baseLowHalf else {
            self = .short(UInt32(truncatingIfNeeded: high >> 32))
            return
        }
        var writer = ByteWriter(capacity: 16)
        writer.uint64(low)
        writer.uint64(high)
        self = .long(writer.bytes)
    }

    /// Proxies write `short` to clients that know it, and two numbers to others.
    init(parts: [UInt64], short: UInt32) throws(ESPHomeMalformed) {
        guard short == 0, !parts.isEmpty else {
            self = .short(short)
            return
        }
        guard parts.count == 2 else { throw .uuidParts(parts.count) }
        self.init(high: parts[0], low: parts[1])
    }

    /// The two numbers of a long UUID; empty for a short one, and for octets that are no UUID.
    var parts: [UInt64] {
        guard case .long(let octets) = self, octets.count == 16 else { return [] }
        var reader = ByteReader(octets)
        guard let low = try? reader.uint64(), let high = try? reader.uint64() else { return [] }
        return [high, low]
    }

    var shortValue: UInt32 {
        if case .short(let value) = self { value } else { 0 }
    }
}
