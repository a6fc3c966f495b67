import JSON
package import Rules

extension RulesSchema {
    /// The schema as the text of a file. A value that fits on one line is not broken.
    package static func text(for set: RuleSet? = nil) -> String { json(for: set).text(indent: "") + "\n" }
}

extension JSONValue {
    private static let width = 120

    fileprivate func text(indent: String) -> String {
        let compact = spaced
        if indent.utf8.count + compact.utf8.count <= JSONValue.width { return compact }
        let inner = indent + "  "
        let (opening, lines, closing): (String, [String], String) =
            switch self {
            case .array(let values): ("[", values.map { $0.text(indent: inner) }, "]")
            case .object(let members):
                ("{", members.map { "\(JSONValue.string($0.name)): \($0.value.text(indent: inner))" }, "}")
            case .null, .bool, .integer, .number, .string: ("", [], "")
            }
        guard !opening.isEmpty else { return compact }
        return "\(opening)\n\(inner)" + lines.joined(separator: ",\n\(inner)") + "\n\(indent)\(closing)"
    }

    /// The value on one line, with spaces after colons and commas.
    private var spaced: String {
        switch self {
        case .array(let values): "[\(values.map(\.spaced).joined(separator: ", "))]"
        case .object(let members):
            "{\(members.map { "\(JSONValue.string($0.name)): \($0.value.spaced)" }.joined(separator: ", "))}"
        case .null, .bool, .integer, .number, .string: description
        }
    }
}
