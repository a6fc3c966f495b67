/// Why an evaluation has no value.
package struct EvaluationFailure: Error, Hashable, Sendable {
    /// The raw value is the code of the language.
    package enum Code: String, CaseIterable, Hashable, Sendable {
        /// Something unknown where a known value is needed.
        case unknownValue = "R801"
        /// Overflow, division by zero, or no finite number.
        case arithmetic = "R802"
        /// Text that is no number, or a value of another type than was declared.
        case conversion = "R803"
        case tooLong = "R804"
        /// A value that cannot be part of a topic.
        case topic = "R831"
        /// A value that cannot be part of a header.
        case header = "R832"
    }

    package var code: Code
    /// Octets of UTF-8 from the start of the expression's or template's text.
    package var range: Range<Int>
    /// One sentence, lower case, no full stop.
    package var message: String

    package init(_ code: Code, _ range: Range<Int>, _ message: String) {
        self.code = code
        self.range = range
        self.message = message
    }
}
