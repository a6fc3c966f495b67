/// Writes a short text of ASCII characters and decimal numbers into memory of a fixed size.
struct AsciiText {
    private let memory: UnsafeMutableBufferPointer<UInt8>
    /// The number of octets that were written.
    private(set) var count = 0

    /// - Parameter memory: octets beyond its end are dropped.
    init(_ memory: UnsafeMutableBufferPointer<UInt8>) { self.memory = memory }

    mutating func add(_ octet: UInt8) {
        guard count < memory.count else { return }
        memory[count] = octet
        count += 1
    }

    mutating func add(_ text: String) { for octet in text.utf8 { add(octet) } }

    /// Adds a number in decimal notation.
    mutating func add(_ number: Int64) {
        if number < 0 { add(UInt8(ascii: "-")) }
        var rest = number.magnitude
        var unit: UInt64 = 1
        while rest / unit >= 10 { unit *= 10 }
        while unit > 0 {
            add(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / unit))
            rest %= unit
            unit /= 10
        }
    }
}
