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

    /// Adds a number in decimal notation.
    mutating func add(_ number: Int64) {
        if number < 0 { add(UInt8(ascii: "-")) }
        var rest = number.magnitude
        var (length, limit) = (1, UInt64(10))
        // A magnitude has at most 19 digits.
        while rest >= limit, length < 19 {
            length += 1
            limit *= 10
        }
        guard count + length <= memory.count else { return }
        count += length
        var place = count
        repeat {
            place -= 1
            memory[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
    }
}
