import Expressions

/// The failure of a step, with an error code of the rule language.
struct StepFailure: Error, Hashable, Sendable {
    /// `R801`…`R832`; the components that perform actions also use other codes.
    var code: String
    /// A single line in lower case, without full stop.
    var message: String
    /// The result to save in `results`.
    var facts: ResultFacts?

    /// - Parameter message: only the first line is used.
    init(_ code: String, _ message: String, _ facts: ResultFacts? = nil) {
        self.code = code
        self.message = Run.firstLine(of: message)
        self.facts = facts
    }

    init(_ failure: EvaluationFailure) { self.init(failure.code.rawValue, failure.message) }
}
