import RuleLoader

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
    /// What stands in the places of `***`, by the number of the words before it in its line, in the order of the text.
    private var originals: [Int: [[UInt8]]] = [:]
    /// The numbers of the words before a mark.
    private var numbers: [Words: Int] = [:]

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
        for mark in Self.marks(in: masked, &numbers) {
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
        var numbers = numbers
        let marks = Self.marks(in: edited, &numbers)
        let counts = Dictionary(marks.map { ($0.words, 1) }, uniquingKeysWith: +)
        var used: [Int: Int] = [:]
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
            } else if mark.isInComment {
                text += Self.mark
            } else {
                throw Unknown(line: mark.line, column: mark.column)
            }
        }
        return text + edited[position...]
    }

    /// The text of a line before a mark, without indentation and dashes of lists.
    private struct Words: Hashable, Sendable {
        /// The number of the words before the previous mark of the line; 0 without one. A line with many marks is so kept once,
        /// and not once for each mark.
        var previous: Int
        /// The text after the previous mark.
        var text: [UInt8]
    }

    private struct Mark {
        var offset: Int
        var line, column: Int
        /// The number of the words before it.
        var words: Int
        /// True if the line is a comment.
        var isInComment: Bool
    }

    /// The runs of exactly three asterisks.
    ///
    /// - Parameter numbers: gets a new number for words that it does not have.
    private static func marks(in text: [UInt8], _ numbers: inout [Words: Int]) -> [Mark] {
        var marks: [Mark] = []
        var line = 1
        var lineStart = 0
        /// The number of the words before the previous mark of the line, and where the text after it begins.
        var previous = (words: 0, end: 0)
        var isInComment = false
        var offset = 0
        while offset < text.count {
            let octet = text[offset]
            if octet == UInt8(ascii: "\n") {
                line += 1
                lineStart = offset + 1
                previous = (0, lineStart)
            }
            guard octet == UInt8(ascii: "*") else {
                offset += 1
                continue
            }
            let end = text[offset...].firstIndex { $0 != UInt8(ascii: "*") } ?? text.count
            if end - offset == mark.count {
                var words = text[previous.end..<offset]
                if previous.words == 0 {
                    words = words.drop {
                        $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "-")
                    }
                    isInComment = words.first == UInt8(ascii: "#")
                }
                let key = Words(previous: previous.words, text: Array(words))
                let number = numbers[key] ?? numbers.count + 1
                numbers[key] = number
                previous = (number, end)
                marks.append(
                    Mark(
                        offset: offset, line: line, column: offset - lineStart + 1, words: number,
                        isInComment: isInComment))
            }
            offset = end
        }
        return marks
    }
}
