/// Finds passwords that are written in clear in a rules file.
///
/// They are found by their text, because comments, scripts, and files that are not YAML have passwords, too: what follows a word
/// such as `password` or `token` and a colon or an equals sign, the user and password of an address, what follows `Bearer`, and
/// what follows the options `-u` of curl and `-P` of mosquitto_pub.
/// `!secret`, `!env_var` and templates reveal nothing. It is better to hide a harmless word than to show a password.
package struct PasswordPlaces {
    private static let words = [
        "passw", "pasw", "passp", "pwd", "secret", "token", "apikey", "api_key", "api-key", "access_key", "private_key",
        "authorization", "credential", "cookie", "psk", "application-key", "?key", "&key", "?auth", "&auth", "-auth",
    ].map { Array($0.utf8) }
    /// Words that are part of harmless words, such as `author` and `passage`.
    private static let wholeWords = ["auth", "pass"].map { Array($0.utf8) }
    private static let schemes = ["bearer ", "basic "].map { Array($0.utf8) }
    private static let harmless: Set<[UInt8]> = Set(
        ["true", "false", "null", "~", "yes", "no"].map { Array($0.utf8) })
    /// The shortest text after `Bearer` that is a token, and not a word of a sentence.
    private static let minimumTokenLength = 6

    private let text: [UInt8]
    private var places: [Range<Int>] = []
    /// The indentation of a key whose value is in the lines below it.
    private var block: (indentation: Int, isScalar: Bool)?
    /// The end of the last address in which no `@` was found, and of the last word without a value after it. Another search
    /// that begins before this end is skipped, because its result is known, and repeated searches would take time in
    /// proportion to the square of the length of a line.
    private var addressEnd = 0
    private var wordEnd = 0

    /// The places as ranges of octets, in the order of the text. None is empty.
    package static func find(in text: [UInt8]) -> [Range<Int>] {
        var search = PasswordPlaces(text)
        var start = 0
        while start < text.count {
            let end = text[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? text.count
            search.visit(start..<end)
            start = end + 1
        }
        return search.places
    }

    private init(_ text: [UInt8]) { self.text = text }

    // MARK: Lines

    private mutating func visit(_ line: Range<Int>) {
        guard let content = text[line].firstIndex(where: { $0 != 0x20 && $0 != 0x09 }) else { return }
        let indentation = content - line.lowerBound
        if let block {
            if indentation > block.indentation {
                let start = text[content...].starts(with: "- ".utf8) && !block.isScalar ? content + 2 : content
                if block.isScalar || !isMapping(start..<line.upperBound) {
                    addPlain(start..<line.upperBound)
                    return
                }
            }
            self.block = nil
        }
        scan(content..<line.upperBound, indentation)
    }

    /// True if a line has a key of its own.
    private func isMapping(_ range: Range<Int>) -> Bool {
        range.contains { index in
            text[index] == UInt8(ascii: ":") && (index + 1 == range.upperBound || text[index + 1] == 0x20)
        }
    }

    private mutating func scan(_ range: Range<Int>, _ indentation: Int) {
        var index = range.lowerBound
        while index < range.upperBound {
            if matches("://".utf8, at: index, range) {
                index = visitAddress(index + 3, range)
            } else if let scheme = Self.schemes.first(where: { matches($0, at: index, range) }) {
                index = visitToken(index + scheme.count, range)
            } else if let word = Self.words.first(where: { matches($0, at: index, range) }) {
                index = visitWord(index, index + word.count, range, indentation)
            } else if let word = Self.wholeWords.first(where: { isWhole($0, at: index, range) }) {
                index = visitWord(index, index + word.count, range, indentation)
            } else if let value = shortOptionValue(at: index, range) {
                add(value)
                index = value.upperBound
            } else {
                index += 1
            }
        }
    }

    /// Compares without regard to case. `wanted` is in lower case.
    private func matches(_ wanted: some Collection<UInt8>, at index: Int, _ range: Range<Int>) -> Bool {
        guard index + wanted.count <= range.upperBound else { return false }
        return zip(text[index...], wanted).allSatisfy { octet, wanted in
            octet == wanted || (0x41...0x5A).contains(octet) && octet + 0x20 == wanted
        }
    }

    /// True if a word, and not a part of a longer one, is at the offset.
    private func isWhole(_ word: [UInt8], at index: Int, _ range: Range<Int>) -> Bool {
        guard matches(word, at: index, range), index == range.lowerBound || !Self.isWord(text[index - 1]) else {
            return false
        }
        let end = index + word.count
        return end == range.upperBound || !Self.isWord(text[end]) && text[end] != UInt8(ascii: "-")
    }

    /// The value of `-u`, if it has a colon, or of `-P`: the next word, which may be the next entry of a list.
    private func shortOptionValue(at index: Int, _ range: Range<Int>) -> Range<Int>? {
        guard text[index] == UInt8(ascii: "-"), index + 2 < range.upperBound,
            index == range.lowerBound || " ,\"'[".utf8.contains(text[index - 1]),
            text[index + 1] == UInt8(ascii: "u") || text[index + 1] == UInt8(ascii: "P"),
            " ,\"'".utf8.contains(text[index + 2]),
            let first = text[(index + 2)..<range.upperBound].firstIndex(where: { !" ,\"'".utf8.contains($0) })
        else { return nil }
        let end = text[first..<range.upperBound].firstIndex { " ,\"']".utf8.contains($0) } ?? range.upperBound
        let value = text[first..<end]
        let isReference =
            value.first == UInt8(ascii: "!") || value.contains(UInt8(ascii: "{")) || isVariable(first..<end)
        let isPassword = text[index + 1] == UInt8(ascii: "P") || value.contains(UInt8(ascii: ":"))
        return !isReference && isPassword ? first..<end : nil
    }

    // MARK: What may be a password

    /// The user and password of an address.
    private mutating func visitAddress(_ start: Int, _ range: Range<Int>) -> Int {
        guard start >= addressEnd else { return start }
        let end =
            text[start..<range.upperBound].firstIndex { $0 <= 0x20 || "/?#\"'".utf8.contains($0) } ?? range.upperBound
        guard let at = text[start..<end].lastIndex(of: UInt8(ascii: "@")) else {
            addressEnd = end
            return start
        }
        add(start..<at)
        return at
    }

    private mutating func visitToken(_ start: Int, _ range: Range<Int>) -> Int {
        let end = text[start..<range.upperBound].firstIndex { !Self.isToken($0) } ?? range.upperBound
        if end - start >= Self.minimumTokenLength { add(start..<end) }
        return max(end, start)
    }

    private static func isToken(_ octet: UInt8) -> Bool {
        isWord(octet) || "-._~+/=".utf8.contains(octet)
    }

    private static func isWord(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"): true
        default: false
        }
    }

    /// - Returns: where to go on.
    private mutating func visitWord(_ start: Int, _ wordEnd: Int, _ range: Range<Int>, _ indentation: Int) -> Int {
        // The tag !secret.
        if start > 0, text[start - 1] == UInt8(ascii: "!") { return wordEnd }
        guard wordEnd >= self.wordEnd else { return wordEnd }
        var index = wordEnd
        while index < range.upperBound, Self.isWord(text[index]) || text[index] == UInt8(ascii: "-") { index += 1 }
        while index < range.upperBound, "\\\"'".utf8.contains(text[index]) { index += 1 }
        if let end = visitOption(start, index, range) { return end }
        while index < range.upperBound, text[index] == 0x20 || text[index] == 0x09 { index += 1 }
        guard index < range.upperBound, text[index] == UInt8(ascii: ":") || text[index] == UInt8(ascii: "=") else {
            self.wordEnd = index
            return wordEnd
        }
        let isKey = text[index] == UInt8(ascii: ":")
        index += 1
        // A comparison.
        if !isKey, index < range.upperBound, text[index] == UInt8(ascii: "=") { return index }
        let separated = index
        while index < range.upperBound, text[index] == 0x20 || text[index] == 0x09 { index += 1 }
        guard index < range.upperBound else {
            if isKey { block = (indentation, false) }
            return index
        }
        return visitValue(
            index..<range.upperBound, isPlain: isKey && index > separated, start: range.lowerBound, indentation)
    }

    /// Visits the value of an option such as `--password`: the next word, which may be the next entry of a list.
    ///
    /// - Parameter wordEnd: the end of the option with its quotation mark.
    /// - Returns: the offset at which the search continues; `nil` if the word is not an option, or its value follows an
    ///   equals sign.
    private mutating func visitOption(_ start: Int, _ wordEnd: Int, _ range: Range<Int>) -> Int? {
        guard start >= range.lowerBound + 2, text[start - 1] == UInt8(ascii: "-"), text[start - 2] == UInt8(ascii: "-"),
            wordEnd < range.upperBound, " ,".utf8.contains(text[wordEnd]),
            let first = text[wordEnd..<range.upperBound].firstIndex(where: { !" ,\"'".utf8.contains($0) })
        else { return nil }
        let end = text[first..<range.upperBound].firstIndex { " ,\"']".utf8.contains($0) } ?? range.upperBound
        let isReference = "!{".utf8.contains(text[first]) || text[first] == UInt8(ascii: "$") && isVariable(first..<end)
        if !isReference { add(first..<end) }
        return end
    }

    /// True for a variable of a shell, such as `$TOKEN`, `${token}` or `$(cat token)`.
    private func isVariable(_ range: Range<Int>) -> Bool {
        guard range.count > 1, text[range.lowerBound] == UInt8(ascii: "$") else { return false }
        let next = text[range.lowerBound + 1]
        return (0x41...0x5A).contains(next) || "_{(".utf8.contains(next)
    }

    private mutating func visitValue(_ range: Range<Int>, isPlain: Bool, start: Int, _ indentation: Int) -> Int {
        let first = text[range.lowerBound]
        if first == UInt8(ascii: "&"), let end = text[range.dropFirst()].firstIndex(where: { !Self.isWord($0) }),
            let value = text[end..<range.upperBound].firstIndex(where: { $0 != 0x20 })
        {
            // The anchor before the value is not hidden, so that its aliases stay valid.
            return visitValue(value..<range.upperBound, isPlain: isPlain, start: start, indentation)
        }
        if matches("!secret".utf8, at: range.lowerBound, range) || matches("!env_var".utf8, at: range.lowerBound, range)
            || matches("{{".utf8, at: range.lowerBound, range) || first == UInt8(ascii: "$") && isVariable(range)
        {
            return range.lowerBound + 1
        }
        switch first {
        case UInt8(ascii: "|") where isPlain, UInt8(ascii: ">") where isPlain:
            block = (indentation, true)
            return range.upperBound
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            return visitQuoted(range, first, indentation)
        case UInt8(ascii: "\\"):
            // A quote in a quoted text.
            let end = text[(range.lowerBound + 1)..<range.upperBound].firstIndex(of: UInt8(ascii: "\\"))
            if range.lowerBound + 2 <= end ?? range.upperBound { add(range.lowerBound + 2..<(end ?? range.upperBound)) }
            return end ?? range.upperBound
        case UInt8(ascii: "{"): return range.lowerBound + 1
        case UInt8(ascii: "["):
            let end = text[range].firstIndex(of: UInt8(ascii: "]")) ?? range.upperBound
            add(range.lowerBound + 1..<end)
            return end
        case UInt8(ascii: "*") where range.count > 1 && Self.isWord(text[range.lowerBound + 1]):
            // An alias is not a password. The rest of the line may contain one.
            return text[range.dropFirst()].firstIndex { !Self.isWord($0) } ?? range.upperBound
        default: break
        }
        guard isPlain else {
            let end = text[range].firstIndex { $0 <= 0x20 || "\"'&,;)}]".utf8.contains($0) } ?? range.upperBound
            add(range.lowerBound..<end)
            return end
        }
        let isFlow = text[start..<range.lowerBound].contains { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") }
        let end = isFlow ? text[range].firstIndex { ",}]".utf8.contains($0) } ?? range.upperBound : range.upperBound
        addPlain(range.lowerBound..<end)
        // The value may go on in the lines below.
        if !isFlow { block = (indentation, false) }
        return end
    }

    private mutating func visitQuoted(_ range: Range<Int>, _ quote: UInt8, _ indentation: Int) -> Int {
        var end = range.lowerBound + 1
        while end < range.upperBound {
            if text[end] == quote {
                // Inside single quotes, two of them stand for one.
                guard quote == UInt8(ascii: "'"), end + 1 < range.upperBound, text[end + 1] == quote else { break }
                end += 2
            } else {
                end += text[end] == UInt8(ascii: "\\") && quote == UInt8(ascii: "\"") ? 2 : 1
            }
        }
        guard end < range.upperBound else {
            add(range.lowerBound + 1..<range.upperBound)
            block = (indentation, true)
            return range.upperBound
        }
        let inside = range.lowerBound + 1..<end
        let isTemplate = text[inside].starts(with: "{{".utf8) && text[inside].suffix(2).elementsEqual("}}".utf8)
        if !isTemplate { add(inside) }
        return end + 1
    }

    /// Adds a plain scalar without the comment and the spaces after it.
    private mutating func addPlain(_ range: Range<Int>) {
        var end = range.upperBound
        for index in range.dropFirst() where text[index] == UInt8(ascii: "#") && text[index - 1] == 0x20 {
            end = index
            break
        }
        while end > range.lowerBound, text[end - 1] == 0x20 || text[end - 1] == 0x09 { end -= 1 }
        let place = range.lowerBound..<end
        let isReference =
            matches("!secret".utf8, at: place.lowerBound, place)
            || matches("!env_var".utf8, at: place.lowerBound, place)
            || matches("{{".utf8, at: place.lowerBound, place)
        if !isReference, !Self.harmless.contains(Array(text[place])) { add(place) }
    }

    private mutating func add(_ range: Range<Int>) {
        // Asterisks beside the mark would make it longer.
        var end = range.upperBound
        while end < text.count, text[end] == UInt8(ascii: "*") { end += 1 }
        var start = range.lowerBound
        while start > places.last?.upperBound ?? 0, text[start - 1] == UInt8(ascii: "*") { start -= 1 }
        let last = places.last?.upperBound
        start = max(start, last ?? 0)
        guard start < end else { return }
        // Two marks side by side would be one of six asterisks.
        if let last, start == last {
            places[places.count - 1] = places[places.count - 1].lowerBound..<end
        } else {
            places.append(start..<end)
        }
    }
}
