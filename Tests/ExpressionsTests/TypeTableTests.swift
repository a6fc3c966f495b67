import Expressions
import Testing

/// Tables of which operator takes which types, and what it gives.
@Suite("Operand types")
struct TypeTableTests {
    /// A value of each type, by the letter of its column.
    private static let values: [(letter: String, text: String)] = [
        ("b", "true"), ("i", "6"), ("n", "2.5"), ("s", "'a'"), ("d", "4s"), ("l", "[1]"), ("?", "states.lux"),
        ("0", "null"),
    ]

    @Test(
        "each operator gives the type of its table for every pair of types, or refuses the pair",
        arguments: [
            (
                "+",
                """
                  b i n s d l ? 0
                b . . . . . . . .
                i . i n . . . . .
                n . n n . . . . .
                s . . . . . . . .
                d . . . . d . . .
                l . . . . . . . .
                ? . . . . . . . .
                0 . . . . . . . .
                """
            ),
            (
                "-",
                """
                  b i n s d l ? 0
                b . . . . . . . .
                i . i n . . . . .
                n . n n . . . . .
                s . . . . . . . .
                d . . . . d . . .
                l . . . . . . . .
                ? . . . . . . . .
                0 . . . . . . . .
                """
            ),
            (
                "*",
                """
                  b i n s d l ? 0
                b . . . . . . . .
                i . i n . d . . .
                n . n n . d . . .
                s . . . . . . . .
                d . d d . . . . .
                l . . . . . . . .
                ? . . . . . . . .
                0 . . . . . . . .
                """
            ),
            (
                "/",
                """
                  b i n s d l ? 0
                b . . . . . . . .
                i . n n . . . . .
                n . n n . . . . .
                s . . . . . . . .
                d . d d . . . . .
                l . . . . . . . .
                ? . . . . . . . .
                0 . . . . . . . .
                """
            ),
            (
                "//",
                """
                  b i n s d l ? 0
                b . . . . . . . .
                i . i . . . . . .
                n . . . . . . . .
                s . . . . . . . .
                d . . . . . . . .
                l . . . . . . . .
                ? . . . . . . . .
                0 . . . . . . . .
                """
            ),
            (
                "%",
                """
                  b i n s d l ? 0
                b . . . . . . . .
                i . i . . . . . .
                n . . . . . . . .
                s . . . . . . . .
                d . . . . . . . .
                l . . . . . . . .
                ? . . . . . . . .
                0 . . . . . . . .
                """
            ),
            (
                "~",
                """
                  b i n s d l ? 0
                b s s s s s . s .
                i s s s s s . s .
                n s s s s s . s .
                s s s s s s . s .
                d s s s s s . s .
                l . . . . . . . .
                ? s s s s s . s .
                0 . . . . . . . .
                """
            ),
            (
                "==",
                """
                  b i n s d l ? 0
                b b . . . . . . b
                i . b b . . . b b
                n . b b . . . b b
                s . . . b . . . b
                d . . . . b . . b
                l . . . . . b . b
                ? . b b . . . b b
                0 b b b b b b b b
                """
            ),
            (
                "<",
                """
                  b i n s d l ? 0
                b . . . . . . . .
                i . b b . . . . .
                n . b b . . . . .
                s . . . b . . . .
                d . . . . b . . .
                l . . . . . . . .
                ? . . . . . . . .
                0 . . . . . . . .
                """
            ),
            (
                "in",
                """
                  b i n s d l ? 0
                b . . . . . . . .
                i . . . . . b . .
                n . . . . . b . .
                s . . . b . . . .
                d . . . . . . . .
                l . . . . . . . .
                ? . . . . . . . .
                0 . . . . . . . .
                """
            ),
            (
                "and",
                """
                  b i n s d l ? 0
                b b . . . . . . .
                i . . . . . . . .
                n . . . . . . . .
                s . . . . . . . .
                d . . . . . . . .
                l . . . . . . . .
                ? . . . . . . . .
                0 . . . . . . . .
                """
            ),
            (
                "??",
                """
                  b i n s d l ? 0
                b b . . . . . . ?
                i . i n . . . ? ?
                n . n n . . . ? ?
                s . . . s . . . ?
                d . . . . d . . ?
                l . . . . . l . ?
                ? . n n . . . ? ?
                0 b i n s d l ? 0
                """
            ),
        ])
    func table(symbol: String, table: String) {
        var rows = ["  " + TypeTableTests.values.map(\.letter).joined(separator: " ")]
        for left in TypeTableTests.values {
            let row = TypeTableTests.values.map { right in
                (try? Expression(compiling: "\(left.text) \(symbol) \(right.text)", in: House.scope))
                    .map { TypeTableTests.letter($0.type) } ?? "."
            }
            rows.append("\(left.letter) \(row.joined(separator: " "))")
        }
        #expect(rows.joined(separator: "\n") == table)
    }

    @Test(
        "operators of one kind accept the same pairs of types",
        arguments: [("==", "!="), ("<", ">="), ("and", "or")])
    func alike(first: String, second: String) {
        for left in TypeTableTests.values {
            for right in TypeTableTests.values {
                let isGood = [first, second].map { symbol in
                    (try? Expression(compiling: "\(left.text) \(symbol) \(right.text)", in: House.scope)) != nil
                }
                #expect(isGood[0] == isGood[1], "\(left.text) \(second) \(right.text)")
            }
        }
    }

    @Test("each operator on each pair of types gives the promised type or an evaluation failure")
    func promises() throws {
        let symbols = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", "<=", ">", ">=", "in", "and", "or", "??"]
        for left in TypeTableTests.values {
            for (symbol, right) in symbols.flatMap({ symbol in TypeTableTests.values.map { (symbol, $0) } }) {
                guard
                    let expression = try? Expression(
                        compiling: "\(left.text) \(symbol) \(right.text)", in: House.scope)
                else { continue }
                do throws(EvaluationFailure) {
                    let value = try expression.evaluate(in: House.environment)
                    #expect(value.fits(expression.type), "\(left.text) \(symbol) \(right.text)")
                } catch {
                    #expect(error.code == .unknownValue)
                }
            }
        }
    }

    private static func letter(_ type: ExpressionType) -> String {
        switch type.kind {
        case .null: "0"
        case _ where type.isOptional: "?"
        case .list: "l"
        case .scalar(let scalar): String(scalar.rawValue.prefix(1))
        }
    }
}

extension Value {
    /// True if the type allows the value.
    func fits(_ type: ExpressionType) -> Bool {
        switch (self, type.kind) {
        case (.unknown, _): type.isOptional
        case (.boolean, .scalar(.boolean)), (.integer, .scalar(.integer)), (.string, .scalar(.string)),
            (.duration, .scalar(.duration)):
            true
        case (.number(let value), .scalar(.number)): value.isFinite
        case (.list(let values), .list(let element)):
            values.allSatisfy { value in element.map { value.fits(ExpressionType(.scalar($0))) } ?? false }
        default: false
        }
    }
}
