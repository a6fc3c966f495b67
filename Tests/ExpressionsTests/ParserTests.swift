import Testing

@testable import Expressions

@Suite("Parser")
struct ParserTests {
    @Test(
        "operators bind from if, or, and, not, comparisons, ??, + - ~, * / // % and - to fields and pipes",
        arguments: [
            ("a if b or c else d", "(if (or b c) a d)"),
            ("a if b else c if d else e", "(if b a d c e)"),
            ("a or b and c", "(or a (and b c))"),
            ("not a == b", "(not (== a b))"),
            ("not a and b", "(and (not a) b)"),
            ("not not a", "(not (not a))"),
            ("a == b ?? c", "(== a (?? b c))"),
            ("a not in b", "(not-in a b)"),
            ("a ?? b + c", "(?? a (reckon b + c))"),
            ("a + b * c - d", "(reckon a + (reckon b * c) - d)"),
            ("a + b ~ c", "(~ (reckon a + b) c)"),
            ("a * -b", "(reckon a * (- b))"),
            ("-a.b | c", "(- (c (. a b)))"),
            ("- -1", "(- -1)"),
            ("-1 | abs", "(- (abs 1))"),
            ("a | f(b) | g", "(g (f a b))"),
            ("f(a, [b, c])", "(f a (list b c))"),
            ("(a or b) and c", "(and (or a b) c)"),
            ("a // b % c", "(reckon a // b % c)"),
            ("'x' < \"y\"", "(< 'x' 'y')"),
        ])
    func precedence(text: String, tree: String) throws {
        #expect(try parsed(text).tree == tree)
    }

    @Test("the ranges of names count octets, also after text that is not ASCII")
    func ranges() throws {
        guard case .compare(_, let left, let right) = try parsed("'größe' ==  trigger . id") else {
            Issue.record("not a comparison")
            return
        }
        #expect(left.range == 0..<9)
        #expect(right.range == 14..<26)
    }

    @Test("random expressions, printed with as few brackets as possible, are read back the same", arguments: 0..<60)
    func printed(seed: UInt64) throws {
        var source = RandomSyntax(seed: seed)
        for _ in 0..<40 {
            let syntax = source.expression(depth: 4)
            let text = syntax.printed
            guard text.utf8.count <= Limits.expressionLength else { continue }
            #expect(try parsed(text).tree == syntax.tree, "\(text)")
        }
    }

    @Test("the amount and kind of white space between words does not matter", arguments: 0..<10)
    func spaces(seed: UInt64) throws {
        var source = RandomSyntax(seed: seed)
        for _ in 0..<20 {
            let syntax = source.expression(depth: 3)
            // The generator makes no text with a space in it, so every space stands between words.
            let text = " \n" + syntax.printed.replacing(" ", with: "\t \r\n") + " "
            guard text.utf8.count <= Limits.expressionLength else { continue }
            #expect(try parsed(text).tree == syntax.tree)
        }
    }

    private func parsed(_ text: String) throws -> Syntax {
        let octets = Array(text.utf8)
        return try Parser.parse(octets, in: octets.indices)
    }
}

extension Syntax {
    /// The syntax tree as nested lists of an operator and its operands.
    var tree: String {
        func list(_ head: String, _ operands: [Syntax]) -> String {
            "(\(([head] + operands.map(\.tree)).joined(separator: " ")))"
        }
        switch self {
        case .literal(let value, _): return House.shown(value)
        case .name(let name, _): return name
        case .field(let base, let name, _): return "(. \(base.tree) \(name))"
        case .list(let entries, _): return list("list", entries)
        case .call(let name, _, let arguments, _): return list(name, arguments)
        case .negate(let operand, _): return list("-", [operand])
        case .not(let operand, _): return list("not", [operand])
        case .and(let operands): return list("and", operands)
        case .or(let operands): return list("or", operands)
        case .fallback(let operands): return list("??", operands)
        case .conditional(let branches, let otherwise):
            return list("if", branches.flatMap { [$0.condition, $0.value] } + [otherwise])
        case .compare(let comparison, let left, let right): return list(comparison.rawValue, [left, right])
        case .membership(let isNegated, let value, let container):
            return list(isNegated ? "not-in" : "in", [value, container])
        case .arithmetic(let first, let operands):
            let rest = operands.map { " \($0.operation.rawValue) \($0.value.tree)" }.joined()
            return "(reckon \(first.tree)\(rest))"
        case .join(let parts): return list("~", parts)
        case .bracketed(let inner, _): return inner.tree
        }
    }
}
