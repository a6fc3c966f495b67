/// Splits an expression into tokens.
///
/// Positions are offsets into the whole text, of which the expression may be a part, such as `{{ … }}` in a template.
struct Lexer {
    private let octets: [UInt8]
    private let end: Int
    private var position: Int

    init(_ octets: [UInt8], in range: Range<Int>) {
        let range = range.clamped(to: octets.indices)
        self.octets = octets
        position = range.lowerBound
        end = range.upperBound
    }

    mutating func next() throws(ExpressionProblem) -> Token {
        while let octet = peek(), octet == 0x20 || octet == 0x0A || octet == 0x0D || octet == 0x09 { position += 1 }
        guard let octet = peek() else { return Token(kind: .end, range: end..<end) }
        switch octet {
        case UInt8(ascii: "'"), UInt8(ascii: "\""): return try string(quote: octet)
        case _ where octet.isDigit: return try number()
        case _ where octet.isNameStart: return name()
        default: return try symbol(octet)
        }
    }

    private func peek(_ ahead: Int = 0) -> UInt8? {
        position + ahead < end ? octets[position + ahead] : nil
    }

    private func text(from start: Int) -> String { String(decoding: octets[start..<position], as: UTF8.self) }

    // MARK: Names and symbols

    private mutating func name() -> Token {
        let start = position
        while let octet = peek(), octet.isNameStart || octet.isDigit { position += 1 }
        let name = text(from: start)
        let keyword = Token.Keyword(rawValue: name)
        return Token(kind: keyword.map(Token.Kind.keyword) ?? .name(name), range: start..<position)
    }

    private mutating func symbol(_ octet: UInt8) throws(ExpressionProblem) -> Token {
        let start = position
        if let next = peek(1) {
            let pair = String(decoding: [octet, next], as: UTF8.self)
            if let symbol = Token.Symbol(rawValue: pair) {
                position += 2
                return Token(kind: .symbol(symbol), range: start..<position)
            }
            try rejectPair(pair)
        }
        if let symbol = Token.Symbol(rawValue: String(UnicodeScalar(octet))) {
            if octet == UInt8(ascii: "."), let next = peek(1), next.isDigit { throw numberWithoutZero() }
            position += 1
            return Token(kind: .symbol(symbol), range: start..<position)
        }
        throw unexpectedCharacter(octet)
    }

    /// Rejects operators of other languages, with a hint.
    private func rejectPair(_ pair: String) throws(ExpressionProblem) {
        let range = position..<position + 2
        switch pair {
        case "&&": throw ExpressionProblem("E401", range, "unexpected \"&&\"", hint: .write("and"))
        case "||": throw ExpressionProblem("E401", range, "unexpected \"||\"", hint: .write("or"))
        case "{{": throw ExpressionProblem("E401", range, "this is an expression already", hint: withoutBraces)
        case "}}": throw ExpressionProblem("E401", range, "unexpected \"}}\"", hint: withoutBraces)
        default: break
        }
    }

    /// The hint to remove the braces around an expression, which belong only in templates.
    private var withoutBraces: Hint {
        let hint: Hint = "remove the braces"
        let text = octets.drop { $0 == 0x20 }
        guard text.starts(with: "{{".utf8), text.suffix(2).elementsEqual("}}".utf8), text.count >= 4 else {
            return hint
        }
        let inner = text.dropFirst(2).dropLast(2).drop { $0 == 0x20 }
        let end = inner.lastIndex { $0 != 0x20 }.map { $0 + 1 } ?? inner.startIndex
        let expression = String(decoding: octets[inner.startIndex..<end], as: UTF8.self)
        guard !expression.contains("{{") else { return hint }
        return Hint(hint.sentence, [.init(text.startIndex..<text.endIndex, expression)])
    }

    private func unexpectedCharacter(_ octet: UInt8) -> ExpressionProblem {
        var length = 1
        while octet >= 0x80, let next = peek(length), next & 0xC0 == 0x80 { length += 1 }
        let range = position..<position + length
        let character = String(decoding: octets[range], as: UTF8.self)
        switch octet {
        case UInt8(ascii: "="):
            return ExpressionProblem(
                "E401", range, "unexpected \"=\"", hint: ForeignNames.comparison("=="))
        case UInt8(ascii: "!"):
            return ExpressionProblem("E401", range, "unexpected \"!\"", hint: .write("not"))
        case UInt8(ascii: "?"), UInt8(ascii: ":"):
            return ExpressionProblem("E401", range, "unexpected \"\(character)\"", hint: "write a if b else c")
        case UInt8(ascii: "&"):
            return ExpressionProblem(
                "E401", range, "unexpected \"&\"", hint: Hint("write and, or ~ to join text", replacing: "and", "~"))
        case 0..<0x20, 0x7F:
            return ExpressionProblem("E401", range, "an expression cannot contain a control character")
        default:
            return ExpressionProblem("E401", range, "unexpected \"\(character)\"")
        }
    }

    // MARK: Numbers

