import Diagnostics
package import Expressions

/// Changes of the text for hints that do more than replace what a message is about. There are none after many messages, and for
/// what an alias has.
extension Checker {
    /// The text of a scalar as it is written; `nil` for several lines, tags and anchors.
    package func written(_ node: YAMLNode) -> String? {
        guard node.scalar != nil, node.tag == nil, node.alias == nil, reportsExactly else { return nil }
        let text = String(decoding: source.octets[source.octets(from: node.start, to: node.end)], as: UTF8.self)
        guard !text.isEmpty, !text.contains(where: \.isNewline), text.first != "&", text.first != "!" else {
            return nil
        }
        return text
    }

    /// Writes a text or a value in brackets between two texts. A value in several lines without brackets stays as it is, because
    /// its lines would have to move.
    package func wrapping(_ node: YAMLNode, in opening: String, _ closing: String) -> [Hint.Change] {
        guard node.alias == nil, node.tag == nil, reportsExactly else { return [] }
        let place = source.octets(from: node.start, to: node.end)
        let text = String(decoding: source.octets[place], as: UTF8.self)
        switch node.content {
        case .scalar: guard written(node) != nil else { return [] }
        case .sequence: guard text.first == "[", text.last == "]" else { return [] }
        case .mapping: guard text.first == "{", text.last == "}" else { return [] }
        case .invalid: return []
        }
        return [Hint.Change(place, opening + text + closing, isGuess: true)]
    }

    /// Writes a value for a key that has none.
    package func insertion(ofValue text: String, after key: YAMLNode.Key) -> [Hint.Change] {
        guard reportsExactly, key.alias == nil else { return [] }
        let end = source.offset(of: key.end)
        guard let colon = source.octets[end...].firstLine.firstIndex(of: UInt8(ascii: ":")),
            source.octets[end..<colon].allSatisfy({ $0 == 0x20 })
        else { return [] }
        return [.init(colon + 1..<colon + 1, " " + text)]
    }

    /// Another key for the value in the same line behind `name: `.
    package func changes(ofKey name: String, before node: YAMLNode, into text: String) -> [Hint.Change] {
        place(ofKey: name, before: node).map { [Hint.Change($0, text)] } ?? []
    }

    /// Two entries in place of `name: ` and the value behind it in the same line.
    package func changes(
        ofEntry name: String, before node: YAMLNode, into first: String, _ second: String
    ) -> [Hint.Change] {
        guard let key = place(ofKey: name, before: node) else { return [] }
        let start = node.start.advanced(by: key.lowerBound - source.offset(of: node.start))
        return changes(ofEntry: name, before: node, into: first + entrySeparator(before: start) + second)
    }

    /// Another entry in place of `name: ` and the value behind it in the same line.
    package func changes(ofEntry name: String, before node: YAMLNode, into text: String) -> [Hint.Change] {
        guard let key = place(ofKey: name, before: node), written(node) != nil else { return [] }
        return [Hint.Change(key.lowerBound..<source.offset(of: node.end), text)]
    }

    private func place(ofKey name: String, before node: YAMLNode) -> Range<Int>? {
        guard reportsExactly, node.alias == nil else { return nil }
        let before = source.octets(before: node.start)
        let text = Array("\(name): ".utf8)
        let start = before.upperBound - text.count
        guard start >= before.lowerBound, source.octets[start..<before.upperBound].elementsEqual(text) else {
            return nil
        }
        // The key is not the end of a longer one.
        if start > before.lowerBound, ![0x20, UInt8(ascii: "{")].contains(source.octets[start - 1]) { return nil }
        return start..<start + name.utf8.count
    }

    /// Removes the entry whose key is in the same line before its value.
    package func removal(ofKey name: String, before node: YAMLNode) -> [Hint.Change] {
        guard let place = place(ofKey: name, before: node) else { return [] }
        let start = node.start.advanced(by: place.lowerBound - source.offset(of: node.start))
        let key = YAMLNode.Key(
            text: name, isPlain: true, start: start, end: start.advanced(by: name.unicodeScalars.count))
        return removal(of: key, with: node)
    }

