extension Value {
    /// A number, or text that is one: digits with a sign, a point and an exponent as other programs write them.
    package var anyNumber: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .string(let text): Value.number(in: text)
        case .unknown, .boolean, .duration, .list: nil
        }
    }

    /// The same where nothing stands after the point, or only zeros.
    package var wholeNumber: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        case .string(let text): Value.isNumber(text) ? Int64(text) ?? Int64(exactly: Double(text) ?? .nan) : nil
        case .unknown, .boolean, .duration, .list: nil
        }
    }

    private static func number(in text: String) -> Double? {
        guard isNumber(text), let value = Double(text), value.isFinite else { return nil }
        return value
    }

    /// `[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?`
    private static func isNumber(_ text: String) -> Bool {
        var rest = text.utf8[...]
        func takeSign() {
            if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { rest.removeFirst() }
        }
        func takeDigits() -> Bool {
            let count = rest.count
            rest = rest.drop { $0.isDigit }
            return rest.count < count
        }
        takeSign()
        guard takeDigits() else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            guard takeDigits() else { return false }
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            takeSign()
            guard takeDigits() else { return false }
        }
        return rest.isEmpty
    }
}
