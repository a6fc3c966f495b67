import JSON

/// Details of a key for the schema and the reference, besides its `ValueType`.
struct KeyDetail: Sendable {
    /// The shape of the value; `nil`: that of the key's type.
    var shape: SchemaShape?
    /// The default, which applies when the key is left out.
    var defaultValue: DefaultValue?
    /// Examples of values. None are needed where all values can be listed.
    var examples: [JSONValue]

    enum DefaultValue: Sendable {
        case value(JSONValue)
        /// A description, such as "the button's".
        case described(String)
    }

    init(_ shape: SchemaShape, else fallback: DefaultValue? = nil, _ examples: JSONValue...) {
        self.shape = shape
        self.defaultValue = fallback
        self.examples = examples
    }

    /// A detail of a key whose shape follows from its type.
    init(else fallback: DefaultValue? = nil, _ examples: JSONValue...) {
        self.defaultValue = fallback
        self.examples = examples
    }
}
