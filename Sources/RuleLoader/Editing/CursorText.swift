import Diagnostics

/// The lines of a file that decide what may be written at a position: the parents of the line by indentation, the other
/// keys of the same mapping, and the line itself up to the position, with a mark in place of what is written there.
///
/// The rest of the file is left out, so that a line can be completed while it or other lines are not valid YAML, and so that
/// a large file takes no longer to parse than a small one.
struct CursorText {
    /// Marks the position. It consists of characters of names, so that YAML reads it as a key or as a plain text.
    static let mark = "cursor0mark0here"
    /// How many lines after the position are searched for keys of the same mapping.
    private static let maximumFollowing = 2_000

    /// The name or word before the position.
    let prefix: String
    /// The octets of the line before the position.
    let head: ArraySlice<UInt8>
    /// True if nothing but indentation and `- ` stands before `prefix`.
    let isAtLineStart: Bool
    private let before: [ArraySlice<UInt8>]
    private let after: [ArraySlice<UInt8>]
    private let start: ArraySlice<UInt8>

    /// - Parameters:
    ///   - octets: UTF-8, in which CR or LF or both end a line.
    ///   - lineStart: the offset of the line.
    ///   - offset: the offset of the position, which is in this line.
    init(_ octets: [UInt8], lineStart: Int, offset: Int) {
        head = octets[lineStart..<offset]
        let wordStart = (head.lastIndex { !$0.isWordPart }).map { $0 + 1 } ?? lineStart
        prefix = String(decoding: octets[wordStart..<offset], as: UTF8.self)
        start = octets[lineStart..<wordStart]
        let margin = start.margin
        isAtLineStart = margin.rest.isEmpty
        let own = start.key
        // The key of the line itself is left out of the other lines, because one of two equal keys would hide the value of the
        // other.
        before = CursorText.linesBefore(lineStart, margin, octets).filter { own == nil || $0.key != own }
        after = isAtLineStart ? CursorText.linesAfter(offset, margin.contentColumn, octets) : []
    }

    /// The text with the mark as a value, or as a key.
    func octets(markedAsKey isKey: Bool) -> [UInt8] {
        var text: [UInt8] = []
        for line in before {
            text += line
            text.append(UInt8(ascii: "\n"))
        }
        text += start
        text += CursorText.mark.utf8
        if isKey { text += ":".utf8 }
        text += CursorText.closers(of: text)
        text.append(UInt8(ascii: "\n"))
        for line in after {
            text += line
            text.append(UInt8(ascii: "\n"))
        }
        return text
    }

    // MARK: Lines

    /// The parents of a line, and the keys before it in the same mapping.
    private static func linesBefore(
        _ lineStart: Int, _ margin: LineMargin, _ octets: [UInt8]
    ) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        // The indentation of the innermost parent that is found so far.
        var limit = margin.indentation
        var isInList = margin.hasDash
        var isInSameMapping = !margin.hasDash
        var end = lineStart
        while end > 0, limit > 0 || isInList || isInSameMapping {
            let line = octets.line(endingAt: &end)
            let margin = line.margin
            guard !margin.isBlank, margin.indentation <= limit else { continue }
            if margin.indentation < limit {
                lines.append(line)
                limit = margin.indentation
                isInList = margin.hasDash
                isInSameMapping = false
            } else if isInList {
                // A list may have the same indentation as its key.
                guard !margin.hasDash else { continue }
                lines.append(line)
                isInList = false
            } else if isInSameMapping, !margin.hasDash, let key = line.keyLine {
                lines.append(key)
            }
        }
        return lines.reversed()
    }

    /// The keys after a line in the same mapping.
    private static func linesAfter(_ offset: Int, _ column: Int, _ octets: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var rest = octets[offset...].afterLine
        for _ in 0..<maximumFollowing {
            guard let text = rest, !text.isEmpty else { break }
            let line = text.firstLine
            rest = text.afterLine
            let margin = line.margin
            guard !margin.isBlank else { continue }
            guard margin.indentation >= column else { break }
            if margin.indentation == column, !margin.hasDash, let key = line.keyLine { lines.append(key) }
        }
        return lines
    }

    /// The quotes and brackets that are open at the end of a text, in the order in which they have to be closed.
    private static func closers(of text: [UInt8]) -> [UInt8] {
        var open: [UInt8] = []
        var quote: UInt8?
        // The last octet that is not a space: quotes and brackets mean something only where a value may begin.
        var previous = UInt8(ascii: "\n")
        var isAfterSpace = true
        var index = 0
        while index < text.count {
            let octet = text[index]
            index += 1
            if let closing = quote {
                if octet == UInt8(ascii: "\\"), closing == UInt8(ascii: "\"") {
                    index += 1
                } else if octet == closing {
                    quote = nil
                    previous = octet
                }
                continue
            }
            let mayBegin = previous.beginsValue || !open.isEmpty && previous == UInt8(ascii: ",")
            switch octet {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): if mayBegin { quote = octet }
            case UInt8(ascii: "["): if mayBegin { open.append(UInt8(ascii: "]")) }
            case UInt8(ascii: "{"): if mayBegin { open.append(UInt8(ascii: "}")) }
            case UInt8(ascii: "]"), UInt8(ascii: "}"): if open.last == octet { open.removeLast() }
            case UInt8(ascii: "#"):
                if isAfterSpace {
                    while index < text.count, text[index] != UInt8(ascii: "\n") { index += 1 }
                }
            default: break
            }
            isAfterSpace = octet == UInt8(ascii: " ") || octet == UInt8(ascii: "\n")
            if octet != UInt8(ascii: " ") { previous = octet }
        }
        return (quote.map { [$0] } ?? []) + open.reversed()
    }
}

