/// An operator whose right side is still to be read, and what was read before it.
struct PendingOperator {
    /// How tightly an operator binds, loosest first.
    enum Tightness: Int, Comparable {
        case conditional, or, and, not, test, fallback, sum, product, negate

        static func < (left: Tightness, right: Tightness) -> Bool { left.rawValue < right.rawValue }
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
        /// After an `if`: its condition comes.
        case condition
        /// After an `else`: another value comes.
        case conditional
        case or, and, not
        case test(Test)
        /// A second comparison; the hint lacks its right side.
        case chain(hint: String)
        case fallback
        /// The operations are those of the last sign.
        case sum(Arithmetic)
        case join
        case product(Arithmetic)
        /// The minus before a number that is written out belongs to the number.
        case negate(isNumber: Bool)

        var tightness: Tightness {
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

        var nests: Bool { tightness == .not || tightness == .negate }
    }

    var kind: Kind
    /// Of the operator itself; of several alike, the last.
    var range: Range<Int>
    var operands: [Syntax] = []
    /// Of a sum or a product, one less than operands will be.
    private var operations: [Arithmetic] = []

    init(kind: Kind, range: Range<Int>) {
        self.kind = kind
        self.range = range
    }

    /// The left side of an operator like this one.
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
            // The least integer was read with its sign already.
            case .literal(.integer(let value), _) where isNumber: return .literal(.integer(0 &- value), prefixed)
            case .literal(.number(let value), _) where isNumber: return .literal(.number(-value), prefixed)
            default: return .negate(last, prefixed)
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
