/// Why an evaluation failed.
package struct EvaluationFailure: Error, Hashable, Sendable {
    /// The raw value is the error code of the rule language.
    package enum Code: String, CaseIterable, Hashable, Sendable {
        /// A value is unknown where a known value is required.
        case unknownValue = "R801"
        /// Overflow, division by zero, or a result that is not finite.
        case arithmetic = "R802"
        /// Text that is not a number, or a value of another type than declared.
        case conversion = "R803"
        /// A text is longer than `Limits.textLength`, or a pattern than `Limits.patternLength`.
        case tooLong = "R804"
        /// A value contains a character that is not allowed in a topic, or is empty.
        case topic = "R831"
        /// A value contains a line break or NUL, which is not allowed in a header.
        case header = "R832"
    }

    package var code: Code
    /// The part of the expression's or template's text that failed, in octets of UTF-8.
    package var range: Range<Int>
    /// A sentence in lower case, without full stop.
    package var message: String

    package init(_ code: Code, _ range: Range<Int>, _ message: String) {
        self.code = code
        self.range = range
        self.message = message
    }
}
