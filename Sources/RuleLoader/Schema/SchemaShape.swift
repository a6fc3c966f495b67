import YAMLFiles

/// The shape of a key's value in the JSON Schema. Expressions and duplicate keys are left to the loader.
indirect enum SchemaShape: Sendable {
    /// Any scalar. Editors read `payload: 10` as a number, so text is a text, a number or a boolean.
    case text
    /// Text with expressions in it.
    case template
    /// Text that is an expression as a whole, such as `true`.
    case expression
    case boolean
    /// The value of a state or a variable, whose type is declared or follows from its spelling.
    case scalar
    case integer(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    case duration(ClosedRange<Duration>)
    /// A duration, or a template that gives one.
    case delay
    /// A duration that may be negative.
    case offset
    /// A time of day, or a time of the sun, which may have an offset: `sunset - 30m`.
    case clock(takesOffset: Bool)
    /// A time that a clock shows, without the times of the sun.
    case clockTime
    /// A day and a time of day.
    case moment
    case rate
    case weekday
    /// An HTTP status or a family of them.
    case status
    /// Any YAML.
    case json
    /// No value, for a key that needs none.
    case empty
    case oneOf([String])
    /// This number and no other.
    case exactly(Int)
    /// The name of something that is declared elsewhere.
    case reference(Names)
    /// A name that is declared here.
    case name
    case mapping(SchemaMapping)
    /// A mapping that declares names, each with a value of this shape.
    case declarations(SchemaShape)
    /// A mapping from names of one kind to values of this shape.
    case keyed(Names, SchemaShape, atLeast: Int = 0)
    /// A mapping whose keys match a pattern: headers, environment variables.
    case matching(SchemaPattern, SchemaShape)
    case list(SchemaShape, ClosedRange<Int>)
    case oneOrMany(SchemaShape, atMost: Int? = nil)
    case either([SchemaShape])

    /// Kinds of names that an editor can complete.
    enum Names: String, CaseIterable, Sendable {
        case button
        /// A member of a group: a button or another group.
        case member
        /// In a trigger: a button, a group, or `any`.
        case source
        case state, variable, script, input, rule
    }

    static let steps = oneOrMany(.mapping(.step), atMost: RuleSetReader.maximumSteps)
    /// The value of a state in a test, or the values of its topics.
    static let stateValue = either([.scalar, .matching(.topicName, .scalar)])
    static let conditions = oneOrMany(.either([.expression, .mapping(.condition)]))
    static let queued = either([.oneOf(["drop", "accept"]), .mapping(.queued)])
    static let arguments = list(.template, 1...Int.max)
    static let environment = matching(.environmentVariable, .template)
    static let headers = matching(.header, .template)
    /// The arguments of a program that a test expects.
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
        case .oneOf(let words, _): self = .oneOf(words)
        case .anything: return nil
        }
    }
}
