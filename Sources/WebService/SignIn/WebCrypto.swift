import CCrypto

/// Random octets by libcrypto.
package enum WebCrypto {
    /// - Returns: octets that cannot be predicted; `nil` if libcrypto has no source of them.
    package static func randomOctets(_ count: Int) -> [UInt8]? {
        var octets = [UInt8](repeating: 0, count: count)
        return RAND_bytes(&octets, Int32(count)) == 1 ? octets : nil
    }
}

extension [UInt8] {
    /// The octets as lower-case hexadecimal digits.
    package var hexText: String {
        let digits = Array<UInt8>("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// - Parameter hexText: lower-case hexadecimal digits.
    package init?(hexText: String) {
        func value(_ digit: UInt8) -> UInt8? {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            default: nil
            }
        }
        let digits = Array<UInt8>(hexText.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        self = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
            append(high << 4 | low)
        }
    }
}
