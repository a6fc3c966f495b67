extension Array<UInt8> {
    /// Decodes pairs of hexadecimal digits, in either case, without separators. `nil` for any other text.
    public init?(hex text: some StringProtocol) {
        let digits = Array<UInt8>(text.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var octets: [UInt8] = []
        octets.reserveCapacity(digits.count / 2)
        var high: UInt8?
        for digit in digits {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = digit - UInt8(ascii: "A") + 10
            default: return nil
            }
            if let first = high {
                octets.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        self = octets
    }

    /// The octets as hexadecimal digits in lower case, two for each octet, without separators.
    public var hex: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(count * 2)
        for octet in self {
            text.append(digits[Int(octet >> 4)])
            text.append(digits[Int(octet & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
