/// Builds binary packets; integers are little endian.
public struct ByteWriter: Sendable {
    public private(set) var bytes: [UInt8] = []

    public init() {}

    public init(capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    public mutating func uint8(_ value: UInt8) { bytes.append(value) }
    public mutating func int8(_ value: Int8) { bytes.append(UInt8(bitPattern: value)) }
    public mutating func uint16(_ value: UInt16) { integer(UInt64(value), octets: 2) }
    /// Writes the low 24 bits.
    public mutating func uint24(_ value: UInt32) { integer(UInt64(value), octets: 3) }
    public mutating func uint32(_ value: UInt32) { integer(UInt64(value), octets: 4) }
    /// Writes the low 40 bits.
    public mutating func uint40(_ value: UInt64) { integer(value, octets: 5) }
    /// Writes the low 48 bits.
    public mutating func uint48(_ value: UInt64) { integer(value, octets: 6) }
    public mutating func uint64(_ value: UInt64) { integer(value, octets: 8) }
    public mutating func bytes(_ octets: some Sequence<UInt8>) { bytes.append(contentsOf: octets) }

    private mutating func integer(_ value: UInt64, octets: Int) {
        var value = value
        for _ in 0..<octets {
            bytes.append(UInt8(truncatingIfNeeded: value))
            value >>= 8
        }
    }
}
