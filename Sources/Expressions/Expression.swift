/// The type that the context of an expression requires.
package enum RequiredType: Hashable, Sendable {
    /// A boolean that is known.
    case condition
    /// This type; an integer is converted where a number is required.
    case type(ExpressionType)
    /// A type that can be converted to text. An optional type can: evaluation fails if the value is unknown.
    case text
    /// A type that can be a leaf of JSON: text, lists, and optional types as for `text`.
    case json
    case anything
}

/// A compiled expression of the rules file. Compiling checks it, and it can be evaluated repeatedly.
///
///     let expression = try Expression(compiling: "states.lux < 50", in: scope, expecting: .condition)
///     let isDark = try expression.isTrue(in: &environment)
///
/// Evaluation changes only the random numbers of the context, never traps, and takes time linear in the size of the values that it reads.
package struct Expression: Hashable, Sendable {
    package let type: ExpressionType
    /// The slots that the expression reads; a wait evaluates it again when one of them changes.
    package let reads: Set<ValueReference>
    let program: CompiledExpression
    private let range: Range<Int>

    package init(
        compiling text: String, in scope: Scope, expecting wanted: RequiredType = .anything
    ) throws(ExpressionProblems) {
        let octets = Array(text.utf8)
        try self.init(compiling: octets, in: octets.indices, scope, wanted)
    }

    /// - Parameters:
    ///   - octets: the text that contains the expression, as UTF-8.
    ///   - range: the expression's position in the text.
    init(
        compiling octets: [UInt8], in range: Range<Int>, _ scope: Scope, _ wanted: RequiredType
    ) throws(ExpressionProblems) {
        var compiler = Compiler(octets, in: scope)
        let syntax: Syntax
        do {
            syntax = try Parser.parse(octets, in: range)
        } catch {
            throw ExpressionProblems([error])
        }
        guard let result = compiler.check(syntax).flatMap({ compiler.convert($0, to: wanted) }) else {
            throw ExpressionProblems(compiler.problems)
        }
        self.range = range
        type = result.type
        reads = compiler.reads
        compiler.program.root = result.node
        program = compiler.program
    }

    /// The expression's text, for traces.
    package var source: String { String(decoding: program.octets[range], as: UTF8.self).trimmed }

    /// True if the expression calls `in_time`, so that its value changes with the time of day.
    package var hasTimeWindow: Bool { !program.windows.isEmpty }

    /// True if the expression calls `random`, so that each evaluation may give another value.
    package var drawsRandom: Bool { program.drawsRandom }

    package func evaluate(in environment: inout EvaluationContext) throws(EvaluationFailure) -> Value {
        let value = try program.value(at: program.root, in: &environment)
        if case .string(let text) = value { return .string(try program.limited(text, program.root)) }
        return value
    }

    /// The value of an expression that was compiled as a condition.
    package func isTrue(in environment: inout EvaluationContext) throws(EvaluationFailure) -> Bool {
        try program.boolean(at: program.root, in: &environment)
    }

    package func text(in environment: inout EvaluationContext) throws(EvaluationFailure) -> String {
        try program.text(at: program.root, in: &environment)
    }
}

// Evaluation that leaves the context unchanged. Each call of `random` in it gives the same number again.
extension Expression {
    package func evaluate(in environment: EvaluationContext) throws(EvaluationFailure) -> Value {
        var environment = environment
        return try evaluate(in: &environment)
    }

    package func isTrue(in environment: EvaluationContext) throws(EvaluationFailure) -> Bool {
        var environment = environment
        return try isTrue(in: &environment)
    }

    package func text(in environment: EvaluationContext) throws(EvaluationFailure) -> String {
        var environment = environment
        return try text(in: &environment)
    }
}

extension Compiler {
    /// The result converted to the required type; reports a problem if that is impossible.
    mutating func convert(_ result: Checked, to wantedType: RequiredType) -> Checked? {
        switch wantedType {
        case .anything: return result
        case .text: return hasText(result) ? result : nil
        case .json:
            guard result.type.kind == .null else { return result }
            report("E404", result.syntax, "null is not allowed here", hint: "write null without braces")
            return nil
        case .condition:
            guard result.type.scalar == .boolean || result.type.kind == .null else {
                report(
                    "E404", result.syntax,
                    "a condition must be a boolean, not \(result.type): \(source(result.syntax))",
                    hint: comparisonHint(result))
                return nil
            }
            return isKnown(result) ? result : nil
        case .type(let wanted):
            guard let both = result.type.merged(with: wanted), both.kind == wanted.kind else {
                report(
                    "E404", result.syntax,
                    "this must be \(wanted.nonOptional), not \(result.type.nonOptional): \(source(result.syntax))",
                    hint: conversionHint(result, to: wanted))
                return nil
            }
            guard wanted.isOptional || isKnown(result) else { return nil }
            return Checked(node: node(result, as: wanted), type: wanted, syntax: result.syntax)
        }
    }

    private func conversionHint(_ result: Checked, to wanted: ExpressionType) -> Hint? {
        switch (wanted.scalar, result.type.scalar) {
        case (.integer, .number): wrapped(result, in: .round)
        case (.integer, .string): remedy(for: result, toBe: .integer) ?? wrapped(result, in: .integer)
        case (.number, .string): remedy(for: result, toBe: .number) ?? wrapped(result, in: .number)
        case (.string, .some): wrapped(result, in: .string)
        case (.boolean, .some): comparisonHint(result)
        case (.duration, .integer), (.duration, .number): rewritten(result.syntax) { "\($0) * 1s" }
        case (.integer, _), (.number, _), (.string, nil), (.boolean, nil), (.duration, _), (nil, _): nil
        }
    }
}
