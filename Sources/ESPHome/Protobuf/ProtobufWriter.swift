/// Writes fields in protobuf's coding. Default values are left out, because the absence of a field says the same.
///
/// - Source: protobuf's Encoding.
struct ProtobufWriter: Sendable {
    private(set) var octets: [UInt8] = []

    mutating func number(_ value: UInt64) {
        var value = value
        while value >= 0x80 {
            octets.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        octets.append(UInt8(truncatingIfNeeded: value))
    }

    mutating func uint64(_ field: UInt64, _ value: UInt64) {
        guard value != 0 else { return }
        number(field << 3)
        number(value)
    }

    mutating func uint32(_ field: UInt64, _ value: UInt32) { uint64(field, UInt64(value)) }
    /// A negative number takes ten octets.
    mutating func int32(_ field: UInt64, _ value: Int32) { uint64(field, UInt64(bitPattern: Int64(value))) }
    mutating func bool(_ field: UInt64, _ value: Bool) { uint64(field, value ? 1 : 0) }

    /// A signed number in zigzag coding, in which a small magnitude takes few octets.
    mutating func sint32(_ field: UInt64, _ value: Int32) {
        uint32(field, UInt32(bitPattern: (value << 1) ^ (value >> 31)))
    }

    mutating func bytes(_ field: UInt64, _ value: [UInt8]) {
        guard !value.isEmpty else { return }
        element(field, value)
    }

    mutating func text(_ field: UInt64, _ value: String) { bytes(field, Array(value.utf8)) }

    mutating func packed(_ field: UInt64, _ values: [UInt64]) {
        var writer = ProtobufWriter()
        for value in values { writer.number(value) }
        bytes(field, writer.octets)
    }

    /// An element of a repeated field. It is written even if it is empty, because it counts.
    mutating func element(_ field: UInt64, _ value: [UInt8]) {
        number(field << 3 | 2)
        number(UInt64(value.count))
        octets += value
    }
}

extension Int32 {
    /// The number that a zigzag coding stands for.
    init(zigzag value: UInt64) {
        let bits = UInt32(truncatingIfNeeded: value)
        self = Int32(bitPattern: bits >> 1) ^ -Int32(bitPattern: bits & 1)
    }
}
