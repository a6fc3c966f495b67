import Expressions
package import JSON

/// Replaces the values of `!secret` and `!env_var` by `***` in traces, logs and messages, and by marks with their names in
/// recordings.
package struct Redaction: Hashable, Sendable {
    /// The shortest value that is hidden in texts that come from others, in octets. A shorter one, such as `on` or `1`, is
    /// there by chance far more often than because somebody has sent the secret.
    package static let shortestReceived = 8

    /// A text that is replaced.
    private struct Form: Hashable {
        var text: String
        var mark: String
        /// True if it is of a value that is hidden in received texts, too.
        var isLong: Bool
    }

    /// What stands in place of each value.
    private let marks: [String: String]
    /// Each value, and its encodings in JSON, in a URL and in a single line. The longest come first, so that replacing
    /// a value does not leave parts of another value that contains it.
    private let forms: [Form]

    /// Empty values are ignored.
    ///
    /// - Parameter marks: what stands in place of some of the values; `***` stands in place of the others.
    package init(_ values: Set<String>, marks: [String: String] = [:]) {
        self.init(Dictionary(values.map { ($0, marks[$0] ?? "***") }) { first, _ in first })
    }

    private init(_ marks: [String: String]) {
        self.marks = marks.filter { !$0.key.isEmpty }
        var forms: [String: Form] = [:]
        for (value, mark) in self.marks.sorted(by: { $0.key < $1.key }) {
            let isLong = value.utf8.count >= Self.shortestReceived
            for text in value.formsInText where forms[text] == nil || text == value {
                forms[text] = Form(text: text, mark: mark, isLong: isLong)
            }
        }
        self.forms = forms.values.sorted { ($1.text.utf8.count, $0.text) < ($0.text.utf8.count, $1.text) }
    }

    private init(_ marks: [String: String], _ forms: [Form]) {
        self.marks = marks
        self.forms = forms
    }

    /// Hides these values, too. Their marks replace those of the same values.
    package func hiding(_ more: Set<String>, marks others: [String: String] = [:]) -> Redaction {
        Redaction(marks.merging(more.map { ($0, others[$0] ?? "***") }) { $1 })
    }

    /// The redaction of texts that come from others, such as messages: values shorter than `shortestReceived` stay.
    package var ofReceived: Redaction {
        Redaction(marks.filter { $0.key.utf8.count >= Self.shortestReceived }, forms.filter(\.isLong))
    }

    /// The redaction of the topic of a message: also a short value is hidden if it is the whole topic, because a state whose
    /// topic is of `!env_var` has to find its messages.
    package func callAsFunction(topicName: String) -> String { marks[topicName] ?? ofReceived(topicName) }

    /// Replaces all values by `***`, whatever their marks are.
    package func withoutMarks(_ text: String) -> String { replaced(in: text) { _ in "***" } }

    package func callAsFunction(_ text: String) -> String { replaced(in: text, by: \.mark) }

    private func replaced(in text: String, by mark: (Form) -> String) -> String {
        // A mark must not be searched for other values. So each value is replaced by a character for private use first.
        var hidden = text
        for (index, form) in forms.enumerated() where hidden.contains(form.text) {
            hidden = hidden.replacing(form.text, with: Self.standIn(for: index))
        }
        guard hidden != text else { return text }
        var result = String.UnicodeScalarView()
        for scalar in hidden.unicodeScalars {
            let index = Int(scalar.value) - Int(Self.firstStandIn)
            if forms.indices.contains(index) {
                result.append(contentsOf: mark(forms[index]).unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// The last plane of Unicode is for private use, and has 65,536 characters. Further values have `***` at once.
    private static let firstStandIn: UInt32 = 0x10_0000

    private static func standIn(for index: Int) -> String {
        guard index < 0xFFFE, let scalar = Unicode.Scalar(firstStandIn + UInt32(index)) else { return "***" }
        return String(scalar)
    }

    /// Redacts text that may be JSON, in which a value may be written with other escapes.
    package func callAsFunction(jsonOrText text: String) -> String {
        guard !marks.isEmpty, let value = try? JSONValue(parsing: text) else { return self(text) }
        let hidden = self(value)
        return self(hidden == value ? text : hidden.description)
    }

    package func callAsFunction(_ value: JSONValue) -> JSONValue {
        guard !marks.isEmpty else { return value }
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
