/// An operator whose right operand has not been parsed yet, with the operands before it.
struct PendingOperator {
    /// The precedence of operators, in ascending order.
    enum Precedence: Int, Comparable {
        case conditional, or, and, not, test, fallback, sum, product, negate

        static func < (left: Precedence, right: Precedence) -> Bool { left.rawValue < right.rawValue }
    }

    enum Test: Hashable, CustomStringConvertible {
        case comparison(Comparison)
        case membership(isNegated: Bool)

        var description: String {
            switch self {
            case .comparison(let comparison): comparison.rawValue
            case .membership(let isNegated): isNegated ? "not in" : "in"
            }
        }
    }

    enum Kind: Hashable {
        /// `if` was parsed; its condition follows.
        case condition
        /// `else` was parsed; the alternative value follows.
        case conditional
        case or, and, not
        case test(Test)
        /// A second comparison, as in `a < b < c`, which is not allowed. The hint still lacks the last operand.
        case chain(hint: String, change: String)
        case fallback
        /// The last operator parsed; all of them are in `operations`.
        case sum(Arithmetic)
        case join
        case product(Arithmetic)
        /// A minus sign. If `isNumber` is true, it becomes part of the number literal that follows.
        case negate(isNumber: Bool)

        var precedence: Precedence {
            switch self {
            case .condition, .conditional: .conditional
            case .or: .or
            case .and: .and
            case .not: .not
            case .test, .chain: .test
            case .fallback: .fallback
            case .sum, .join: .sum
            case .product: .product
            case .negate: .negate
            }
        }

        var nests: Bool { precedence == .not || precedence == .negate }
    }

    var kind: Kind
    /// The position of the operator; the last position if there are several operators of the same kind.
    var range: Range<Int>
    var operands: [Syntax] = []
    /// The operators of a sum or a product: one less than there will be operands.
    private var operations: [Arithmetic] = []

    init(kind: Kind, range: Range<Int>) {
        self.kind = kind
        self.range = range
    }

    /// Adds the left operand of a further operator of the same kind.
    mutating func append(_ operand: Syntax, _ kind: Kind) {
        operands.append(operand)
        self.kind = kind
        switch kind {
        case .sum(let operation), .product(let operation): operations.append(operation)
        case .condition, .conditional, .or, .and, .not, .test, .chain, .fallback, .join, .negate: break
        }
    }

    func syntax(with last: Syntax) -> Syntax {
        let prefixed = range.lowerBound..<max(range.upperBound, last.range.upperBound)
        switch kind {
        case .or: return .or(operands + [last])
        case .and: return .and(operands + [last])
        case .fallback: return .fallback(operands + [last])
        case .join: return .join(operands + [last])
        case .not: return .not(last, prefixed)
        case .negate(let isNumber):
            switch last {
            // `Int64.min` was parsed with its sign.
            case .literal(.integer(let value), _) where isNumber: return .literal(.integer(0 &- value), prefixed)
            case .literal(.number(let value), _) where isNumber: return .literal(.number(-value), prefixed)
            case .literal, .name, .field, .list, .call, .negate, .not, .and, .or, .fallback, .conditional, .compare,
                .membership, .arithmetic, .join, .bracketed:
                return .negate(last, prefixed)
            }
        case .sum, .product:
            guard let first = operands.first else { return last }
            let values = operands.dropFirst() + [last]
            return .arithmetic(first, zip(operations, values).map { Syntax.Operand(operation: $0, value: $1) })
        case .test(let test):
            guard let first = operands.first else { return last }
            return switch test {
            case .comparison(let comparison): .compare(comparison, first, last)
            case .membership(let isNegated): .membership(isNegated: isNegated, first, in: last)
            }
        case .condition, .conditional, .chain:
            let branches = stride(from: 0, to: operands.count - 1, by: 2).map {
                Syntax.Branch(value: operands[$0], condition: operands[$0 + 1])
            }
            return .conditional(branches, otherwise: last)
        }
    }
}
