import Diagnostics
import JSON
import RuleLoader

extension LanguageServer {
    /// The most diagnostics for which one request looks for a change.
    private static let maximumDiagnostics = 20
    /// The octets of a set up to which a change is tried before it is offered.
    private static let maximumTriedLength = 1 << 20

    mutating func codeActions(_ parameters: JSONValue) throws(ResponseError) -> JSONValue {
        let (path, document) = try document(parameters)
        guard let start = TextLines.Position(parameters["range"]?["start"]),
            let end = TextLines.Position(parameters["range"]?["end"])
        else { throw ResponseError(.invalidParams, "range is missing or not a range.") }
        let kinds = parameters["context"]?["only"]?.arrayValue?.compactMap(\.stringValue)
        var actions: [JSONValue] = []
        if kinds?.contains(where: { "quickfix".hasPrefix($0) }) ?? true {
            actions += quickFixes(path, document, start, end)
        }
        if kinds?.contains(where: { "refactor".hasPrefix($0) }) ?? true {
            let position = document.lines.sourcePosition(of: start, client.encoding)
            actions += ruleActions(path, document, at: position)
            if let action = keyOrderAction(path, document, at: position) { actions.append(action) }
            actions += secretActions(path, document, at: position)
        }
        return .array(actions)
    }

    /// The changes that hints of diagnostics describe. A change is offered only if the checker does not report the same
    /// diagnostic any more afterwards.
    private func quickFixes(
        _ path: String, _ document: OpenDocument, _ start: TextLines.Position, _ end: TextLines.Position
    ) -> [JSONValue] {
        guard let set = set(of: path), let file = set.file(path), file.text == document.octets else { return [] }
        let lines = document.lines
        let first = lines.sourcePosition(of: start, client.encoding)
        let last = lines.sourcePosition(of: end, client.encoding)
        let isSmall = set.files.reduce(0) { $0 + $1.text.count } <= Self.maximumTriedLength
        var actions: [JSONValue] = []
        let relevant = set.diagnostics.filter {
            $0.file == file.name && $0.start.line <= last.line && $0.end.line >= first.line
        }
        for diagnostic in relevant.prefix(Self.maximumDiagnostics) {
            let range = lines.offset(of: diagnostic.start)..<lines.offset(of: max(diagnostic.start, diagnostic.end))
            guard let change = diagnostic.change(in: lines.octets, at: range) else { continue }
            if isSmall || !change.isCertain {
                guard isSmall, solves(diagnostic, change, set, file) else { continue }
            }
            let edit: JSONValue = [
                "range": [
                    "start": lines.position(ofOffset: change.range.lowerBound, client.encoding).json,
                    "end": lines.position(ofOffset: change.range.upperBound, client.encoding).json,
                ],
                "newText": .string(change.text),
            ]
            actions.append([
                "title": .string(change.title), "kind": "quickfix", "isPreferred": true,
                "edit": workspaceEdit([(path, edit)]),
            ])
        }
        return actions
    }

    /// True if a change removes a diagnostic and leaves the file valid YAML.
    private func solves(_ diagnostic: Diagnostic, _ change: TextChange, _ set: CheckedSet, _ file: SourceFile) -> Bool {
        var text = file.text
        text.replaceSubrange(change.range, with: change.text.utf8)
        let after = set.loaded(replacing: file.name, with: text).diagnostics
        let errorsBefore = set.diagnostics.count { $0.code == "E101" }
        guard after.count(where: { $0.code == "E101" }) <= errorsBefore else { return false }
        return !after.contains {
            $0.code == diagnostic.code && $0.file == diagnostic.file && $0.start == diagnostic.start
        }
    }
}

/// A change of a text that a hint describes.
struct TextChange: Hashable, Sendable {
    var range: Range<Int>
    var text: String
    /// The title of the change in the editor's menu.
    var title: String
    /// True if the hint names the only possible text.
    var isCertain = false
}

