/// The input ended inside a field.
public struct Truncated: Error, Hashable, Sendable {
    /// The number of octets that the field needed, and the number that were left.
    public var needed, available: Int

    public init(needed: Int, available: Int) {
        self.needed = needed
        self.available = available
    }
}

/// A cursor over untrusted binary input. Integers are little endian; reading past the end throws `Truncated` and never
/// traps.
///
/// Binary decoders read their input only through this type, so that the bounds are checked in one place.
public struct ByteReader: Sendable {
    @usableFromInline let octets: ArraySlice<UInt8>
    /// An index in `octets`.
    @usableFromInline var position: Int

    @inlinable
    public init(_ octets: [UInt8]) { self.init(octets[...]) }

    /// The octets are not copied.
    @inlinable
    public init(_ octets: ArraySlice<UInt8>) {
        self.octets = octets
        position = octets.startIndex
    }

    @inlinable var end: Int { octets.endIndex }

    @inlinable public var remainingCount: Int { end - position }
    @inlinable public var isAtEnd: Bool { position == end }

    @inlinable
    mutating func integer<T: FixedWidthInteger>(octets count: Int, as type: T.Type) throws(Truncated) -> T {
        guard count <= end - position else { throw Truncated(needed: count, available: end - position) }
        var value: T = 0
        var index = position + count
        while index > position {
            index -= 1
            value = (value << 8) | T(octets[index])
        }
        position += count
        return value
    }

    @inlinable
    public mutating func uint8() throws(Truncated) -> UInt8 {
        guard position < end else { throw Truncated(needed: 1, available: 0) }
        defer { position += 1 }
        return octets[position]
    }

    @inlinable
    public mutating func int8() throws(Truncated) -> Int8 { Int8(bitPattern: try uint8()) }
    @inlinable
    public mutating func uint16() throws(Truncated) -> UInt16 { try integer(octets: 2, as: UInt16.self) }
    /// A big-endian number.
    @inlinable
    public mutating func uint16BE() throws(Truncated) -> UInt16 { try uint16().byteSwapped }
    @inlinable
    public mutating func uint24() throws(Truncated) -> UInt32 { try integer(octets: 3, as: UInt32.self) }
    @inlinable
    public mutating func uint32() throws(Truncated) -> UInt32 { try integer(octets: 4, as: UInt32.self) }
    @inlinable
    public mutating func uint40() throws(Truncated) -> UInt64 { try integer(octets: 5, as: UInt64.self) }
    @inlinable
    public mutating func uint48() throws(Truncated) -> UInt64 { try integer(octets: 6, as: UInt64.self) }
    @inlinable
    public mutating func uint64() throws(Truncated) -> UInt64 { try integer(octets: 8, as: UInt64.self) }

    /// The next `count` octets. A negative count throws `Truncated`, too.
    @inlinable
    public mutating func bytes(_ count: Int) throws(Truncated) -> [UInt8] {
        guard count >= 0, count <= end - position else { throw Truncated(needed: count, available: end - position) }
        defer { position += count }
        return Array(octets[position..<(position + count)])
    }

    @inlinable
    public mutating func skip(_ count: Int) throws(Truncated) {
        guard count >= 0, count <= end - position else { throw Truncated(needed: count, available: end - position) }
        position += count
    }

    /// All octets that are left. They are not copied, and the reader does not move.
    @inlinable public var rest: ArraySlice<UInt8> { octets[position..<end] }

    /// All octets that are left; afterwards the reader is at its end.
    @inlinable
    public mutating func remainder() -> [UInt8] {
        defer { position = end }
        return Array(octets[position..<end])
    }
}
