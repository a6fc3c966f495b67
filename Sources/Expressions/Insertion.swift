/// How values are inserted into a template, depending on its use. Values come from outside, and must not change the
/// meaning of the surrounding text.
package enum Insertion: Hashable, Sendable {
    /// Payloads, bodies, arguments and logs: values are inserted unchanged.
    case plain
    /// A topic: a value with `/`, `+`, `#` or NUL, or an empty value, fails, so that it cannot add a level or a
    /// wildcard.
    case topic
    /// The path or the query of a URL: values are percent-encoded.
    case url
    /// A header line: a value with a line break or NUL fails.
    case header

    /// The text to insert for a value.
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
            throw EvaluationFailure(.header, range, "a value with a line break or a NUL cannot be part of a header")
        }
    }
}

extension Insertion {
    /// Problems in the literal parts, and problems with the positions of expressions.
    func problems(in octets: [UInt8], _ pieces: [TemplateScanner.Piece]) -> [ExpressionProblem] {
        switch self {
        case .plain, .header: []
        case .topic: Insertion.wildcards(in: octets, pieces)
        case .url: Insertion.openHost(in: octets, pieces)
        }
    }

    private static func wildcards(
        in octets: [UInt8], _ pieces: [TemplateScanner.Piece]
    ) -> [ExpressionProblem] {
        for case .literal(let range) in pieces {
            let isWildcard = { (octet: UInt8) in octet == UInt8(ascii: "#") || octet == UInt8(ascii: "+") }
            if let index = octets[range].firstIndex(where: isWildcard) {
                return [ExpressionProblem("E508", index..<index + 1, "a publish topic cannot contain # or +")]
            }
        }
        return []
    }

    /// Reports an expression in the scheme or the host of a URL, or directly after the host, which it could extend.
    private static func openHost(
        in octets: [UInt8], _ pieces: [TemplateScanner.Piece]
    ) -> [ExpressionProblem] {
        for piece in pieces {
            guard case .expression(_, let whole) = piece else { continue }
            if hasHost(octets[..<whole.lowerBound]) { return [] }
            return [ExpressionProblem("E509", whole, "the host of a URL must be literal")]
        }
        return []
    }

    /// True if the text contains `scheme://host` and the character that ends the host.
    private static func hasHost(_ octets: ArraySlice<UInt8>) -> Bool {
        guard let colon = octets.firstIndex(of: UInt8(ascii: ":")), colon > octets.startIndex else { return false }
        let rest = octets[(colon + 1)...]
        guard rest.starts(with: "//".utf8) else { return false }
        let ends: [UInt8] = [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")]
        let host = rest.dropFirst(2).prefix { !ends.contains($0) }
        return !host.isEmpty && host.endIndex < octets.endIndex
    }
}
