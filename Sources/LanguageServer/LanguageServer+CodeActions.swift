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
            let change = diagnostic.changes(in: lines.octets, at: range).first { change in
                isSmall ? solves(diagnostic, change, set, file) : change.isCertain
            }
            guard let change else { continue }
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
    /// The changes of which one may be what the hint describes, the likeliest first.
    ///
    /// - Parameters:
    ///   - octets: the text of the file.
    ///   - range: the octets that the diagnostic is about.
    func changes(in octets: [UInt8], at range: Range<Int>) -> [TextChange] {
        guard !isConfidential else { return [] }
        // The message of an unquoted template says itself what to do.
        if code == "E111" { return quotedTemplates(octets, range) }
        switch (code, hint) {
        case (_, nil): return []
        case (_, "use ~ to join text"?): return joins(octets, range)
        case ("E101", "quote text that contains \": \""?): return quotedText(octets, range).map { [$0] } ?? []
        case ("E202", "add version: to it"?), ("E202", "begin it with version: 1"?):
            let place = range.lowerBound..<range.lowerBound
            return [TextChange(range: place, text: "version: 1\n", title: "Add version: 1", isCertain: true)]
        case (_, let hint?) where hint == "quote the text" || hint.hasSuffix("; quote the text"):
            return quotedValues(octets, range)
        case (_, let hint?): return replacement(hint, octets, range).map { [$0] } ?? []
        }
    }

    private func replacement(_ hint: String, _ octets: [UInt8], _ range: Range<Int>) -> TextChange? {
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

    /// Puts the value after a key in quotes, in brackets up to the next comma or bracket, else up to the end of the line.
    private func quotedValues(_ octets: [UInt8], _ range: Range<Int>) -> [TextChange] {
        let line = octets[range.upperBound...].firstLine
        guard line.first == UInt8(ascii: ":") else { return [] }
        let value = line.dropFirst().drop { $0 == 0x20 }.withoutComment
        let ends: [UInt8] = [UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]")]
        let inBrackets = value.prefix { !ends.contains($0) }.withoutComment
        return [inBrackets, value].filter { !$0.isEmpty }.compactMap(quote)
    }

    /// Puts a template in quotes, in brackets up to the end of its diagnostic, which is before the next comma or bracket,
    /// else up to the end of the line.
    private func quotedTemplates(_ octets: [UInt8], _ range: Range<Int>) -> [TextChange] {
        let value = octets[range.lowerBound...].firstLine.withoutComment
        // A `#` without a space before it is text, too, but the diagnostic ends there.
        let isCutOff = octets[range.upperBound...].first == UInt8(ascii: "#") && range.upperBound < value.endIndex
        return (isCutOff ? [value] : [octets[range], value]).compactMap(quote)
    }

    /// Puts the value of the line in quotes in which a colon is not expected.
    private func quotedText(_ octets: [UInt8], _ range: Range<Int>) -> TextChange? {
        let before = octets[..<range.lowerBound]
        let start = before.lastIndex { $0 == 0x0A || $0 == 0x0D }.map { $0 + 1 } ?? 0
        guard let colon = before[start...].firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let value = octets[(colon + 1)...].firstLine
        guard value.first == 0x20 else { return nil }
        return quote(value.drop { $0 == 0x20 }.withoutComment)
    }

    /// Puts `~` in place of a `+` of an expression. The operator of the diagnostic is the last one in the expression, unless
    /// others are in brackets after it.
    private func joins(_ octets: [UInt8], _ range: Range<Int>) -> [TextChange] {
        var quote: UInt8?
        var signs: [Int] = []
        for index in range {
            let octet = octets[index]
            if quote == octet {
                quote = nil
            } else if quote == nil, octet == UInt8(ascii: "'") || octet == UInt8(ascii: "\"") {
                quote = octet
            } else if quote == nil, octet == UInt8(ascii: "+") {
                signs.append(index)
            }
        }
        return signs.reversed().map { TextChange(range: $0..<$0 + 1, text: "~", title: "Replace + by ~") }
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

extension ArraySlice<UInt8> {
    /// A value without the comment after it, and without the spaces at its end. A `#` in the braces of a template begins no
    /// comment once the template is in quotes.
    fileprivate var withoutComment: ArraySlice<UInt8> {
        var end = endIndex
        var isInTemplate = false
        for index in indices.dropFirst() {
            let (before, octet) = (self[index - 1], self[index])
            if before == octet, octet == UInt8(ascii: "{") || octet == UInt8(ascii: "}") {
                isInTemplate = octet == UInt8(ascii: "{")
            } else if octet == UInt8(ascii: "#"), before == 0x20 || before == 0x09, !isInTemplate {
                end = index
                break
            }
        }
        let last = self[..<end].lastIndex { $0 != 0x20 && $0 != 0x09 }
        return last.map { self[...$0] } ?? self[startIndex..<startIndex]
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
