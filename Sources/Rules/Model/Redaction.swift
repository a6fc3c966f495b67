import Expressions
package import JSON

/// Replaces the values of `!secret` and `!env_var` by `***` in traces, logs and messages.
package struct Redaction: Hashable, Sendable {
    private let values: Set<String>
    /// Each value, and its encodings in JSON, in a URL and in a single line. The longest come first, so that replacing
    /// a value does not leave parts of another value that contains it.
    private let forms: [String]

    /// Empty values are ignored.
    package init(_ values: Set<String>) {
        self.values = values.subtracting([""])
        forms = Set(self.values.flatMap(\.formsInText)).sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
    }

    package func hiding(_ more: Set<String>) -> Redaction { Redaction(more.union(values)) }

    package func callAsFunction(_ text: String) -> String {
        forms.reduce(text) { $0.replacing($1, with: "***") }
    }

    /// Redacts text that may be JSON, in which a value may be written with other escapes.
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
