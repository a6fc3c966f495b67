@testable import Expressions

extension FuzzTarget {
    /// An arbitrary text as an expression: the position of a mistake is inside the text, and a compiled expression
    /// gives a value or an error.
    static let expressions = FuzzTarget(name: "expressions") { octets throws(BrokenPromise) in
        let text = String(decoding: octets, as: UTF8.self)
        do throws(ExpressionProblems) {
            let template = try Template(compiling: text, in: scope, expecting: .anything)
            _ = try? template.text(in: environment)
        } catch {
            try promise("an error has a message", !error.list.isEmpty)
            try promise(
                "its position is inside the text", error.list.allSatisfy { $0.range.upperBound <= text.utf8.count })
        }
        guard let expression = try? Expression(compiling: text, in: scope) else { return }
        if let value = try? expression.text(in: environment) {
            try promise("a text is within its bound", value.utf8.count <= Limits.textLength)
        }
        _ = try? expression.evaluate(in: environment)
    }

    private static let scope = {
        var scope = Scope()
        scope.states = ["lux": .init(slot: 0, type: .integer.optional), "lamp": .init(slot: 1, type: .string)]
        scope.variables = ["scene": .init(slot: 0, type: .string, values: [.string("a"), .string("b")])]
        scope.buttons = ["kitchen": 0]
        return scope
    }()

    private static let environment = {
        var environment = EvaluationContext()
        environment.states = [.integer(.min), .string("ON")]
        environment.variables = [.string("a")]
        return environment
    }()
}
