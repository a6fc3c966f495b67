/// A mistake in an expression or a template, found at compile time.
///
/// Positions are offsets into the text; the caller converts them to lines and columns of the file.
package struct ExpressionProblem: Error, Hashable, Sendable {
    /// The stable code, such as `E401` or `E404`. Codes are part of the rule language.
    package var code: String
    /// The position in octets of UTF-8 from the start of the text. Empty for a mistake at the end of the text.
    package var range: Range<Int>
    /// A sentence in lower case, without full stop, which quotes what the user typed.
    package var message: String
    /// How to fix it; `nil` without a suggestion. The places of its changes are in the text.
    package var hint: Hint?

    package init(_ code: String, _ range: Range<Int>, _ message: String, hint: Hint? = nil) {
        self.code = code
        self.range = range
        self.message = message
        self.hint = hint
    }
}

/// All problems of one text, in the order of their positions. Empty if the only mistakes are names with an invalid
/// declaration, which was reported already (`Scope.markInvalid`).
package struct ExpressionProblems: Error, Hashable, Sendable {
    package var list: [ExpressionProblem]

    init(_ list: [ExpressionProblem]) {
        self.list = list.sorted {
            ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound)
        }
    }
}
