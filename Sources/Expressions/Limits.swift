/// How large an expression and what it makes may be.
package enum Limits {
    /// Octets of one expression.
    package static let expressionLength = 4096
    /// Brackets, arguments, `|`, `not` and `-` inside one another.
    package static let depth = 32
    /// Entries of a list, and arguments of a call.
    package static let listCount = 256
    /// Octets of a text that an expression or a template makes.
    package static let textLength = 65_536
    /// Octets of the pattern of `like`.
    package static let patternLength = 4096
}
