extension Value {
    /// The value as a number, if it is a number, or text with a finite decimal number; its sign, fraction and exponent
    /// are optional.
    package var numericValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .string(let text): Value.number(in: text)
        case .unknown, .boolean, .duration, .list: nil
        }
    }

    /// The value as an integer, if `numericValue` would be a number without a fraction other than zeros.
    package var integerValue: Int64? {
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

    /// True if the text matches `[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?`.
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
