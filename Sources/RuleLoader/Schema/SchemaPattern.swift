/// The format of a text as a regular expression of ECMA 262, which JSON Schema uses.
struct SchemaPattern: Sendable {
    /// The expression without anchors.
    let text: String

    init(_ text: String) { self.text = text }

    /// The expression for a whole text, as the schema has it.
    var anchored: String { "^(?:\(text))$" }

    static let name = SchemaPattern("[a-z][a-z0-9_]{0,63}")
    /// At least one part, with larger units before smaller ones.
    static let duration = SchemaPattern("(?=[0-9])(?:[0-9]+d)?(?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+s)?(?:[0-9]+ms)?")
    static let delay = SchemaPattern(duration.text + #"|[\s\S]*\{\{[\s\S]*"#)
    static let offset = SchemaPattern("-?\(duration.text)")
    static let clockTime = SchemaPattern("(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?")
    static let daytime = SchemaPattern("\(clockTime.text)|(?:sunrise|sunset|dawn|dusk)")
    static let clock = SchemaPattern(daytime.text + " *(?:[+-] *\(duration.text))?")
    static let moment = SchemaPattern("[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}(?::[0-9]{2})?")
    static let rate = SchemaPattern("[1-9][0-9]{0,4}/\(duration.text)")
    static let weekday = SchemaPattern("(?:\(days))(?:-(?:\(days)))?")
    static let status = SchemaPattern("[1-5](?:[0-9]{2}|[xX]{2})")
    static let environmentVariable = SchemaPattern("[A-Za-z_][A-Za-z0-9_]*")
    /// The name of a header, which is a token (RFC 9110, 5.6.2).
    static let header = SchemaPattern("[-!#$%&'*+.^_`|~0-9A-Za-z]+")

    /// A topic without wildcards.
    static let topicName = SchemaPattern("[^+#]+")

    private static let days = "mon|tue|wed|thu|fri|sat|sun"
}
