/// A text whose passwords are replaced by marks, and what stands in their places.
///
/// `PasswordPlaces` finds the passwords. A mark is `***`, or `***2`, `***3` … where the same words of a line stand before different
/// passwords. When an edited text comes back, each mark is replaced by what stood there: it is found by its number and the words
/// before it in its line, because lines move.
package struct PasswordMask: Hashable, Sendable {
    /// A mark in an edited text that stands for no password.
    package struct Unknown: Error, Hashable, Sendable {
        /// From 1.
        package var line: Int
        /// From 1, in octets.
        package var column: Int
    }

    private static let asterisks: [UInt8] = Array("***".utf8)
    /// Longer numbers are text behind a mark.
    private static let maximumDigits = 6

    package private(set) var masked: [UInt8] = []
    private var originals: [Name: [UInt8]] = [:]

    /// What tells a mark apart from others.
    private struct Name: Hashable {
        /// The text of the line before the mark, without indentation and dashes of lists.
        var words: [UInt8]
        /// 1 for a mark without a number.
        var number: Int
    }

    /// The numbers of the passwords behind the same words.
    private struct Numbers {
        private var known: [[UInt8]: Int] = [:]
        private var last = 0

        mutating func number(of password: [UInt8], besides taken: Set<Int>) -> Int {
            if let number = known[password] { return number }
            repeat { last += 1 } while taken.contains(last)
            known[password] = last
            return last
        }
    }

    package init(_ text: [UInt8]) {
        // Marks that stand in the file are their own originals, so their numbers are not used for passwords.
        let taken = Set(Self.marks(in: text).map(\.name.number))
        var numbers: [[UInt8]: Numbers] = [:]
        var places: [Int: [UInt8]] = [:]
        var lineStart = 0
        var position = 0
        func copy(to end: Int) {
            if let feed = text[position..<end].lastIndex(of: UInt8(ascii: "\n")) {
                lineStart = masked.count + feed - position + 1
            }
            masked += text[position..<end]
        }
        for place in PasswordPlaces.find(in: text) {
            copy(to: place.lowerBound)
            position = place.upperBound
            let password = Array(text[place])
            let words = Self.words(masked[lineStart...])
            let number = numbers[words, default: Numbers()].number(of: password, besides: taken)
            places[masked.count] = password
            masked += Self.asterisks
            if number > 1 { masked += Array(String(number).utf8) }
        }
        copy(to: text.count)
        for mark in Self.marks(in: masked) {
            originals[mark.name] = places[mark.range.lowerBound] ?? Array(masked[mark.range])
        }
    }

    /// An edited text with the passwords in their places.
    package func restored(_ edited: [UInt8]) throws(Unknown) -> [UInt8] {
        var text: [UInt8] = []
        var position = 0
        for mark in Self.marks(in: edited) {
            text += edited[position..<mark.range.lowerBound]
            position = mark.range.upperBound
            if let original = originals[mark.name] {
                text += original
            } else if mark.name.words.first == UInt8(ascii: "#") {
                text += edited[mark.range]
            } else {
                throw Unknown(line: mark.line, column: mark.column)
            }
        }
        return text + edited[position...]
    }

    /// An edited text for a check, with words of the same length in the places of the marks, so that columns stay and the result
    /// contains no password. A mark alone would be an alias of YAML.
    package func neutral(_ edited: [UInt8]) -> [UInt8] {
        var text = edited
        for mark in Self.marks(in: edited) where originals[mark.name].map({ $0 != Array(edited[mark.range]) }) ?? false
        {
            for index in mark.range.prefix(Self.asterisks.count) { text[index] = UInt8(ascii: "x") }
        }
        return text
    }

    // MARK: Marks

    private struct Mark {
        var name: Name
        var range: Range<Int>
        /// As in `Unknown`.
        var line, column: Int
    }

    /// The runs of exactly three asterisks, with the numbers behind them.
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
            var end = text[offset...].firstIndex { $0 != UInt8(ascii: "*") } ?? text.count
            if end - offset == asterisks.count {
                let digits = text[end...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                var number = 1
                if (1...maximumDigits).contains(digits.count),
                    let written = Int(String(decoding: digits, as: UTF8.self))
                {
                    number = written
                    end = digits.endIndex
                }
                let name = Name(words: words(text[lineStart..<offset]), number: number)
                marks.append(Mark(name: name, range: offset..<end, line: line, column: offset - lineStart + 1))
            }
            offset = end
        }
        return marks
    }

    private static func words(_ beginning: ArraySlice<UInt8>) -> [UInt8] {
        Array(beginning.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "-") })
    }
}
