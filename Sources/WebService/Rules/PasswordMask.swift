import Bytes
import Cryptography
import RuleLoader

/// A text whose passwords are replaced by marks, and the passwords for which the marks stand.
///
/// `PasswordPlaces` finds the passwords. The mark of a password is `***` and eight hexadecimal digits that depend on the
/// password and on a secret key. A password therefore has the same mark in each version of a file, and wherever its line
/// moves.
package struct PasswordMask: Hashable, Sendable {
    /// The mark in an edited text for which no password is known, or in whose place the password would not be hidden when the
    /// file is shown again.
    package struct Unknown: Error, Hashable, Sendable {
        /// From 1.
        package var line: Int
        /// From 1, in octets.
        package var column: Int
    }

    private static let asterisks: [UInt8] = Array("***".utf8)
    private static let digitCount = 8

    package private(set) var masked: [UInt8] = []
    /// The passwords, by their marks.
    private var originals: [[UInt8]: [UInt8]] = [:]
    /// The texts in the file itself that look like marks. They stay as they are.
    private var literals: Set<[UInt8]> = []
    /// True if there is a mark without digits, which stands for a password that cannot be put back.
    private var hasAmbiguousMarks = false

    /// - Parameter key: octets that only this program knows.
    package init(_ text: [UInt8], key: [UInt8]) {
        var places: Set<Int> = []
        var position = 0
        for place in PasswordPlaces.find(in: text) {
            masked += text[position..<place.lowerBound]
            position = place.upperBound
            let password = Array(text[place])
            var mark = Self.mark(of: password, key: key)
            // If another password has the same digits, this one is shown without digits, because the mark would stand for
            // the other password. `restored` then refuses the text until the user writes this password again.
            if originals[mark, default: password] == password {
                originals[mark] = password
            } else {
                mark = Self.asterisks
                hasAmbiguousMarks = true
            }
            places.insert(masked.count)
            masked += mark
        }
        masked += text[position...]
        for mark in Self.marks(in: masked) where !mark.isDamaged && !places.contains(mark.range.lowerBound) {
            literals.insert(Array(masked[mark.range]))
        }
    }

    private static func mark(of password: [UInt8], key: [UInt8]) -> [UInt8] {
        let digest = Digest.hmacSHA256(password, key: key) ?? []
        return asterisks + Array(Array(digest.prefix(digitCount / 2)).hex.utf8)
    }

    /// An edited text with the passwords in their places.
    package func restored(_ edited: [UInt8]) throws(Unknown) -> [UInt8] {
        var text: [UInt8] = []
        var inserted: [(range: Range<Int>, mark: Mark)] = []
        var position = 0
        for mark in Self.marks(in: edited) {
            text += edited[position..<mark.range.lowerBound]
            position = mark.range.upperBound
            let written = Array(edited[mark.range])
            if mark.isDamaged {
                // Digits of a password with too few or too many asterisks are an editing mistake. Saving the text would
                // lose the password.
                let digits = Self.asterisks + written.suffix(Self.digitCount)
                guard originals[digits] == nil else { throw Unknown(line: mark.line, column: mark.column) }
                text += written
            } else if let original = originals[written] {
                inserted.append((text.count..<text.count + original.count, mark))
                text += original
            } else if mark.isInComment && !hasAmbiguousMarks || literals.contains(written) {
                text += written
            } else {
                throw Unknown(line: mark.line, column: mark.column)
            }
        }
        text += edited[position...]
        // If `PasswordPlaces` does not find an inserted password, the page would show it from now on.
        var places = PasswordPlaces.find(in: text)[...]
        for (range, mark) in inserted {
            while let place = places.first, place.upperBound < range.upperBound { places.removeFirst() }
            guard let place = places.first, place.lowerBound <= range.lowerBound else {
                throw Unknown(line: mark.line, column: mark.column)
            }
        }
        return text
    }

    /// An edited text for a check, with `xxx` in place of the asterisks of each mark, because YAML would read `***` as an
    /// alias. The text contains no password, and its columns are those of the edited text.
    package func neutral(_ edited: [UInt8]) -> [UInt8] {
        var text = edited
        for mark in Self.marks(in: edited) where !mark.isDamaged && originals[Array(edited[mark.range])] != nil {
            for index in mark.range.prefix(Self.asterisks.count) { text[index] = UInt8(ascii: "x") }
        }
        return text
    }

    // MARK: Marks

    private struct Mark {
        /// The range of the asterisks and of the digits, if there are digits.
        var range: Range<Int>
        /// The place of the first asterisk, as in `Unknown`.
        var line, column: Int
        /// True if the line is a comment, which cannot use a password.
        var isInComment: Bool
        /// True if there are digits, but not exactly three asterisks before them.
        var isDamaged: Bool
    }

    /// The marks in a text: each run of three asterisks, with the eight digits that may follow it, and each run of other
    /// length that eight digits follow.
    private static func marks(in text: [UInt8]) -> [Mark] {
        var marks: [Mark] = []
        var line = 1
        var lineStart = 0
        var firstWord: UInt8?
        var offset = 0
        while offset < text.count {
            let octet = text[offset]
            if octet == UInt8(ascii: "\n") {
                line += 1
                lineStart = offset + 1
                firstWord = nil
            } else if firstWord == nil, octet != UInt8(ascii: " "), octet != UInt8(ascii: "\t"),
                octet != UInt8(ascii: "-")
            {
                firstWord = octet
            }
            guard octet == UInt8(ascii: "*") else {
                offset += 1
                continue
            }
            var end = text[offset...].firstIndex { $0 != UInt8(ascii: "*") } ?? text.count
            let digits = text[end...].prefix(digitCount)
            let hasDigits = digits.count == digitCount && digits.allSatisfy(isDigit)
            let isDamaged = end - offset != asterisks.count
            if hasDigits || !isDamaged {
                if hasDigits { end = digits.endIndex }
                marks.append(
                    Mark(
                        range: offset..<end, line: line, column: offset - lineStart + 1,
                        isInComment: firstWord == UInt8(ascii: "#"), isDamaged: isDamaged))
            }
            offset = end
        }
        return marks
    }

    private static func isDigit(_ octet: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(octet)
    }
}
