/// A text whose passwords are replaced by `***`, and what stands in their places.
///
/// `PasswordPlaces` finds the passwords. When an edited text comes back, `***` is replaced by what stood there: it is found by
/// the words before it in its line, because lines move.
package struct PasswordMask: Hashable, Sendable {
    /// `***` in an edited text for which no single original is known.
    package struct Unknown: Error, Hashable, Sendable {
        /// From 1.
        package var line: Int
        /// From 1, in octets.
        package var column: Int
    }

    private static let mark: [UInt8] = Array("***".utf8)

    package private(set) var masked: [UInt8] = []
    /// What stands in the places of `***`, by the words before it in its line, in the order of the text.
    private var originals: [[UInt8]: [[UInt8]]] = [:]

    package init(_ text: [UInt8]) {
        var replaced: [Int: [UInt8]] = [:]
        var position = 0
        for place in PasswordPlaces.find(in: text) {
            masked += text[position..<place.lowerBound]
            replaced[masked.count] = Array(text[place])
            masked += Self.mark
            position = place.upperBound
        }
        masked += text[position...]
        for mark in Self.marks(in: masked) {
            // A `***` that stood in the file is its own original.
            originals[mark.words, default: []].append(replaced[mark.offset] ?? Self.mark)
        }
    }

    /// An edited text with the passwords in their places.
    package func restored(_ edited: [UInt8]) throws(Unknown) -> [UInt8] {
        try replaced(edited) { $0 }
    }

    /// An edited text for a check, with other words of the same length as `***` in the places of the passwords, so that columns
    /// stay and the result contains no password. `***` alone would be an alias of YAML.
    package func neutral(_ edited: [UInt8]) -> [UInt8] {
        (try? replaced(edited) { _ in Array("xxx".utf8) }) ?? edited
    }

    private func replaced(
        _ edited: [UInt8], _ value: ([UInt8]) -> [UInt8]
    ) throws(Unknown) -> [UInt8] {
        let marks = Self.marks(in: edited)
        let counts = Dictionary(marks.map { ($0.words, 1) }, uniquingKeysWith: +)
        var used: [[UInt8]: Int] = [:]
        var text: [UInt8] = []
        var position = 0
        for mark in marks {
            text += edited[position..<mark.offset]
            position = mark.offset + Self.mark.count
            let index = used[mark.words, default: 0]
            used[mark.words] = index + 1
            let known = originals[mark.words] ?? []
            if counts[mark.words] == known.count || !known.isEmpty && known.allSatisfy({ $0 == known[0] }) {
                let original = known[min(index, known.count - 1)]
                text += original == Self.mark ? original : value(original)
            } else if mark.words.first == UInt8(ascii: "#") {
                text += Self.mark
            } else {
                throw Unknown(line: mark.line, column: mark.column)
            }
        }
        return text + edited[position...]
    }

    private struct Mark {
        var offset: Int
        var line, column: Int
        /// The text of the line before the mark, without indentation and dashes of lists.
        var words: [UInt8]
    }

    /// The runs of exactly three asterisks.
    private static func marks(in text: [UInt8]) -> [Mark] {
        var marks: [Mark] = []
        var line = 1
        var lineStart = 0
        var offset = 0
        while offset < text.count {
            let octet = text[offset]
            if octet == UInt8(ascii: "\n") {
                line += 1
                lineStart = offset + 1
            }
            guard octet == UInt8(ascii: "*") else {
                offset += 1
                continue
            }
            let end = text[offset...].firstIndex { $0 != UInt8(ascii: "*") } ?? text.count
            if end - offset == mark.count {
                let words = text[lineStart..<offset].drop {
                    $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "-")
                }
                marks.append(Mark(offset: offset, line: line, column: offset - lineStart + 1, words: Array(words)))
            }
            offset = end
        }
        return marks
    }
}
