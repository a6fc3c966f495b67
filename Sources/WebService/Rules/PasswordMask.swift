import RuleLoader

/// A text whose passwords are replaced by marks, and what stands in their places.
///
/// `PasswordPlaces` finds the passwords. The mark of a password is `***` and eight hexadecimal digits that depend on the password
/// and on a secret key. So a password has the same mark in each version of a file, and wherever its line moves.
package struct PasswordMask: Hashable, Sendable {
    /// A mark in an edited text that stands for no password, or that would show one.
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
    /// What looks like a mark and stands in the file.
    private var literals: Set<[UInt8]> = []

    /// - Parameter key: octets that only this program knows.
    package init(_ text: [UInt8], key: [UInt8]) {
        var places: Set<Int> = []
        var position = 0
        for place in PasswordPlaces.find(in: text) {
            masked += text[position..<place.lowerBound]
            position = place.upperBound
            let password = Array(text[place])
            var mark = Self.mark(of: password, key: key)
            // Of two passwords with the same digits, the second has none, and cannot be saved.
            if originals[mark, default: password] == password {
                originals[mark] = password
            } else {
                mark = Self.asterisks
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
        let digest = WebCrypto.hmac(password, key: key) ?? []
        return asterisks + Array(Array(digest.prefix(digitCount / 2)).hexText.utf8)
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
                // A password whose mark has lost or got an asterisk would be gone.
                let digits = Self.asterisks + written.suffix(Self.digitCount)
                guard originals[digits] == nil else { throw Unknown(line: mark.line, column: mark.column) }
                text += written
            } else if let original = originals[written] {
                inserted.append((text.count..<text.count + original.count, mark))
                text += original
            } else if mark.isInComment || literals.contains(written) {
                text += written
            } else {
                throw Unknown(line: mark.line, column: mark.column)
            }
        }
        text += edited[position...]
        // A password that would not be found again would be shown from now on.
        var places = PasswordPlaces.find(in: text)[...]
        for (range, mark) in inserted {
            while let place = places.first, place.upperBound < range.upperBound { places.removeFirst() }
            guard let place = places.first, place.lowerBound <= range.lowerBound else {
                throw Unknown(line: mark.line, column: mark.column)
            }
        }
        return text
    }

    /// An edited text for a check, with words of the same length in the places of the marks, so that columns stay and the result
    /// contains no password. A mark alone would be an alias of YAML.
    package func neutral(_ edited: [UInt8]) -> [UInt8] {
        var text = edited
        for mark in Self.marks(in: edited) where !mark.isDamaged && originals[Array(edited[mark.range])] != nil {
            for index in mark.range.prefix(Self.asterisks.count) { text[index] = UInt8(ascii: "x") }
        }
        return text
    }

    // MARK: Marks

    private struct Mark {
        /// With its digits.
        var range: Range<Int>
        /// As in `Unknown`.
        var line, column: Int
        var isInComment: Bool
        /// There are more or fewer than three asterisks before eight digits.
        var isDamaged: Bool
    }

    /// The runs of exactly three asterisks, with the eight digits behind them, if there are eight; and other runs before eight digits.
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
