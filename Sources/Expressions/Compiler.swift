/// Compiles a `Syntax` tree to a `CompiledExpression`: resolves names, checks types, and reports every mistake once.
///
/// An expression with a mistake has no `Checked` value, and expressions that contain it are not reported.
struct Compiler {
    /// A node of the program, with its type and syntax.
    struct Checked {
        var node: Int
        var type: ExpressionType
        var syntax: Syntax
    }

    let octets: [UInt8]
    let scope: Scope
    var program = CompiledExpression()
    var problems: [ExpressionProblem] = []
    var reads: Set<ValueReference> = []

    init(_ octets: [UInt8], in scope: Scope) {
        self.octets = octets
        self.scope = scope
        program.octets = octets
    }

    mutating func check(_ syntax: Syntax) -> Checked? {
        switch syntax {
        case .literal(let value, let range):
            Checked(node: program.append(constant: value, range), type: value.literalType, syntax: syntax)
        case .bracketed(let inner, _):
            check(inner).map { Checked(node: $0.node, type: $0.type, syntax: syntax) }
        case .name, .field: name(syntax)
        case .list(let entries, let range): list(entries, range, syntax)
        case .call(let name, let nameRange, let arguments, _): call(name, nameRange, arguments, syntax)
        case .negate(let operand, let range): negate(operand, range, syntax)
        case .not(let operand, let range):
            boolean(operand, of: "not").map { checked(.not($0.node), .boolean, syntax, range) }
        case .and(let operands): booleans(operands, of: "and").map { checked(.and($0), .boolean, syntax) }
        case .or(let operands): booleans(operands, of: "or").map { checked(.or($0), .boolean, syntax) }
        case .fallback(let operands): fallback(operands, syntax)
        case .conditional(let branches, let otherwise): conditional(branches, otherwise, syntax)
        case .compare(let comparison, let left, let right): compare(comparison, left, right, syntax)
        case .membership(let isNegated, let value, let container):
            membership(isNegated: isNegated, value, in: container, syntax)
        case .arithmetic(let first, let operands): arithmetic(first, operands, syntax)
        case .join(let parts): join(parts, syntax)
        }
    }

    mutating func checked(
        _ node: CompiledExpression.Node, _ type: ExpressionType, _ syntax: Syntax, _ range: Range<Int>? = nil
    ) -> Checked {
        Checked(node: program.append(node, range ?? syntax.range), type: type, syntax: syntax)
    }

    /// Checks all expressions, so that the mistakes of each are reported; `nil` if there are any.
    mutating func checkAll(_ syntaxes: [Syntax]) -> [Checked]? {
        let checked = syntaxes.map { check($0) }
        let good = checked.compactMap { $0 }
        return good.count == checked.count ? good : nil
    }

    private mutating func list(_ entries: [Syntax], _ range: Range<Int>, _ syntax: Syntax) -> Checked? {
        guard let entries = checkAll(entries) else { return nil }
        var element: ExpressionType.Scalar?
        for entry in entries {
            guard isKnown(entry) else { return nil }
            guard let scalar = entry.type.scalar else {
                report("E404", entry.syntax, "a list cannot hold a list: \(source(entry.syntax))")
                return nil
            }
            guard let merged = element.map({ $0.merged(with: scalar) }) ?? scalar else {
                report(
                    "E404", entry.syntax,
                    "the entries of a list are of one type; this one is \(entry.type), the others \(element ?? scalar)")
                return nil
            }
            element = merged
        }
        let type = ExpressionType.list(of: element)
        let nodes = entries.map { element == .number ? asNumber($0) : $0.node }
        let constants = entries.compactMap { program.constant(at: $0.node) }
        guard constants.count == entries.count else {
            return checked(.list(program.append(operands: nodes)), type, syntax, range)
        }
        let values = element == .number ? constants.map(\.asNumber) : constants
        return Checked(node: program.append(constant: .list(values), range), type: type, syntax: syntax)
    }

    /// The node, converted from integer to number if necessary.
    mutating func asNumber(_ checked: Checked) -> Int {
        guard checked.type.scalar == .integer || checked.type.kind == .list(of: .integer) else { return checked.node }
        return program.append(.asNumber(checked.node), checked.syntax.range)
    }

    /// The node, converted to this type if necessary.
    mutating func node(_ checked: Checked, as type: ExpressionType) -> Int {
        let isNumber = type.scalar == .number || type.kind == .list(of: .number)
        return isNumber ? asNumber(checked) : checked.node
    }
}

extension Value {
    /// The type of a literal, which is never a list.
    fileprivate var literalType: ExpressionType {
        switch self {
        case .unknown: .null
        case .boolean: .boolean
        case .integer: .integer
        case .number: .number
        case .string: .string
        case .duration: .duration
        case .list: .list(of: nil)
        }
    }

    /// An integer, or every integer of a list, converted to a number.
    var asNumber: Value {
        switch self {
        case .integer(let value): .number(Double(value))
        case .list(let values): .list(values.map(\.asNumber))
        case .unknown, .boolean, .number, .string, .duration: self
        }
    }
}
