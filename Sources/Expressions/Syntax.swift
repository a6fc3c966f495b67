/// The syntax tree of an expression. Operators of the same precedence in sequence are one node with several operands,
/// so that the depth of the tree does not grow with their number.
indirect enum Syntax: Hashable {
    case literal(Value, Range<Int>)
    case name(String, Range<Int>)
    case field(of: Syntax, String, nameRange: Range<Int>)
    case list([Syntax], Range<Int>)
    case call(String, nameRange: Range<Int>, [Syntax], Range<Int>)
    case negate(Syntax, Range<Int>)
    case not(Syntax, Range<Int>)
    case and([Syntax])
    case or([Syntax])
    /// The fallback operator `??`.
    case fallback([Syntax])
    case conditional([Branch], otherwise: Syntax)
    case compare(Comparison, Syntax, Syntax)
    case membership(isNegated: Bool, Syntax, in: Syntax)
    /// Evaluated from left to right.
    case arithmetic(Syntax, [Operand])
    case join([Syntax])
    /// An expression in brackets; kept for its range.
    case bracketed(Syntax, Range<Int>)

    struct Branch: Hashable {
        var value: Syntax
        var condition: Syntax
    }

    struct Operand: Hashable {
        var operation: Arithmetic
        var value: Syntax
    }
}

/// A comparison operator. The raw value is its symbol.
enum Comparison: String, CaseIterable, Hashable, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
}

/// An arithmetic operator. The raw value is its symbol.
enum Arithmetic: String, CaseIterable, Hashable, Sendable {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case floorDivide = "//"
    case remainder = "%"
}

extension Syntax {
    /// The position in the source text, in octets.
    var range: Range<Int> {
        switch self {
        case .literal(_, let range), .name(_, let range), .list(_, let range), .call(_, _, _, let range),
            .negate(_, let range), .not(_, let range), .bracketed(_, let range):
            range
        case .field(let base, _, let nameRange): base.range.lowerBound..<nameRange.upperBound
        case .and(let operands), .or(let operands), .fallback(let operands), .join(let operands):
            Syntax.span(operands.first, operands.last)
        case .conditional(let branches, let otherwise): Syntax.span(branches.first?.value, otherwise)
        case .compare(_, let left, let right), .membership(_, let left, let right): Syntax.span(left, right)
        case .arithmetic(let first, let operands): Syntax.span(first, operands.last?.value)
        }
    }

    private static func span(_ first: Syntax?, _ last: Syntax?) -> Range<Int> {
        guard let first = first?.range, let last = last?.range else { return 0..<0 }
        return first.lowerBound..<max(first.upperBound, last.upperBound)
    }

    var withoutBrackets: Syntax {
        if case .bracketed(let inner, _) = self { inner.withoutBrackets } else { self }
    }
}
