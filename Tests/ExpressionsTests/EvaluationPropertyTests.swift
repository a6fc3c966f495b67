import TestSupport
import Testing

@testable import Expressions

@Suite("Evaluation of random expressions")
struct EvaluationPropertyTests {
    @Test(
        "an expression that compiles gives a value of its type, or an evaluation failure inside its text",
        arguments: 0..<60)
    func promises(seed: UInt64) throws {
        var source = RandomTyped(seed: seed)
        for _ in 0..<100 {
            let text = source.expression(.allCases.randomElement(using: &source.random) ?? .boolean, depth: 4)
            guard text.utf8.count <= Limits.expressionLength else { continue }
            let expression = try Expression(compiling: text, in: House.wholeScope)
            do throws(EvaluationFailure) {
                let value = try expression.evaluate(in: House.environment)
                #expect(value.fits(expression.type), "\(text)")
            } catch {
                #expect(error.range.upperBound <= text.utf8.count)
            }
        }
    }

    @Test("an environment with values of wrong types makes failures, not traps", arguments: 0..<40)
    func wrongEnvironment(seed: UInt64) throws {
        var source = RandomTyped(seed: seed)
        let values: [Value] = [
            .unknown, .boolean(true), .integer(.min), .integer(.max), .number(.infinity), .number(.nan), .string(""),
            .duration(milliseconds: .min), .list([]), .list([.unknown, .integer(1)]),
        ]
        for _ in 0..<60 {
            var environment = EvaluationContext()
            environment.states = (0..<Int.random(in: 0...4, using: &source.random)).map { _ in
                values.randomElement(using: &source.random) ?? .unknown
            }
            environment.variables = environment.states.shuffled(using: &source.random)
            let text = source.expression(.allCases.randomElement(using: &source.random) ?? .boolean, depth: 3)
            guard let expression = try? Expression(compiling: text, in: House.wholeScope) else { continue }
            _ = try? expression.evaluate(in: environment)
        }
    }

    @Test("random text and broken expressions are read or refused, with problems inside the text", arguments: 0..<60)
    func randomText(seed: UInt64) {
        var source = RandomSyntax(seed: seed)
        var random = SeededGenerator(seed: ~seed)
        let scraps = [
            "(", ")", "[", "]", "'", "\"", "\\", "{{", "}}", "-", "not ", ".", "|", "é", "1", "e", "if ", " else ",
            "\u{0}",
        ]
        for _ in 0..<100 {
            var octets = Array(source.expression(depth: 3).printed.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0...octets.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: octets.removeSubrange(place..<min(octets.count, place + 3))
                case 1: octets.insert(contentsOf: (scraps.randomElement(using: &random) ?? "").utf8, at: place)
                default: octets.insert(UInt8.random(in: 0...255, using: &random), at: place)
                }
            }
            let text = String(decoding: octets, as: UTF8.self)
            do throws(ExpressionProblems) {
                _ = try? Expression(compiling: text, in: House.scope).evaluate(in: House.environment)
                _ = try Template(compiling: "a {{" + text + "}} b {{ " + text, in: House.scope)
            } catch {
                #expect(!error.list.isEmpty)
                #expect(error.list.allSatisfy { $0.range.upperBound <= 2 * text.utf8.count + 12 })
            }
        }
    }

    @Test(
        "integer arithmetic gives the exact integer, or failure R802 if 64 bits cannot hold it",
        arguments: ["+", "-", "*", "//", "%"], 0..<10)
    func integers(symbol: String, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let expression = try Expression(
            compiling: "states.people \(symbol) variables.volume", in: House.scope, expecting: .type(.integer))
        let edges: [Int64] = [.min, .min + 1, -2, -1, 0, 1, 2, .max - 1, .max]
        let pairs =
            edges.flatMap { left in edges.map { (left, $0) } }
            + (0..<200).map { _ in
                let shift = Int64.random(in: 0..<64, using: &random)
                return (Int64(truncatingIfNeeded: random.next()), Int64(truncatingIfNeeded: random.next()) >> shift)
            }
        for (left, right) in pairs {
            var environment = House.environment
            environment.states[3] = .integer(left)
            environment.variables[2] = .integer(right)
            let outcome = Result { try expression.evaluate(in: environment) }
            let expected = EvaluationPropertyTests.wide(symbol, left, right).flatMap { Int64(exactly: $0) }
            switch outcome {
            case .success(let value): #expect(value == expected.map(Value.integer), "\(left) \(symbol) \(right)")
            case .failure(let failure):
                #expect((failure as? EvaluationFailure)?.code == .arithmetic)
                #expect(expected == nil, "\(left) \(symbol) \(right)")
            }
        }
    }

    /// The exact result, computed with 128 bits.
    private static func wide(_ symbol: String, _ left: Int64, _ right: Int64) -> Int128? {
        let (left, right) = (Int128(left), Int128(right))
        switch symbol {
        case "+": return left + right
        case "-": return left - right
        case "*": return left * right
        default:
            guard right != 0 else { return nil }
            let remainder = ((left % right) + right) % right
            return symbol == "%" ? remainder : (left - remainder) / right
        }
    }

    @Test("integers and numbers are compared exactly", arguments: 0..<20)
    func exactOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let integer = Int64(truncatingIfNeeded: random.next()) >> Int64.random(in: 0..<64, using: &random)
            let near = Double(integer) + [-1.5, -1, -0.5, 0, 0.5, 1].randomElement(using: &random)!
            // Twice the number is an integer: `near` differs from an integer by a multiple of one half, and the result
            // fits 128 bits.
            let doubled = Int128(near * 2)
            let order = NumberOrder.of(integer, near)
            let expected: NumberOrder =
                Int128(integer) * 2 < doubled ? .less : Int128(integer) * 2 == doubled ? .same : .greater
            #expect(order == expected, "\(integer) and \(near)")
        }
        #expect(NumberOrder.of(.max, 9_223_372_036_854_775_808) == .less)
        #expect(NumberOrder.of(.min, -9_223_372_036_854_775_808) == .same)
        #expect(NumberOrder.of(.min, -1e300) == .greater)
        #expect(NumberOrder.of(-1, -0.5) == .less)
        #expect(NumberOrder.of(0, -0.0) == .same)
    }
}
