/// Finds the expressions in a template.
enum TemplateScanner {
    enum Piece: Hashable {
        case literal(Range<Int>)
        /// - Parameters:
        ///   - range: the expression without the braces.
        ///   - whole: the expression with the braces.
        case expression(Range<Int>, whole: Range<Int>)
    }

    /// Splits a template into literals and expressions. A lone `}}` is text; `{%` is an error.
    static func pieces(of octets: [UInt8]) throws(ExpressionProblem) -> [Piece] {
        var pieces: [Piece] = []
        var literalStart = 0
        var index = 0
        while index + 1 < octets.count {
            guard octets[index] == UInt8(ascii: "{") else {
                index += 1
                continue
            }
            if octets[index + 1] == UInt8(ascii: "%") {
                throw ExpressionProblem(
                    "E408", index..<index + 2, "{% … %} is not supported", hint: .statements)
            }
            guard octets[index + 1] == UInt8(ascii: "{") else {
                index += 1
                continue
            }
            let end = try end(of: index, in: octets)
            if index > literalStart { pieces.append(.literal(literalStart..<index)) }
            pieces.append(.expression(index + 2..<end, whole: index..<end + 2))
            index = end + 2
            literalStart = index
        }
        if literalStart < octets.count { pieces.append(.literal(literalStart..<octets.count)) }
        return pieces
    }

    /// The position of the first `}}` outside a string literal.
    private static func end(of start: Int, in octets: [UInt8]) throws(ExpressionProblem) -> Int {
        var index = start + 2
        var opening: Int?
        while index < octets.count {
            let octet = octets[index]
            if let quote = opening {
                if octet == UInt8(ascii: "\\") {
                    index += 1
                } else if octet == octets[quote] {
                    opening = nil
                }
            } else if octet == UInt8(ascii: "'") || octet == UInt8(ascii: "\"") {
                opening = index
            } else if octet == UInt8(ascii: "}"), index + 1 < octets.count, octets[index + 1] == octet {
                return index
            }
            index += 1
        }
        if let opening { throw Lexer.unclosedText(at: opening, quote: octets[opening]) }
        throw ExpressionProblem("E401", start..<start + 2, "this {{ is not closed; a }} is missing")
    }
}
