package import Diagnostics
package import Expressions

/// Changes of a file that hints describe.
extension SourceText {
    /// The changes of a hint, with positions in the file.
    ///
    /// - Parameters:
    ///   - start: where the diagnostic begins, for changes of what it is about.
    ///   - end: where it ends.
    func changes(_ hint: Hint, from start: SourcePosition, to end: SourcePosition) -> [Diagnostic.Change] {
        hint.changes.map { change in
            let place = change.place.map { (position(of: $0.lowerBound), position(of: $0.upperBound)) }
            return Diagnostic.Change(
                start: place?.0 ?? start, end: place?.1 ?? end, text: change.text, isGuess: change.isGuess)
        }
    }

    package func octets(from start: SourcePosition, to end: SourcePosition) -> Range<Int> {
        let start = offset(of: start)
        return start..<max(start, offset(of: end))
    }

    /// The octets of a line before a position.
    func octets(before position: SourcePosition) -> Range<Int> {
        octets(from: SourcePosition(line: position.line, column: 1), to: position)
    }

    /// The octets of the first `wanted` between two positions.
    func octets(of wanted: String, from start: SourcePosition, to end: SourcePosition) -> Range<Int>? {
        find(wanted, from: start, to: end).map(offset).map { $0..<$0 + wanted.utf8.count }
    }

    /// The line `version: 1` above a position.
    package func versionLine(at start: SourcePosition) -> Hint.Change {
        .init(octets(from: start, to: start), "version: 1\n")
    }

    /// Translates the hint of a problem in an expression or a template into a hint about the file: the places of its changes
    /// become octets of the file, and its texts are escaped for the quotes around the scalar.
    ///
    /// - Parameter range: the octets of the scalar's value that the problem is about.
    package func hint(_ hint: Hint, about range: Range<Int>, in node: YAMLNode) -> Hint {
        let quote = quote(of: node)
        return Hint(
            hint.sentence,
            hint.changes.map { change in
                let (start, end) = positions(of: change.place ?? range, in: node)
                let text: String =
                    switch quote {
                    case "\""?: change.text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                    case "'"?: change.text.replacing("'", with: "''")
                    default: change.text
                    }
                // In a text without quotes, some characters have a meaning in YAML.
                let isGuess = change.isGuess || quote == nil && text.contains { "'\"#:!&*[{".contains($0) }
                return Hint.Change(octets(from: start, to: end), text, isGuess: isGuess)
            })
    }

    /// The quotes of a scalar, after its anchor; `nil` for a plain text or a block.
    private func quote(of node: YAMLNode) -> UnicodeScalar? {
        guard case .scalar(_, .quoted) = node.content else { return nil }
        var text = text(from: node.start)
        if text.first == "&" { text = text.drop { $0 != " " }.drop { $0 == " " } }
        return text.first
    }

    /// The hint for an indented key of the file. Only the line of the key is changed. The change is a guess, because the lines of
    /// its value may have to move as well.
    package func withoutIndentation(at start: SourcePosition) -> Hint {
        let indentation = octets(before: start)
        return Hint("a key of the file begins in column 1", [.init(indentation, "", isGuess: true)])
    }

    // MARK: Quoting

    /// Changes that put the text at a position in quotes: up to the next comma or bracket, for a text in brackets, and up to the
    /// end of the line. Only the parser knows whether the text is in brackets.
    func quoting(at start: SourcePosition) -> [Hint.Change] {
        let value = octets[offset(of: start)...].firstLine.withoutComment
        let ends: [UInt8] = [UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]")]
        let inBrackets = value.prefix { !ends.contains($0) }.withoutComment
        return [inBrackets, value].filter { !$0.isEmpty }.compactMap(quoting)
    }

    /// Changes that put a template in quotes: in brackets up to the end of its diagnostic, which is before the next comma or
    /// bracket, else up to the end of the line.
    func quotingTemplate(from start: SourcePosition, to end: SourcePosition) -> [Hint.Change] {
        let range = octets(from: start, to: end)
        let value = octets[range.lowerBound...].firstLine.withoutComment
        // A `#` without a space before it is text, too, but the diagnostic ends there.
        let isCutOff = octets[range.upperBound...].first == UInt8(ascii: "#") && range.upperBound < value.endIndex
        return (isCutOff ? [value] : [octets[range], value]).compactMap(quoting)
    }

    /// Changes that put a value in quotes. The value begins after the first colon in the line of a position, or after the dash
    /// if the line is an entry of a list without a key.
    func quotingValue(inLineOf position: SourcePosition) -> [Hint.Change] {
        let line = line(position.line)
        let before = octets[line.startIndex..<min(line.endIndex, offset(of: position))]
        var start = before.prefix { $0 == 0x20 || $0 == UInt8(ascii: "-") }.endIndex
        if let colon = before.indices.first(where: {
            before[$0] == UInt8(ascii: ":") && octets[($0 + 1)...].first == 0x20
        }) {
            start = colon + 1
        }
        return quoting(octets[start..<line.endIndex].drop { $0 == 0x20 }.withoutComment).map { [$0] } ?? []
    }

    /// Puts a text in the quotes that it does not contain.
    func quoting(_ value: ArraySlice<UInt8>) -> Hint.Change? {
        let text = String(decoding: value, as: UTF8.self)
        let quoted: String
        if !text.contains("\""), !text.contains("\\") {
            quoted = "\"\(text)\""
        } else if !text.contains("'") {
            quoted = "'\(text)'"
        } else {
            return nil
        }
        return Hint.Change(value.startIndex..<value.endIndex, quoted, isGuess: true)
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

extension Hint {
    static let tabMessage = "a tab is used for indentation"
    /// The hint of `tabMessage`. Its change is a guess, because a tab can stand for any number of spaces.
    static let spacesForTab = Hint("YAML allows only spaces", [Change(nil, "  ", isGuess: true)])

    /// A hint about a key of another system. `use triggers:` and `use event: or press:` name keys that may stand in its place;
    /// other sentences describe more than another key.
    package static func forKey(_ sentence: String) -> Hint {
        let words = sentence.split(separator: " ")
        guard let verb = words.first, verb == "use" || verb == "write" else { return Hint(sentence) }
        let keys = words.dropFirst().split(separator: "or", omittingEmptySubsequences: false)
        guard keys.allSatisfy({ $0.count == 1 && $0.first?.last == ":" }) else { return Hint(sentence) }
        return Hint(sentence, keys.joined().map { Change(nil, String($0.dropLast())) })
    }

    /// `write time: {after: 22:00}`, where the value of the key is the mistake.
    ///
    /// - Parameters:
    ///   - value: the right value.
    ///   - shown: the value as messages show it.
    package static func write(_ key: String, _ value: String, shown: String) -> Hint {
        Hint("write \(key): \(shown)", [Change(nil, value, isGuess: true)])
    }
}
