/// What may stand at a key, as far as an editor can tell: names, expressions and what stands twice are left to the
/// loader.
indirect enum SchemaShape: Sendable {
    /// Any scalar. Editors read `payload: 10` as a number, so text is a text, a number or a boolean.
    case text
    /// Text with expressions in it.
    case template
    /// Text that is an expression as a whole, such as `true`.
    case expression
    case boolean
    /// Of a state or a variable: its type is declared, or seen from how it is written.
    case scalar
    case integer(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    case duration(ClosedRange<Duration>)
    /// A duration, or a template that gives one.
    case delay
    case clock
    /// A day and a time of day.
    case moment
    case rate
    case weekday
    /// An HTTP status or a family of them.
    case status
    /// Any YAML.
    case json
    /// Nothing at all: a key that may stand without a value.
    case empty
    case word([String])
    /// One number and no other.
    case exactly(Int)
    /// The name of something that is declared elsewhere.
    case reference(Names)
    /// A name that is given here.
    case name
    case mapping(SchemaMapping)
    /// Names that are given here, and what each of them is.
    case declarations(SchemaShape)
    /// Names of one kind, and something for each.
    case keyed(Names, SchemaShape, atLeast: Int = 0)
    /// Keys that are no names of the language: headers, variables of the environment.
    case matching(SchemaPattern, SchemaShape)
    case list(SchemaShape, ClosedRange<Int>)
    case oneOrMany(SchemaShape, atMost: Int? = nil)
    case either([SchemaShape])

    /// Kinds of names that an editor can complete.
    enum Names: String, CaseIterable, Sendable {
        case button
        /// In a group.
        case member
        /// In a trigger: a button, a group, or `any`.
        case source
        case state, variable, script, input, rule
    }

    static let steps = oneOrMany(.mapping(.step), atMost: RuleReader.maximumSteps)
    static let conditions = oneOrMany(.either([.expression, .mapping(.condition)]))
    static let queued = either([.word(["drop", "accept"]), .mapping(.queued)])
    /// What a program is given.
    static let arguments = list(.template, 1...Int.max)
    static let environment = matching(.environmentVariable, .template)
    static let headers = matching(.header, .template)
    /// The same where a test expects it.
    static let texts = list(.text, 0...Int.max)

    init?(_ type: ValueType) {
        switch type {
        case .name: self = .name
        case .text: self = .text
        case .template: self = .template
        case .boolean: self = .boolean
        case .integer(let range): self = .integer(range)
        case .number(let range): self = .number(range)
        case .duration(let range): self = .duration(range)
        case .word(let words, _): self = .word(words)
        case .anything: return nil
        }
    }
}