extension Diagnostic {
    /// The change that the hint describes, if it is the replacement of a text.
    ///
    /// - Parameters:
    ///   - octets: the text of the file.
    ///   - range: the octets that the diagnostic is about.
    func change(in octets: [UInt8], at range: Range<Int>) -> TextChange? {
        guard !isConfidential else { return nil }
        // The message of an unquoted template says itself what to do.
        if code == "E111" { return quotedTemplate(octets, range) }
        guard let hint else { return nil }
        // The diagnostic of a secret is about its tag, and the hint about the name after it.
        let range = code == "E309" ? octets.word(after: range) : range
        let written = String(decoding: octets[range], as: UTF8.self)
        func replace(with text: some StringProtocol, isCertain: Bool = false) -> TextChange {
            let text = String(text)
            return TextChange(
                range: range, text: text, title: "Replace \(Diagnostic.shown(written)) by \(text)", isCertain: isCertain
            )
        }
        if let meant = hint.between("did you mean ", "?") {
            return replace(with: meant.filter { $0 != "\"" }, isCertain: true)
        }
        if hint == "remove the quotes" {
            guard written.utf8.count >= 2, let first = written.first, first == "\"" || first == "'",
                written.last == first
            else { return nil }
            return replace(with: written.dropFirst().dropLast())
        }
        if hint == "quote the text" || hint.hasSuffix("; quote the text") { return quotedValue(octets, range) }
        if code == "E101", hint.hasPrefix("write "), written == ":" { return replace(with: ": ") }
        if code == "E201", let key = hint.between("use ", ":"), key.isWord { return replace(with: key) }
        if let text = hint.between("to compare, write ", nil) ?? hint.between("write ", nil)
            ?? hint.between("use ", nil),
            text.isReplacement
        {
            return replace(with: text)
        }
        return nil
    }

    /// Puts the value after a key in quotes, up to the end of the line.
    private func quotedValue(_ octets: [UInt8], _ range: Range<Int>) -> TextChange? {
        let line = octets[range.upperBound...].firstLine
        guard line.first == UInt8(ascii: ":") else { return nil }
        let value = line.dropFirst().drop { $0 == 0x20 }
        guard !value.isEmpty else { return nil }
        return quote(value)
    }

    private func quotedTemplate(_ octets: [UInt8], _ range: Range<Int>) -> TextChange? {
        let value = octets[range.lowerBound...].firstLine
        guard let last = value.lastIndex(where: { $0 != 0x20 }) else { return nil }
        return quote(value[...last])
    }

    /// Puts a text in the quotes that it does not contain.
    private func quote(_ value: ArraySlice<UInt8>) -> TextChange? {
        let text = String(decoding: value, as: UTF8.self)
        let quoted: String
        if !text.contains("\""), !text.contains("\\") {
            quoted = "\"\(text)\""
        } else if !text.contains("'") {
            quoted = "'\(text)'"
        } else {
            return nil
        }
        return TextChange(
            range: value.startIndex..<value.endIndex, text: quoted, title: "Put \(Diagnostic.shown(text)) in quotes")
    }

    /// A text of the file as part of a title.
    private static func shown(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).first ?? ""
        return line.count > 40 ? line.prefix(40) + "…" : String(line)
    }
}

extension [UInt8] {
    /// The word in the same line after a range and spaces.
    fileprivate func word(after range: Range<Int>) -> Range<Int> {
        let rest = self[range.upperBound...].firstLine.drop { $0 == 0x20 }
        let ends: [UInt8] = [0x20, UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]")]
        let word = rest.prefix { !ends.contains($0) }
        return word.startIndex..<word.endIndex
    }
}

extension String {
    /// The text after a prefix, up to `end` or the end of the text.
    fileprivate func between(_ prefix: String, _ end: Character?) -> Substring? {
        guard hasPrefix(prefix) else { return nil }
        let rest = dropFirst(prefix.count)
        guard let end else { return rest }
        guard let index = rest.firstIndex(of: end) else { return nil }
        return rest[..<index]
    }
}

extension Substring {
    /// True for a key or a name.
    fileprivate var isWord: Bool {
        !isEmpty && utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") }
    }

    /// True for a text that can stand in place of the wrong one: a single word, a time of the sun with an offset, or a
    /// comparison. Hints such as `write a if b else c` describe more than that.
    fileprivate var isReplacement: Bool {
        let parts = split(separator: " ")
        guard let first = parts.first, !isEmpty, !first.hasSuffix(":"), !first.hasPrefix("!") else { return false }
        return parts.count == 1 || parts.count == 3 && (parts[1] == "-" || parts[1] == "+")
    }
}
