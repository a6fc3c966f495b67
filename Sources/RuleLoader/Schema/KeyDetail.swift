import JSON

/// What the keys of a mapping say that no type says.
struct KeyDetail: Sendable {
    /// `nil`: the type of the key says it.
    var shape: SchemaShape?
    /// What holds when the key is left out.
    var fallback: Fallback?
    /// Good values; none are needed where all of them can be listed.
    var examples: [JSONValue]

    enum Fallback: Sendable {
        case value(JSONValue)
        /// Such as "the button's".
        case said(String)
    }

    init(_ shape: SchemaShape, else fallback: Fallback? = nil, _ examples: JSONValue...) {
        self.shape = shape
        self.fallback = fallback
        self.examples = examples
    }

    /// What the type of the key says is enough.
    init(else fallback: Fallback? = nil, _ examples: JSONValue...) {
        self.fallback = fallback
        self.examples = examples
    }
}
