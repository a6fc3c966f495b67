import Bytes

/// Reads bits from untrusted octets, beginning with the least significant bit of each octet. Throws `Truncated` at the
/// end.
struct BitReader {
    private var octets: ByteReader
    private var current: UInt8 = 0
    private var currentCount = 0

    init(_ octets: [UInt8]) { self.octets = ByteReader(octets) }

    var remainingCount: Int { 8 * octets.remainingCount + currentCount }

    /// - Parameter count: 0…64.
    mutating func bits(_ count: Int) throws(Truncated) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<count where try bit() { value |= 1 << UInt64(index) }
        return value
    }

    mutating func bit() throws(Truncated) -> Bool {
        if currentCount == 0 {
            current = try octets.uint8()
            currentCount = 8
        }
        defer {
            current >>= 1
            currentCount -= 1
        }
        return current & 1 != 0
    }
}

/// Writes bits that a `BitReader` can read. The unused bits of the last octet are zero.
struct BitWriter {
    private(set) var octets: [UInt8] = []
    private var freeCount = 0

    /// Appends the low `count` bits of a value.
    ///
    /// - Parameter count: 0…64.
    mutating func bits(_ value: UInt64, _ count: Int) {
        for index in 0..<count { bit(value >> UInt64(index) & 1 != 0) }
    }

    mutating func bit(_ isSet: Bool) {
        if freeCount == 0 {
            octets.append(0)
            freeCount = 8
        }
        if isSet, let last = octets.popLast() { octets.append(last | 1 << UInt8(8 - freeCount)) }
        freeCount -= 1
    }
}
