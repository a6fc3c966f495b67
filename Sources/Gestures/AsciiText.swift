/// Writes a short text of ASCII characters and decimal numbers into memory of a fixed size.
struct AsciiText {
    private let memory: UnsafeMutableBufferPointer<UInt8>
    /// The number of octets that were written.
    private(set) var count = 0

    /// - Parameter memory: octets and numbers beyond its end are dropped.
    init(_ memory: UnsafeMutableBufferPointer<UInt8>) { self.memory = memory }

    mutating func add(_ octet: UInt8) {
        guard count < memory.count else { return }
        memory[count] = octet
        count += 1
    }

    mutating func add(_ text: String) { for octet in text.utf8 { add(octet) } }

    /// The numbers 00…99.
    private static let pairs: StaticString = """
        00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748\
        49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697\
        9899
        """

    /// Adds a number in decimal notation.
    mutating func add(_ number: Int64) {
        if number < 0 { add(UInt8(ascii: "-")) }
        var rest = number.magnitude
        // The number of digits, which is at most 19, two for each division below.
        var (length, limit) = (2, UInt64(100))
        while rest >= limit, length < 18 { (length, limit) = (length + 2, limit &* 100) }
        if rest >= limit { length += 1 } else if rest < limit / 10 { length -= 1 }
        guard count + length <= memory.count else { return }
        count += length
        var place = count
        while rest >= 10 {
            place -= 2
            let pair = Self.pairs.utf8Start + 2 * Int(truncatingIfNeeded: rest % 100)
            (memory[place], memory[place + 1]) = (pair[0], pair[1])
            rest /= 100
        }
        // The first digit of an odd number of digits.
        if length % 2 == 1 { memory[place - 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest) }
    }
}