    /// Removes an entry and its value. An entry behind the dash of a list stays, because the dash belongs to the entries after it.
    func removal(of key: YAMLNode.Key, with value: YAMLNode) -> [Hint.Change] {
        guard reportsExactly, key.alias == nil, value.alias == nil, value.isNull || isInOneLine(key, value) else {
            return []
        }
        let octets = source.octets
        var end = source.offset(of: max(key.end, value.end))
        let line = source.octets(before: key.start)
        let lineEnd = octets[end...].firstLine.endIndex
        if value.isNull, octets[end..<lineEnd].first(where: { $0 != 0x20 }) == UInt8(ascii: ":") {
            end = (octets[end..<lineEnd].firstIndex(of: UInt8(ascii: ":")) ?? end) + 1
        }
        if octets[line].allSatisfy({ $0 == 0x20 }) {
            let rest = octets[end..<lineEnd].drop { $0 == 0x20 || $0 == 0x09 }
            guard rest.isEmpty || rest.first == UInt8(ascii: "#") else { return [] }
            let next = octets[end...].afterFirstLine?.startIndex ?? octets.endIndex
            return [Hint.Change(line.lowerBound..<next, "")]
        }
        // In brackets, a comma goes with the entry.
        let start = source.offset(of: key.start)
        let after = octets[end...].drop { $0 == 0x20 }
        if after.first == UInt8(ascii: ",") {
            return [Hint.Change(start..<after.dropFirst().drop { $0 == 0x20 }.startIndex, "")]
        }
        guard after.first == UInt8(ascii: "}") else { return [] }
        let before = octets[line].lastIndex { $0 != 0x20 }
        guard let before, octets[before] == UInt8(ascii: ",") else { return [] }
        return [Hint.Change(before..<end, "")]
    }

    /// Writes an entry of a mapping in braces behind the mapping, where it is an entry of the outer mapping.
    ///
    /// - Parameter inner: the mapping, whose braces and key are in one line.
    func movingOut(_ key: YAMLNode.Key, _ value: YAMLNode, of inner: YAMLNode) -> [Hint.Change] {
        guard reportsExactly, inner.alias == nil, inner.start.line == inner.end.line,
            let removed = removal(of: key, with: value).first?.place, let text = written(entry: key, value)
        else { return [] }
        let octets = source.octets
        let place = source.octets(from: inner.start, to: inner.end)
        guard octets[place].first == UInt8(ascii: "{"), octets[place].last == UInt8(ascii: "}"),
            place.lowerBound < removed.lowerBound, removed.upperBound < place.upperBound
        else { return [] }
        let kept = octets[place.lowerBound..<removed.lowerBound] + octets[removed.upperBound..<place.upperBound]
        let separator = entrySeparator(outside: inner)
        return [Hint.Change(place, String(decoding: kept, as: UTF8.self) + separator + text, isGuess: true)]
    }

    /// Writes an entry behind a mapping in braces into this mapping.
    ///
    /// - Parameter name: the key in the mapping.
    package func movingIn(
        _ key: YAMLNode.Key, _ value: YAMLNode, into inner: YAMLNode, as name: String
    ) -> [Hint.Change] {
        guard reportsExactly, inner.alias == nil, key.alias == nil, let written = written(value) else { return [] }
        let end = source.offset(of: inner.end)
        let start = source.offset(of: key.start)
        // Nothing is between the mapping and the entry.
        guard end > 0, end <= start, source.octets[end - 1] == UInt8(ascii: "}"),
            source.octets[end..<start].allSatisfy({ [0x20, 0x0A, 0x0D, UInt8(ascii: ",")].contains($0) })
        else { return [] }
        let isEmpty = source.octets[..<(end - 1)].last { $0 != 0x20 } == UInt8(ascii: "{")
        let place = end - 1..<source.offset(of: value.end)
        return [Hint.Change(place, (isEmpty ? "" : ", ") + "\(name): \(written)}", isGuess: true)]
    }

    private func isInOneLine(_ key: YAMLNode.Key, _ value: YAMLNode) -> Bool {
        key.start.line == value.end.line && key.start < value.end
    }

