import Expressions

/// Why a step failed.
struct StepFailure: Error, Hashable, Sendable {
    /// `R801`…`R832`; whoever carries out actions may have others.
    var code: String
    /// One line, lower case, no full stop.
    var message: String
    /// What it left behind for `results`.
    var facts: ResultFacts?

    /// - Parameter message: of several lines the first counts.
    init(_ code: String, _ message: String, _ facts: ResultFacts? = nil) {
        self.code = code
        self.message = Run.firstLine(of: message)
        self.facts = facts
    }

    init(_ failure: EvaluationFailure) { self.init(failure.code.rawValue, failure.message) }
}
