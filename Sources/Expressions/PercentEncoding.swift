/// Percent-encoding for a component of a URL.
///
/// - Source: RFC 3986, 2.1 and 2.3.
package enum PercentEncoding {
    /// Encodes everything except letters, digits and `-._~`, and therefore `/`, too.
    package static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var octets: [UInt8] = []
        octets.reserveCapacity(text.utf8.count)
        for octet in text.utf8 {
            switch octet {
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"),
                _ where octet.isDigit || octet.isNameStart:
                octets.append(octet)
            default:
                octets.append(contentsOf: [UInt8(ascii: "%"), digits[Int(octet >> 4)], digits[Int(octet & 15)]])
            }
        }
        return String(decoding: octets, as: UTF8.self)
    }
}
