package import JSON

extension Template {
    /// The template as a leaf of JSON: of one expression its value by type, otherwise a string.
    ///
    /// - Throws: R801 for an unknown value, which is not `null`.
    package func json(in environment: Environment) throws(EvaluationFailure) -> JSONValue {
        let value = try value(in: environment)
        guard value == .unknown, let onlyExpression else { return value.json }
        throw onlyExpression.program.mismatch(value, onlyExpression.program.root, "a value")
    }
}