/// The beginning of a line: its indentation and the `- ` of lists.
private struct LineMargin {
    var indentation: Int
    var hasDash: Bool
    /// The column of the text after the indentation and all `- `, from 0.
    var contentColumn: Int
    var rest: ArraySlice<UInt8>

    /// True for an empty line and for a comment.
    var isBlank: Bool { !hasDash && (rest.isEmpty || rest.first == UInt8(ascii: "#")) }
}

extension UInt8 {
    /// True for the octets of names, which are replaced when a completion is accepted.
    fileprivate var isWordPart: Bool {
        (0x61...0x7A).contains(self) || (0x41...0x5A).contains(self) || (0x30...0x39).contains(self)
            || self == UInt8(ascii: "_")
    }

    /// True for an octet after which a quoted text or a bracket may begin.
    fileprivate var beginsValue: Bool {
        self == UInt8(ascii: "\n") || self == UInt8(ascii: ":") || self == UInt8(ascii: "-")
            || self == UInt8(ascii: "[") || self == UInt8(ascii: "{") || self == UInt8(ascii: "?")
    }

    private static let dash = UInt8(ascii: "-")
}

extension ArraySlice<UInt8> {
    /// The octets after the first line end; `nil` if there is none.
    fileprivate var afterLine: ArraySlice<UInt8>? { afterFirstLine }

    fileprivate var margin: LineMargin {
        var rest = self.drop { $0 == 0x20 }
        let indentation = rest.startIndex - startIndex
        var hasDash = false
        while rest.first == UInt8(ascii: "-") {
            let next = rest.dropFirst()
            guard next.isEmpty || next.first == 0x20 else { break }
            hasDash = true
            rest = next.drop { $0 == 0x20 }
        }
        return LineMargin(
            indentation: indentation, hasDash: hasDash, contentColumn: rest.startIndex - startIndex, rest: rest)
    }

    /// The key with which the line begins, if it begins with one and no dash.
    fileprivate var key: ArraySlice<UInt8>? {
        guard !margin.hasDash, let line = keyLine else { return nil }
        return line.prefix { $0 != UInt8(ascii: ":") }
    }

    /// The line as a key with a value that fits into the line: its own value if that is a single word, else none. Returns
    /// `nil` if the line does not begin with a simple key.
    fileprivate var keyLine: ArraySlice<UInt8>? {
        let key = margin.rest.prefix { $0.isWordPart }
        let colon = self[key.endIndex...]
        guard !key.isEmpty, colon.first == UInt8(ascii: ":") else { return nil }
        let value = colon.dropFirst()
        guard value.isEmpty || value.first == 0x20 else { return nil }
        let isWord = value.allSatisfy { $0 == 0x20 || $0.isWordPart }
        return isWord ? self : self[...key.endIndex]
    }
}

extension [UInt8] {
    /// The line that ends before an offset, which becomes the offset of that line.
    fileprivate func line(endingAt end: inout Int) -> ArraySlice<UInt8> {
        var last = end
        if last > 0, self[last - 1] == 0x0A { last -= 1 }
        if last > 0, self[last - 1] == 0x0D, last == end || end - last == 1 { last -= 1 }
        var first = last
        while first > 0, self[first - 1] != 0x0A, self[first - 1] != 0x0D { first -= 1 }
        end = first
        return self[first..<last]
    }
}
