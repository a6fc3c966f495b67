/// The limits for expressions and for the values that they produce.
package enum Limits {
    /// The length of an expression in octets.
    package static let expressionLength = 4096
    /// The nesting depth of brackets, arguments, `|`, `not` and `-`.
    package static let depth = 32
    /// The number of elements in a list, and of arguments in a call.
    package static let listCount = 256
    /// The length of the text that an expression or a template produces, in octets.
    package static let textLength = 65_536
    /// The length of the pattern of `like`, in octets.
    package static let patternLength = 4096
}
