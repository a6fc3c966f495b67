import Expressions
package import JSON

/// Replaces the values of `!secret` and `!env_var` by `***` in traces, logs and messages, and by marks with their names in
/// recordings.
package struct Redaction: Hashable, Sendable {
    /// The length in octets of the shortest value that is hidden within texts that come from others. A shorter value, such as
    /// `on` or `1`, is mostly contained in such a text by chance.
    package static let shortestReceived = 8
    /// The length in octets of the longest secret that is hidden only where it stands as a word of its own. Otherwise the secret
    /// `1` would hide each digit 1 of addresses, times and names, and protect nothing.
    private static let longestWord = 3

    /// The text that replaces a value.
    private struct Mark: Hashable {
        var text: String
        /// True for the value of an environment variable, which is mostly a setting.
        var isOpen: Bool
    }

    /// A text that is replaced.
    private struct Form: Hashable {
        var text: String
        var mark: String
        /// True if it is hidden within received texts, too.
        var isLong: Bool
        /// True if it is hidden as a whole received text: a short secret, such as the PIN that a keypad sends.
        var isWhole: Bool
        /// True if it stays where it is a part of a longer word or number: a very short secret, or a short value of an
        /// environment variable, such as `on`.
        var isWord: Bool
    }

    private let marks: [String: Mark]
    /// Each value, and its encodings in JSON, in a URL and in a single line. The longest come first, so that replacing
    /// a value does not leave parts of another value that contains it.
    private let forms: [Form]
    private var isOfReceived = false

    /// Empty values are ignored.
    ///
    /// - Parameters:
    ///   - marks: what stands in place of some of the values; `***` stands in place of the others.
    ///   - open: the values of environment variables. If they are short, they stay in texts that come from others, and inside
    ///     longer words.
    package init(_ values: Set<String>, marks: [String: String] = [:], open: Set<String> = []) {
        self.init(Self.marks(of: values, marks, open))
    }

    private init(_ marks: [String: Mark]) {
        self.marks = marks.filter { !$0.key.isEmpty }
        var forms: [String: Form] = [:]
        for (value, mark) in self.marks.sorted(by: { $0.key < $1.key }) {
            let isLong = value.utf8.count >= Self.shortestReceived
            let isWord = value.utf8.count <= Self.longestWord || !isLong && mark.isOpen
            for text in value.formsInText where forms[text] == nil || text == value {
                forms[text] = Form(
                    text: text, mark: mark.text, isLong: isLong, isWhole: !isLong && !mark.isOpen && text == value,
                    isWord: isWord)
            }
        }
        self.forms = forms.values.sorted { ($1.text.utf8.count, $0.text) < ($0.text.utf8.count, $1.text) }
    }

    private static func marks(of values: Set<String>, _ marks: [String: String], _ open: Set<String>) -> [String: Mark]
    {
        Dictionary(values.map { ($0, Mark(text: marks[$0] ?? "***", isOpen: open.contains($0))) }) { first, _ in first }
    }

    /// Hides these values, too. Their marks replace those of the same values.
    package func hiding(
        _ more: Set<String>, marks others: [String: String] = [:], open: Set<String> = []
    ) -> Redaction {
        Redaction(
            marks.merging(Self.marks(of: more, others, open)) { before, new in
                Mark(text: new.text, isOpen: before.isOpen && new.isOpen)
            })
    }

    /// Hides these values, too, with their marks.
    package func hiding(_ confidential: ConfidentialValues) -> Redaction {
        confidential.values.isEmpty
            ? self : hiding(confidential.values, marks: confidential.marks, open: confidential.open)
    }

    /// The redaction of texts that come from others, such as messages. A value shorter than `shortestReceived` stays in them,
    /// unless it is a secret and the whole text, or a whole text or number of its JSON.
    package var ofReceived: Redaction {
        var redaction = self
        redaction.isOfReceived = true
        return redaction
    }

    /// The redaction of the topic of a message: any short value is hidden if it is the whole topic, because a state whose
    /// topic is of `!env_var` has to find its messages.
    package func callAsFunction(topicName: String) -> String { marks[topicName]?.text ?? ofReceived(topicName) }

    /// Replaces all values by `***`, whatever their marks are.
    package func withoutMarks(_ text: String) -> String { revealed(concealed(cleaned(text))) { _ in "***" } }

    package func callAsFunction(_ text: String) -> String { revealed(concealed(cleaned(text)), by: \.mark) }

    /// True if a redacted text lacks a value: all marks begin with three asterisks.
    package static func hasMark(_ text: String) -> Bool { text.contains("***") }

    /// Redacts text that may be JSON, in which a value may be written with other escapes.
    package func callAsFunction(jsonOrText text: String) -> String {
        let text = cleaned(text)
        // A number that is the whole text is a value without quotation marks, and so is its mark.
        guard !marks.isEmpty, wholeForm(text) == nil, let value = try? JSONValue(parsing: text) else {
            return self(text)
        }
        let hidden = concealed(value)
        return revealed(concealed(hidden == value ? text : hidden.description), by: \.mark)
    }

    package func callAsFunction(_ value: JSONValue) -> JSONValue {
        guard !marks.isEmpty else { return value }
        return replaced(in: value) { self($0) }
    }

    // MARK: Stand-ins

    // Each value is first replaced by a character for private use, and these characters are replaced by the marks at the end.
    // Otherwise the text of a mark would be searched for the remaining values.

    /// The first of the 65,534 characters for private use in the last plane of Unicode. Texts beyond that number are replaced
    /// by `***`, without their marks.
    private static let firstStandIn: UInt32 = 0x10_0000

    private static func standIn(for index: Int) -> String {
        guard index < 0xFFFE, let scalar = Unicode.Scalar(firstStandIn + UInt32(index)) else { return "***" }
        return String(scalar)
    }

    /// The text without characters that would be taken for stand-ins.
    private func cleaned(_ text: String) -> String {
        guard !forms.isEmpty, text.unicodeScalars.contains(where: { $0.value >= Self.firstStandIn }) else {
            return text
        }
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { scalars.append(scalar.value >= Self.firstStandIn ? "\u{FFFD}" : scalar) }
        return String(scalars)
    }

    /// The text with stand-ins for the values.
    private func concealed(_ text: String) -> String {
        if let index = wholeForm(text) { return Self.standIn(for: index) }
        var hidden = text
        for (index, form) in forms.enumerated() where (form.isLong || !isOfReceived) && hidden.contains(form.text) {
            let standIn = Self.standIn(for: index)
            hidden =
                form.isWord
                ? hidden.replacing(word: form.text, with: standIn) : hidden.replacing(form.text, with: standIn)
        }
        return hidden
    }

    /// The index of the value that is all of a received text.
    private func wholeForm(_ text: String) -> Int? {
        isOfReceived ? forms.firstIndex { $0.isWhole && $0.text == text } : nil
    }

    private func concealed(_ value: JSONValue) -> JSONValue { replaced(in: value) { concealed($0) } }

    private func replaced(in value: JSONValue, by hide: (String) -> String) -> JSONValue {
        switch value {
        case .string(let text): return .string(hide(text))
        case .array(let elements): return .array(elements.map { replaced(in: $0, by: hide) })
        case .object(let members):
            return .object(members.map { JSONValue.Member($0.name, replaced(in: $0.value, by: hide)) })
        case .integer, .number:
            let text = value.description
            return wholeForm(text) == nil ? value : .string(hide(text))
        case .null, .bool: return value
        }
    }

    private func revealed(_ text: String, by mark: (Form) -> String) -> String {
        guard text.unicodeScalars.contains(where: { $0.value >= Self.firstStandIn }) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let index = Int(scalar.value) - Int(Self.firstStandIn)
            if forms.indices.contains(index) {
                result.append(contentsOf: mark(forms[index]).unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }
}

extension String {
    /// Replaces a text where it is not a part of a longer word or number.
    fileprivate func replacing(word: String, with other: String) -> String {
        var result = ""
        var rest = self[...]
        while let range = rest.firstRange(of: word) {
            let before = self[..<range.lowerBound]
            let after = self[range.upperBound...]
            let isPart =
                word.first?.isOfWord == true && before.last?.isOfWord == true && !before.endsWithEscape
                || word.last?.isOfWord == true && after.first?.isOfWord == true
            result += rest[..<range.lowerBound] + (isPart ? self[range] : other[...])
            rest = rest[range.upperBound...]
        }
        return result + rest
    }

    fileprivate var formsInText: [String] {
        let json = JSONValue.string(self).description.dropFirst().dropLast()
        let line = String(map { $0.isNewline ? " " : $0 })
        return [self, String(json), PercentEncoding.encoded(self), line]
    }
}

extension Substring {
    /// True if the last character belongs to an escape, such as `%2F` of a URL or `\n` of JSON, and to no word.
    fileprivate var endsWithEscape: Bool {
        let octets = Array(utf8.suffix(6))
        func isHex(_ octet: UInt8) -> Bool { Character(UnicodeScalar(octet)).isHexDigit }
        if octets.count >= 3, octets[octets.count - 3] == UInt8(ascii: "%"), octets.suffix(2).allSatisfy(isHex) {
            return true
        }
        if octets.count >= 2, octets[octets.count - 2] == UInt8(ascii: "\\"),
            "bfnrt".utf8.contains(octets[octets.count - 1])
        {
            return true
        }
        return octets.count == 6 && octets.starts(with: "\\u".utf8) && octets.suffix(4).allSatisfy(isHex)
    }
}

extension Character {
    fileprivate var isOfWord: Bool { isLetter || isNumber || self == "_" }
}
