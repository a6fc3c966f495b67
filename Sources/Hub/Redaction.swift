import JSON

/// Keeps the values of `!secret` and `!env_var` out of everything that is shown: whatever a step prints, says or sends,
/// where such a value stands, three asterisks are shown.
struct Redaction: Hashable, Sendable {
    /// The longest first, so that a value inside another leaves nothing of the other.
    private let values: [String]

    init(_ values: Set<String>) {
        self.values = values.sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
    }

    /// Hides these, too; an empty one is nothing to hide.
    func hiding(_ more: Set<String>) -> Redaction { Redaction(more.union(values).subtracting([""])) }

    func callAsFunction(_ text: String) -> String {
        guard !values.isEmpty else { return text }
        return values.reduce(text) { $0.replacing($1, with: "***") }
    }

    /// A text that may be JSON, in which a value may be written with escapes.
    func callAsFunction(jsonOrText text: String) -> String {
        guard !values.isEmpty, let value = try? JSONValue(parsing: text) else { return self(text) }
        let hidden = self(value)
        return self(hidden == value ? text : hidden.description)
    }

    func callAsFunction(_ value: JSONValue) -> JSONValue {
        guard !values.isEmpty else { return value }
        return switch value {
        case .string(let text): .string(self(text))
        case .array(let elements): .array(elements.map { self($0) })
        case .object(let members): .object(members.map { JSONValue.Member($0.name, self($0.value)) })
        case .null, .bool, .integer, .number: value
        }
    }
}
