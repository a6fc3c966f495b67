/// What becomes of a value where it lands. Values come from outside; nothing in them may change what the text around
/// them means.
package enum Insertion: Hashable, Sendable {
    /// Payloads, bodies, arguments and logs: as it is.
    case plain
    /// A part of a topic name: it cannot add a level, end one, or match several.
    case topic
    /// A part of the path or the query of a URL.
    case url
    /// A part of a header line, which it cannot end.
    case header

    /// The text to put there.
    package func inserting(_ text: String, from range: Range<Int>) throws(EvaluationFailure) -> String {
        switch self {
        case .plain: return text
        case .url: return PercentEncoding.encoded(text)
        case .topic:
            guard !text.isEmpty else {
                throw EvaluationFailure(.topic, range, "an empty value cannot be part of a topic")
            }
            let forbidden: [UInt8] = [UInt8(ascii: "/"), UInt8(ascii: "+"), UInt8(ascii: "#"), 0]
            guard let octet = text.utf8.first(where: forbidden.contains) else { return text }
            throw EvaluationFailure(
                .topic, range,
                octet == 0
                    ? "a value with a NUL cannot be part of a topic"
                    : "a value with \(UnicodeScalar(octet)) cannot be part of a topic")
        case .header:
            guard text.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) else { return text }
            throw EvaluationFailure(
                .header, range, "a value with a line break or a NUL cannot be part of a header")
        }
    }
}

/// - Source: RFC 3986, 2.1 and 2.3.
enum PercentEncoding {
    /// Letters, digits and `-._~` stay; everything else, `/` too, becomes `%` and two digits.
    static func encoded(_ text: String) -> String {
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
