import Expressions
package import JSON

/// Keeps the values of `!secret` and `!env_var` out of everything that is shown: whatever a step prints, says or sends,
/// where such a value stands, three asterisks are shown.
package struct Redaction: Hashable, Sendable {
    private let values: Set<String>
    /// Of each value itself, and what becomes of it in JSON, in a URL and in one line. The longest first, so that a value
    /// inside another leaves nothing of the other.
    private let forms: [String]

    /// An empty value is nothing to hide.
    package init(_ values: Set<String>) {
        self.values = values.subtracting([""])
        forms = Set(self.values.flatMap(\.formsInText)).sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
    }

    package func hiding(_ more: Set<String>) -> Redaction { Redaction(more.union(values)) }

    package func callAsFunction(_ text: String) -> String {
        forms.reduce(text) { $0.replacing($1, with: "***") }
    }

    /// A text that may be JSON, in which a value may be written with escapes.
    package func callAsFunction(jsonOrText text: String) -> String {
        guard !values.isEmpty, let value = try? JSONValue(parsing: text) else { return self(text) }
        let hidden = self(value)
        return self(hidden == value ? text : hidden.description)
    }

    package func callAsFunction(_ value: JSONValue) -> JSONValue {
        guard !values.isEmpty else { return value }
        return switch value {
        case .string(let text): .string(self(text))
        case .array(let elements): .array(elements.map { self($0) })
        case .object(let members): .object(members.map { JSONValue.Member($0.name, self($0.value)) })
        case .null, .bool, .integer, .number: value
        }
    }
}

extension String {
    fileprivate var formsInText: [String] {
        let json = JSONValue.string(self).description.dropFirst().dropLast()
        let line = String(map { $0.isNewline ? " " : $0 })
        return [self, String(json), PercentEncoding.encoded(self), line]
    }
}
