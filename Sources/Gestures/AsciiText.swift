/// Builds a short text of ASCII characters and decimal numbers with a single allocation.
struct AsciiText {
    private var octets: [UInt8] = []

    /// - Parameter capacity: the expected number of characters.
    init(capacity: Int) { octets.reserveCapacity(capacity) }

    var string: String { String(decoding: octets, as: UTF8.self) }

    mutating func add(_ text: String) { octets.append(contentsOf: text.utf8) }

    /// Adds a number in decimal notation.
    mutating func add(_ number: Int64) {
        if number < 0 { octets.append(UInt8(ascii: "-")) }
        var rest = number.magnitude
        let start = octets.count
        repeat {
            octets.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        octets[start...].reverse()
    }
}
