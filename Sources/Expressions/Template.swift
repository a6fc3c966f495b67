package import JSON

/// Text with embedded expressions: `{{ trigger.button }} pressed`.
///
/// A template that consists of a single expression keeps the expression's type if its context accepts other types than
/// text.
package struct Template: Hashable, Sendable {
    package enum Part: Hashable, Sendable {
        case literal(String)
        /// - Parameter range: the position from `{{` to `}}`, in octets of the template.
        case expression(Expression, range: Range<Int>)
    }

    /// The parts in order. Literals are not empty, and no two literals are adjacent.
    package let parts: [Part]
    package let insertion: Insertion

    /// - Parameters:
    ///   - wanted: the type required by the context. A template with more than one part is text, so the context must
    ///     accept text.
    ///   - insertion: how values are inserted into the text.
    package init(
        compiling text: String, in scope: Scope, expecting wanted: RequiredType = .text,
        inserting insertion: Insertion = .plain
    ) throws(ExpressionProblems) {
        let octets = Array(text.utf8)
        let pieces: [TemplateScanner.Piece]
        do {
            pieces = try TemplateScanner.pieces(of: octets)
        } catch {
            throw ExpressionProblems([error])
        }
        var problems = insertion.problems(in: octets, pieces)
        var parts: [Part] = []
        var isWhole = true
        for piece in pieces {
            switch piece {
            case .literal(let range): parts.append(.literal(String(decoding: octets[range], as: UTF8.self)))
            case .expression(let inner, let range):
                do {
                    let wanted = pieces.count == 1 ? wanted : .text
                    let expression = try Expression(compiling: octets, in: inner, scope, wanted)
                    parts.append(.expression(expression, range: range))
                } catch {
                    problems += error.list
                    isWhole = false
                }
            }
        }
        self.parts = parts
        self.insertion = insertion
        if isWhole, onlyExpression == nil, problems.isEmpty {
            problems += Template.problems(of: octets, pieces, wanted)
        }
        guard isWhole, problems.isEmpty else { throw ExpressionProblems(problems) }
    }

    /// Creates a template from text in which braces have no meaning.
    package init(literal: String) {
        parts = literal.isEmpty ? [] : [.literal(literal)]
        insertion = .plain
    }

    /// Reports text where the context requires another type.
    private static func problems(
        of octets: [UInt8], _ pieces: [TemplateScanner.Piece], _ wanted: RequiredType
    ) -> [ExpressionProblem] {
        let type: ExpressionType
        switch wanted {
        case .text, .json, .anything: return []
        case .condition: type = .boolean
        case .type(let wanted): type = wanted
        }
        guard type.scalar != .string else { return [] }
        let hint: Hint? = pieces.count > 1 ? "put all of it between one pair of braces" : nil
        let message = "this must be \(type.nonOptional), not text: \(Quotation.of(octets))"
        return [ExpressionProblem("E404", octets.indices, message, hint: hint)]
    }
}

extension Template {
    /// The expression, if the template consists of a single expression.
    package var onlyExpression: Expression? {
        if parts.count == 1, case .expression(let expression, _) = parts[0] { expression } else { nil }
    }

    /// The text, if the template contains no expression.
    package var literal: String? {
        switch parts.first {
        case nil: ""
        case .literal(let text)? where parts.count == 1: text
        case .literal?, .expression?: nil
        }
    }

    package var reads: Set<ValueReference> {
        parts.reduce(into: []) { reads, part in
            if case .expression(let expression, _) = part { reads.formUnion(expression.reads) }
        }
    }

    /// The value, if the template is a single expression; else the text.
    package func value(in environment: inout EvaluationContext) throws(EvaluationFailure) -> Value {
        if let onlyExpression { return try onlyExpression.evaluate(in: &environment) }
        return .string(try text(in: &environment))
    }

    /// The text with all values inserted according to `insertion`.
    package func text(in environment: inout EvaluationContext) throws(EvaluationFailure) -> String {
        if let literal { return literal }
        var text = ""
        for part in parts {
            switch part {
            case .literal(let literal): text += literal
            case .expression(let expression, let range):
                text += try insertion.inserting(try expression.text(in: &environment), from: range)
            }
            guard text.utf8.count <= Limits.textLength else {
                throw EvaluationFailure(.tooLong, 0..<0, "the text is longer than 64 KiB")
            }
        }
        return text
    }
}

// Evaluation that leaves the context unchanged. Each call of `random` in it gives the same number again.
extension Template {
    package func value(in environment: EvaluationContext) throws(EvaluationFailure) -> Value {
        var environment = environment
        return try value(in: &environment)
    }

    package func text(in environment: EvaluationContext) throws(EvaluationFailure) -> String {
        var environment = environment
        return try text(in: &environment)
    }

    package func json(in environment: EvaluationContext) throws(EvaluationFailure) -> JSONValue {
        var environment = environment
        return try json(in: &environment)
    }
}
