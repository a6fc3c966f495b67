import Diagnostics
import JSON
import RuleLoader
import YAMLFiles

extension LanguageServer {
    /// A change that puts the keys of the rule at a position into the order of the reference. It is offered only if the rules
    /// are the same afterwards.
    mutating func keyOrderAction(_ path: String, _ document: OpenDocument, at position: SourcePosition) -> JSONValue? {
        guard let set = set(of: path), set.value != nil, let file = set.file(path), file.text == document.octets,
            set.files.reduce(0, { $0 + $1.text.count }) <= Self.maximumSetLength,
            let outline = outline(of: path, document), let rule = outline.ruleLines(at: position),
            let change = KeyOrder(rule, document.lines).change
        else { return nil }
        var text = file.text
        text.replaceSubrange(change.range, with: change.text)
        let changed = FileOutline(SourceFile(name: file.name, text: text))
        guard changed?.contentWithoutKeyOrder == outline.contentWithoutKeyOrder,
            set.loaded(replacing: file.name, with: text).value != nil
        else { return nil }
        let edit: JSONValue = [
            "range": [
                "start": document.lines.position(ofOffset: change.range.lowerBound, client.encoding).json,
                "end": document.lines.position(ofOffset: change.range.upperBound, client.encoding).json,
            ],
            "newText": .string(String(decoding: change.text, as: UTF8.self)),
        ]
        return [
            "title": "Sort the keys of this rule as in the reference", "kind": "refactor",
            "edit": workspaceEdit([(path, edit)]),
        ]
    }
}

/// Moves the lines of a rule's keys. Comments and empty lines above a key move with it; comments above the whole rule stay.
private struct KeyOrder {
    private let rule: RuleLines
    private let lines: TextLines

    init(_ rule: RuleLines, _ lines: TextLines) {
        self.rule = rule
        self.lines = lines
    }

    /// `nil` if the keys are sorted already.
    var change: (range: Range<Int>, text: [UInt8])? {
        let sorted = rule.sortedKeys
        guard let oldFirst = rule.keys.first, let newFirst = sorted.first,
            sorted.map(\.line) != rule.keys.map(\.line)
        else { return nil }
        let start = lines.start(of: oldFirst.line - 1)
        let end = lines.start(of: startOfComments(above: rule.end) - 1)
        // The beginning of the line before the first key: spaces and the dash of the list.
        let dash = lines.octets[start..<keyStart(of: oldFirst)]
        let margin = dash.prefix { $0 == UInt8(ascii: " ") }
        var text: [UInt8] = []
        for line in commentLines(above: newFirst) {
            text += line.isBlank ? line : margin + line.drop { $0 == UInt8(ascii: " ") }
        }
        text += dash
        for key in sorted {
            if key.line != newFirst.line {
                for line in commentLines(above: key) { text += line }
                text += [UInt8](repeating: UInt8(ascii: " "), count: rule.column - 1)
            }
            text += lines.octets[keyStart(of: key)..<lines.start(of: endOfValue(of: key) - 1)]
            // The last line of a file may have no end.
            if text.last != UInt8(ascii: "\n"), text.last != UInt8(ascii: "\r") { text.append(UInt8(ascii: "\n")) }
        }
        return (start..<end, text)
    }

    private func keyStart(of key: RuleLines.Key) -> Int {
        lines.offset(of: SourcePosition(line: key.line, column: rule.column))
    }

    /// The line after the value of a key, from 1.
    private func endOfValue(of key: RuleLines.Key) -> Int {
        startOfComments(above: rule.keys.first { $0.line > key.line }?.line ?? rule.end)
    }

    /// The lines above a key that move with it. Those above the first key are about the whole rule.
    private func commentLines(above key: RuleLines.Key) -> [ArraySlice<UInt8>] {
        guard key.line != rule.keys.first?.line else { return [] }
        return (startOfComments(above: key.line)..<key.line).map {
            lines.octets[lines.start(of: $0 - 1)..<lines.start(of: $0)]
        }
    }

    /// The first of the empty lines and comments directly above a line. A comment that is indented further than the keys
    /// belongs to the value before it.
    private func startOfComments(above line: Int) -> Int {
        var first = line
        while first - 1 > rule.keys[0].line {
            let above = lines.line(first - 2)
            let content = above.drop { $0 == UInt8(ascii: " ") }
            let isComment = content.first == UInt8(ascii: "#") && content.startIndex - above.startIndex < rule.column
            guard content.isEmpty || isComment else { break }
            first -= 1
        }
        return first
    }
}

extension ArraySlice<UInt8> {
    /// True for a line of spaces and its end.
    fileprivate var isBlank: Bool { allSatisfy { [0x20, 0x0A, 0x0D].contains($0) } }
}
