import TestSupport

@testable import Expressions

/// Makes random expressions of every form, without regard to types.
struct RandomSyntax {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private static let nowhere = 0..<0

    mutating func expression(depth: Int) -> Syntax {
        guard depth > 0, Int.random(in: 0..<8, using: &random) > 0 else { return atom() }
        let below = depth - 1
        let range = RandomSyntax.nowhere
        switch Int.random(in: 0..<13, using: &random) {
        case 0: return .and(operands(below))
        case 1: return .or(operands(below))
        case 2: return .not(expression(depth: below), range)
        case 3: return .fallback(operands(below))
        case 4:
            let branches = (0...Int.random(in: 0...1, using: &random)).map { _ in
                Syntax.Branch(value: expression(depth: below), condition: expression(depth: below))
            }
            return .conditional(branches, otherwise: expression(depth: below))
        case 5:
            return .compare(
                Comparison.allCases.randomElement(using: &random) ?? .equal, expression(depth: below),
                expression(depth: below))
        case 6:
            return .membership(
                isNegated: Bool.random(using: &random), expression(depth: below), in: expression(depth: below))
        case 7: return arithmetic([.add, .subtract], below)
        case 8: return arithmetic([.multiply, .divide, .floorDivide, .remainder], below)
        case 9: return .join(operands(below))
        case 10: return .list(operands(below), range)
        case 11:
            let function = Function.allCases.randomElement(using: &random) ?? .known
            return .call(function.rawValue, nameRange: range, operands(below), range)
        default: return negated(expression(depth: below))
        }
    }

    private mutating func operands(_ depth: Int) -> [Syntax] {
        (0...Int.random(in: 1...2, using: &random)).map { _ in expression(depth: depth) }
    }

    private mutating func arithmetic(_ operations: [Arithmetic], _ depth: Int) -> Syntax {
        let operands = (0...Int.random(in: 0...1, using: &random)).map { _ in
            Syntax.Operand(
                operation: operations.randomElement(using: &random) ?? .add, value: expression(depth: depth))
        }
        return .arithmetic(expression(depth: depth), operands)
    }

    /// A minus before a number literal is part of the literal, so such a literal is not negated.
    private func negated(_ syntax: Syntax) -> Syntax {
        switch syntax {
        case .literal(.integer, _), .literal(.number, _): syntax
        default: .negate(syntax, RandomSyntax.nowhere)
        }
    }

    private mutating func atom() -> Syntax {
        let range = RandomSyntax.nowhere
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return .literal(.unknown, range)
        case 1: return .literal(.boolean(Bool.random(using: &random)), range)
        case 2: return .literal(.integer(integer()), range)
        case 3:
            return .literal(.number(Double(Int.random(in: -9999...9999, using: &random)) / 100 + 0.001), range)
        case 4: return .literal(.duration(milliseconds: .random(in: 0...100_000_000, using: &random)), range)
        case 5:
            return .literal(
                .string(["", "ON", "it's", "\\", "\"q\"", "größe", "}}"].randomElement(using: &random) ?? ""), range)
        default:
            let names = [
                "states.lux", "states.people", "states.hall_light", "variables.volume", "variables.guest",
                "trigger.clicks", "trigger.age", "buttons.hall.battery", "now.hour", "nothing",
            ]
            let parts = (names.randomElement(using: &random) ?? "nothing").split(separator: ".").map(String.init)
            return parts.dropFirst().reduce(.name(parts[0], range)) { .field(of: $0, $1, nameRange: range) }
        }
    }

    private mutating func integer() -> Int64 {
        let special: [Int64] = [.min, .max, .min + 1, -1, 0, 1, 2, 60, 1 << 53]
        return Bool.random(using: &random)
            ? special.randomElement(using: &random) ?? 0 : Int64(truncatingIfNeeded: random.next())
    }
}

extension Syntax {
    /// The expression's text, with brackets only where they are needed.
    var printed: String { printed(asTightAs: 0) }

    /// The binding strength of the operator; 9 for expressions that never need brackets.
    private var tightness: Int {
        switch self {
        case .conditional: 0
        case .or: 1
        case .and: 2
        case .not: 3
        case .compare, .membership: 4
        case .fallback: 5
        case .join: 6
        case .arithmetic(_, let operands):
            operands.first?.operation == .add || operands.first?.operation == .subtract ? 6 : 7
        case .negate: 8
        case .literal(.integer(let value), _): value < 0 ? 8 : 9
        case .literal(.number(let value), _): value < 0 ? 8 : 9
        case .literal, .name, .field, .list, .call, .bracketed: 9
        }
    }

    private func printed(asTightAs least: Int) -> String {
        guard tightness >= least else { return "(\(printed(asTightAs: 0)))" }
        func joined(_ operands: [Syntax], _ symbol: String, asTightAs least: Int) -> String {
            operands.map { $0.printed(asTightAs: least) }.joined(separator: " \(symbol) ")
        }
        switch self {
        case .literal(.string(let text), _):
            let escaped = text.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
            return "'\(escaped)'"
        case .literal(let value, _): return House.shown(value)
        case .name(let name, _): return name
        case .field(let base, let name, _): return "\(base.printed(asTightAs: 9)).\(name)"
        case .list(let entries, _): return "[\(entries.map(\.printed).joined(separator: ", "))]"
        case .call(let name, _, let arguments, _):
            return "\(name)(\(arguments.map(\.printed).joined(separator: ", ")))"
        case .negate(let operand, _): return "- \(operand.printed(asTightAs: 8))"
        case .not(let operand, _): return "not \(operand.printed(asTightAs: 3))"
        case .and(let operands): return joined(operands, "and", asTightAs: 3)
        case .or(let operands): return joined(operands, "or", asTightAs: 2)
        case .fallback(let operands): return joined(operands, "??", asTightAs: 6)
        case .conditional(let branches, let otherwise):
            let before = branches.map { branch in
                "\(branch.value.printed(asTightAs: 1)) if \(branch.condition.printed(asTightAs: 1)) else "
            }
            return before.joined() + otherwise.printed(asTightAs: 1)
        case .compare(let comparison, let left, let right):
            return joined([left, right], comparison.rawValue, asTightAs: 5)
        case .membership(let isNegated, let value, let container):
            return joined([value, container], isNegated ? "not in" : "in", asTightAs: 5)
        case .arithmetic(let first, let operands):
            return operands.reduce(first.printed(asTightAs: tightness + 1)) { text, operand in
                "\(text) \(operand.operation.rawValue) \(operand.value.printed(asTightAs: tightness + 1))"
            }
        case .join(let parts): return joined(parts, "~", asTightAs: 7)
        case .bracketed(let inner, _): return inner.printed(asTightAs: least)
        }
    }
}
