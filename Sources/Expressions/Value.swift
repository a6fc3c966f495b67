import ButtonModel

/// A value of the expression language.
package enum Value: Hashable, Sendable {
    /// No value: no message was received, or nothing was saved. It equals `null`.
    case unknown
    case boolean(Bool)
    case integer(Int64)
    /// Always finite.
    case number(Double)
    case string(String)
    /// Durations are whole milliseconds, so that durations with equal text are equal.
    case duration(milliseconds: Int64)
    /// All elements have the same type; integers and numbers are not mixed.
    case list([Value])

    /// - Parameter duration: truncated to whole milliseconds.
    package init(_ duration: Duration) { self = .duration(milliseconds: duration.milliseconds) }
}

extension Value {
    package var booleanValue: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    package var stringValue: String? {
        if case .string(let text) = self { text } else { nil }
    }

    package var durationValue: Duration? {
        if case .duration(let milliseconds) = self { .milliseconds(milliseconds) } else { nil }
    }

    /// The `==` of the language: compares numbers by value, and text by code points; unknown equals only unknown.
    package func isEqual(to other: Value) -> Bool {
        switch (self, other) {
        case (.unknown, .unknown): true
        case (.boolean(let left), .boolean(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.integer(let left), .number(let right)): NumberOrder.of(left, right) == .same
        case (.number(let left), .integer(let right)): NumberOrder.of(right, left) == .same
        case (.string(let left), .string(let right)): left == right && left.utf8.elementsEqual(right.utf8)
        case (.duration(let left), .duration(let right)): left == right
        case (.list(let left), .list(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.isEqual(to: $1) }
        case (.unknown, _), (.boolean, _), (.integer, _), (.number, _), (.string, _), (.duration, _), (.list, _):
            false
        }
    }

    /// The `<` of the language: compares numbers, durations, or texts by code points; `nil` for other operands.
    func isLess(than other: Value) -> Bool? {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right
        case (.number(let left), .number(let right)): left < right
        case (.integer(let left), .number(let right)): NumberOrder.of(left, right) == .less
        case (.number(let left), .integer(let right)): NumberOrder.of(right, left) == .greater
        case (.duration(let left), .duration(let right)): left < right
        // The order of UTF-8 octets is the order of the code points.
        case (.string(let left), .string(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
        case (.unknown, _), (.boolean, _), (.integer, _), (.number, _), (.string, _), (.duration, _), (.list, _): nil
        }
    }
}

/// Compares an integer with a floating-point number exactly, without rounding the integer.
enum NumberOrder {
    case less, same, greater

    static func of(_ integer: Int64, _ number: Double) -> NumberOrder {
        if let whole = Int64(exactly: number) {
            return integer < whole ? .less : integer == whole ? .same : .greater
        }
        // A number with a fraction is within ±2⁵³, so its floor is exact; a number outside the range of `Int64` is less
        // or greater than every integer.
        guard let floor = Int64(exactly: number.rounded(.down)) else { return number > 0 ? .less : .greater }
        return integer <= floor ? .less : .greater
    }
}
