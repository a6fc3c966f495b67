import ButtonModel

/// What an expression evaluates to, and what the places it reads hold.
package enum Value: Hashable, Sendable {
    /// No message yet, nothing saved, nothing there: what `null` is equal to.
    case unknown
    case boolean(Bool)
    case integer(Int64)
    /// Never infinite and never not-a-number.
    case number(Double)
    case string(String)
    /// Durations of the language are whole milliseconds, so that what looks equal as text is equal.
    case duration(milliseconds: Int64)
    /// Of one type; integers and numbers are never mixed.
    case list([Value])

    /// - Parameter duration: parts of a millisecond are cut off.
    package init(_ duration: Duration) { self = .duration(milliseconds: duration.milliseconds) }
}

extension Value {
    package var booleanValue: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    package var durationValue: Duration? {
        if case .duration(let milliseconds) = self { .milliseconds(milliseconds) } else { nil }
    }

    /// Whether `==` of the language holds: numbers by their value, text by its code points, unknown only with unknown.
    package func isSame(as other: Value) -> Bool {
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
            left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
        case (.unknown, _), (.boolean, _), (.integer, _), (.number, _), (.string, _), (.duration, _), (.list, _):
            false
        }
    }

    /// Whether this comes before the other: two numbers, two durations, or two texts by code point. `nil` for others.
    func isLess(than other: Value) -> Bool? {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right
        case (.number(let left), .number(let right)): left < right
        case (.integer(let left), .number(let right)): NumberOrder.of(left, right) == .less
        case (.number(let left), .integer(let right)): NumberOrder.of(right, left) == .greater
        case (.duration(let left), .duration(let right)): left < right
        // UTF-8 sorts like code points.
        case (.string(let left), .string(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
        case (.unknown, _), (.boolean, _), (.integer, _), (.number, _), (.string, _), (.duration, _), (.list, _): nil
        }
    }
}

/// How a whole number lies to a floating one, exactly: no integer is rounded to be compared.
enum NumberOrder {
    case less, same, greater

    static func of(_ integer: Int64, _ number: Double) -> NumberOrder {
        if let whole = Int64(exactly: number) {
            return integer < whole ? .less : integer == whole ? .same : .greater
        }
        // What has a fraction is within ±2⁵³, what is out of reach of Int64 is beyond all of them.
        guard let floor = Int64(exactly: number.rounded(.down)) else { return number > 0 ? .less : .greater }
        return integer <= floor ? .less : .greater
    }
}