    private mutating func number() throws(ExpressionProblem) -> Token {
        let start = position
        while let octet = peek(), octet.isDigit { position += 1 }
        let wholeEnd = position
        if peek() == UInt8(ascii: "."), let next = peek(1), next.isDigit {
            position += 1
            while let octet = peek(), octet.isDigit { position += 1 }
        }
        let numberEnd = position
        // Letters and digits that follow directly belong to the token: `1h30m`, `1e3`, `0x1f`, `1_000`.
        while let octet = peek(), octet.isNameStart || octet.isDigit || (octet == UInt8(ascii: ".") && isFraction) {
            position += 1
        }
        let range = start..<position
        if position > numberEnd { return try duration(range) }
        let digits = text(from: start)
        guard octets[start] != UInt8(ascii: "0") || wholeEnd == start + 1 else {
            let written = String(Substring(digits.utf8.drop { $0 == UInt8(ascii: "0") }))
            let meant = written.isEmpty || written.hasPrefix(".") ? "0" + written : written
            throw ExpressionProblem(
                "E401", range, "\"\(digits)\" begins with 0", hint: .write(meant))
        }
        if numberEnd == wholeEnd {
            guard let value = UInt64(digits), value <= UInt64(Int64.max) + 1 else {
                throw ExpressionProblem("E401", range, "this number is too large")
            }
            return Token(kind: .integer(value), range: range)
        }
        guard let value = Double(digits), value.isFinite else {
            throw ExpressionProblem("E401", range, "this number is too large")
        }
        return Token(kind: .number(value), range: range)
    }

    private var isFraction: Bool { peek(1)?.isDigit ?? false }

    private func duration(_ range: Range<Int>) throws(ExpressionProblem) -> Token {
        let written = String(decoding: octets[range], as: UTF8.self)
        do {
            return Token(kind: .duration(milliseconds: try DurationText.milliseconds(written)), range: range)
        } catch {
            if let meant = Lexer.plainNumber(written) {
                throw ExpressionProblem(
                    "E401", range, "\"\(written)\" is not a valid number", hint: .write(meant))
            }
            let hint = written.utf8.contains { !$0.isDigit } ? error.hint : nil
            throw ExpressionProblem("E401", range, "\"\(written)\" \(error.message)", hint: hint)
        }
    }

    /// The decimal notation of numbers such as `1e3`, `1_000` and `0x1f`, for a hint.
    private static func plainNumber(_ written: String) -> String? {
        if written.contains("_") {
            let digits = written.filter { $0 != "_" }
            return UInt64(digits).map(String.init)
        }
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where written.hasPrefix(prefix) {
            return UInt64(written.dropFirst(2), radix: radix).map(String.init)
        }
        guard written.contains("e"), let value = Double(written), value.magnitude < 1e21 else { return nil }
        return Decimal(value).text
    }

    private func numberWithoutZero() -> ExpressionProblem {
        var length = 1
        while let octet = peek(length), octet.isDigit { length += 1 }
        let range = position..<position + length
        let written = String(decoding: octets[range], as: UTF8.self)
        return ExpressionProblem(
            "E401", range, "\"\(written)\" is not a valid number", hint: .write("0\(written)"))
    }

    // MARK: Text

    private mutating func string(quote: UInt8) throws(ExpressionProblem) -> Token {
        let start = position
        position += 1
        var text: [UInt8] = []
        while let octet = peek() {
            position += 1
            switch octet {
            case quote:
                return Token(kind: .string(String(decoding: text, as: UTF8.self)), range: start..<position)
            case UInt8(ascii: "\\"): try escape(into: &text)
            default: text.append(octet)
            }
        }
        throw Lexer.unclosedText(at: start, quote: quote)
    }

    static func unclosedText(at start: Int, quote: UInt8) -> ExpressionProblem {
        ExpressionProblem("E401", start..<start + 1, "this text is not closed; a \(UnicodeScalar(quote)) is missing")
    }

    private mutating func escape(into text: inout [UInt8]) throws(ExpressionProblem) {
        let start = position - 1
        guard let octet = peek() else { return }
        position += 1
        switch octet {
        case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""): text.append(octet)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): try scalar(into: &text, from: start)
        default:
            while let next = peek(), next & 0xC0 == 0x80 { position += 1 }
            throw ExpressionProblem(
                "E401", start..<position, "unknown escape \(self.text(from: start))",
                hint: Hint(#"write \\ for a backslash"#, [.init(start..<start + 1, #"\\"#)]))
        }
    }

    /// Parses `{1F4A1}` after `\u`.
    private mutating func scalar(into text: inout [UInt8], from start: Int) throws(ExpressionProblem) {
        var digits = ""
        if peek() == UInt8(ascii: "{") {
            position += 1
            while let octet = peek(), octet.isDigit || octet.isNameStart, digits.utf8.count <= 8 {
                digits.unicodeScalars.append(UnicodeScalar(octet))
                position += 1
            }
        }
        let isClosed = peek() == UInt8(ascii: "}")
        if isClosed { position += 1 }
        guard isClosed, digits.utf8.count <= 6, let code = UInt32(digits, radix: 16), let scalar = UnicodeScalar(code)
        else {
            throw ExpressionProblem(
                "E401", start..<position, "\(self.text(from: start)) is not a character", hint: #"write \u{1F4A1}"#)
        }
        text.append(contentsOf: String(scalar).utf8)
    }
}

extension UInt8 {
    /// True if a name may begin with this octet. Names are `[A-Za-z_][A-Za-z0-9_]*`.
    var isNameStart: Bool {
        (0x61...0x7A).contains(self) || (0x41...0x5A).contains(self) || self == UInt8(ascii: "_")
    }
}
