/// The forms of texts, as regular expressions of ECMA 262, which is what editors know.
struct SchemaPattern: Sendable {
    /// Without anchors.
    let text: String

    init(_ text: String) { self.text = text }

    /// As a schema has it: for the whole text.
    var anchored: String { "^(?:\(text))$" }

    static let name = SchemaPattern("[a-z][a-z0-9_]{0,63}")
    /// At least one part, the larger units first.
    static let duration = SchemaPattern("(?=[0-9])(?:[0-9]+d)?(?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+s)?(?:[0-9]+ms)?")
    static let delay = SchemaPattern(duration.text + #"|[\s\S]*\{\{[\s\S]*"#)
    static let clock = SchemaPattern(
        "(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?"
            + "|(?:sunrise|sunset|dawn|dusk) *(?:[+-] *\(duration.text))?")
    static let moment = SchemaPattern("[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}(?::[0-9]{2})?")
    static let rate = SchemaPattern("[1-9][0-9]{0,4}/\(duration.text)")
    static let weekday = SchemaPattern("(?:\(days))(?:-(?:\(days)))?")
    static let status = SchemaPattern("[1-5](?:[0-9]{2}|[xX]{2})")
    static let environmentVariable = SchemaPattern("[A-Za-z_][A-Za-z0-9_]*")
    /// A token.
    ///
    /// - Source: RFC 9110, 5.6.2.
    static let header = SchemaPattern("[-!#$%&'*+.^_`|~0-9A-Za-z]+")

    private static let days = "mon|tue|wed|thu|fri|sat|sun"
}
