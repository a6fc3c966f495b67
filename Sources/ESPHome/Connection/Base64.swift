/// Base64 with padding and without white space, as a device's configuration has it.
///
/// - Source: RFC 4648, 4.
enum Base64 {
    /// `nil` for any text that an encoder does not write: a wrong length, a foreign character, padding that is not at
    /// the end, or bits behind the last octet that are not zero.
    static func decode(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count.isMultiple(of: 4) else { return nil }
        let padding = characters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return nil }
        var octets: [UInt8] = []
        octets.reserveCapacity(characters.count / 4 * 3)
        var bits: UInt32 = 0
        var bitCount = 0
        for character in characters.dropLast(padding) {
            guard let value = value(of: character) else { return nil }
            bits = bits << 6 | value
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                octets.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
                bits &= 1 << UInt32(bitCount) - 1
            }
        }
        return bits == 0 ? octets : nil
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
