package import Expressions

/// A message for a state that cannot be converted to the state's type (R830). The state is then unknown, or has its
/// default.
package struct StateFault: Hashable, Sendable {
    /// The most scalars of the value that are shown.
    private static let maximumShown = 60

    package var state: String
    package var topicName: String
    /// The value on one line, cut if it is long.
    package var value: String
    package var type: ExpressionType.Scalar
    /// False if the message is no JSON, although the state has a pointer.
    package var isJSON: Bool
    /// A type with which the value could be read; `nil` if there is none.
    package var fittingType: ExpressionType.Scalar?

    package static let code = "R830"

    /// The fault as a sentence: `"300.5" on home/lux is no integer; type: number would take it`.
    package var message: String {
        guard isJSON else { return "\"\(value)\" on \(topicName) is no JSON, in which value: could be found" }
        let remedy = fittingType.map { "; type: \($0.rawValue) would take it" } ?? ""
        return "\"\(value)\" on \(topicName) is no \(type.rawValue)\(remedy)"
    }

    static func shown(_ text: String) -> String {
        var short = ""
        for scalar in text.unicodeScalars.prefix(maximumShown) {
            let isControl = scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
            short.unicodeScalars.append(isControl ? "\u{FFFD}" : scalar)
        }
        return text.unicodeScalars.count > maximumShown ? short + "…" : short
    }
}
