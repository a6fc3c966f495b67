package import JSON

extension Template {
    /// The template as a leaf of JSON: the typed value if the template is a single expression, else a string.
    ///
    /// - Throws: R801 for an unknown value, which is not converted to `null`.
    package func json(in environment: inout EvaluationContext) throws(EvaluationFailure) -> JSONValue {
        let value = try value(in: &environment)
        guard value == .unknown, let onlyExpression else { return value.json }
        throw onlyExpression.program.mismatch(value, onlyExpression.program.root, "a value")
    }
}