    /// An entry with a value in the same line, as it is written.
    private func written(entry key: YAMLNode.Key, _ value: YAMLNode) -> String? {
        guard key.alias == nil, isInOneLine(key, value) else { return nil }
        return String(decoding: source.octets[source.octets(from: key.start, to: value.end)], as: UTF8.self)
    }

    /// What separates an entry from the value before it, which is behind its key in the same line.
    private func entrySeparator(outside value: YAMLNode) -> String {
        let before = source.octets[source.octets(before: value.start)]
        let indentation = before.prefix { $0 == 0x20 || $0 == UInt8(ascii: "-") }
        let isInBrackets = before.dropFirst(indentation.count).contains { [0x5B, 0x7B].contains($0) }
        return isInBrackets ? ", " : "\n" + String(repeating: " ", count: indentation.count)
    }

    // MARK: Lists

    /// A dash before each of several keys that are written in one entry of a list, or without a list.
    ///
    /// - Parameters:
    ///   - entries: those of the mapping.
    ///   - names: the keys, of which an entry of the list has one.
    package func dashes(before entries: [YAMLNode.Entry], with names: Set<String>) -> [Hint.Change] {
        let keys = entries.map(\.key).filter { names.contains($0.text) }
        guard reportsExactly, let first = entries.first?.key, keys.count > 1,
            entries.allSatisfy({ $0.key.alias == nil })
        else { return [] }
        let second = keys[1]
        let before = source.octets(before: second.start)
        let octets = source.octets
        guard octets[before].allSatisfy({ $0 == 0x20 }), second.start.line > first.start.line else {
            // `{log: a, stop: true}` becomes two entries of a list in brackets.
            let comma = octets[before].lastIndex { $0 != 0x20 }
            guard let comma, octets[comma] == UInt8(ascii: ",") else { return [] }
            return [Hint.Change(comma..<before.upperBound, "}, {", isGuess: true)]
        }
        let column = before.count
        if octets[source.octets(before: first.start)].contains(UInt8(ascii: "-")) {
            guard column >= 2 else { return [] }
            return [Hint.Change(before.upperBound - 2..<before.upperBound, "- ", isGuess: true)]
        }
        guard keys.count == entries.count else { return [] }
        return [source.listing(from: first.start)]
    }
}

extension SourceText {
    /// The lines from a position on that are indented as far, and the empty ones between them.
    private func block(from start: SourcePosition) -> [ArraySlice<UInt8>] {
        var lines = [octets[offset(of: start)...].firstLine]
        var count = 1
        var rest = octets[offset(of: start)...].afterFirstLine
        while let line = rest?.firstLine {
            let indentation = line.prefix { $0 == 0x20 }.count
            let isEmpty = indentation == line.count
            guard isEmpty || indentation >= start.column - 1 else { break }
            lines.append(line)
            if !isEmpty { count = lines.count }
            rest = rest?.afterFirstLine
        }
        return Array(lines.prefix(count))
    }

    /// A dash before an entry in the column of its list.
    func entry(at position: SourcePosition, ofListAt list: SourcePosition?) -> [Hint.Change] {
        guard let list else { return [] }
        let before = octets(before: position)
        guard octets[before].allSatisfy({ $0 == 0x20 }) else { return [] }
        return [Hint.Change(before, String(repeating: " ", count: list.column - 1) + "- ", isGuess: true)]
    }

    /// Makes each key of a block mapping an entry of a list.
    func listing(from start: SourcePosition) -> Hint.Change {
        let lines = block(from: start)
        let column = start.column - 1
        let blanks = String(repeating: " ", count: column)
        let texts = lines.enumerated().map { number, line in
            guard number > 0 else { return "- " + String(decoding: line, as: UTF8.self) }
            let rest = String(decoding: line.dropFirst(column), as: UTF8.self)
            return rest.isEmpty ? "" : blanks + (" #-".contains(rest.prefix(1)) ? "  " : "- ") + rest
        }
        let first = offset(of: start)
        return Hint.Change(
            first..<(lines.last?.endIndex ?? first), texts.joined(separator: "\n"), isGuess: true)
    }
}
