/// Something wrong with an expression or a template, found before it runs.
///
/// The module knows offsets only; whoever holds the file turns them into lines and columns.
package struct ExpressionProblem: Error, Hashable, Sendable {
    /// `E401`, `E404`: the list is part of the language.
    package var code: String
    /// Octets of UTF-8 from the start of the text that was given. Empty at the end of the text.
    package var range: Range<Int>
    /// One sentence, lower case, no full stop, quoting what the user typed.
    package var message: String
    /// What to do about it, when we know.
    package var hint: String?
    /// What may be put in place of `range`, when it is one word.
    package var suggestion: String?

    package init(
        _ code: String, _ range: Range<Int>, _ message: String, hint: String? = nil, suggestion: String? = nil
    ) {
        self.code = code
        self.range = range
        self.message = message
        self.hint = hint ?? suggestion.map { "did you mean \"\($0)\"?" }
        self.suggestion = suggestion
    }
}

/// Everything found wrong with one text, in its order. Empty where it only names what the scope leaves out.
package struct ExpressionProblems: Error, Hashable, Sendable {
    package var list: [ExpressionProblem]

    init(_ list: [ExpressionProblem]) {
        self.list = list.sorted {
            ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound)
        }
    }
}
