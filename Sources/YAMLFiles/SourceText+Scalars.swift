package import Diagnostics

extension SourceText {
    /// The positions in the file of a range of a scalar's text. They are exact for plain, quoted and block scalars; if
    /// they cannot be found, the positions of the whole scalar are returned.
    ///
    /// The scalar's text and the file differ by quotes and escapes, which `ScalarWalk` takes into account, and by
    /// folding and indentation, which add and remove only blanks. So the octets that are not blanks are counted in
    /// both.
    ///
    /// - Parameter range: octets of the scalar's text. An empty range gives one column.
    package func positions(of range: Range<Int>, in node: YAMLNode) -> (start: SourcePosition, end: SourcePosition) {
        guard case .scalar(let text, let style) = node.content else { return (node.start, node.end) }
        let octets = Array(text.utf8)
        let range = range.clamped(to: octets.startIndex..<octets.endIndex)
        func nonBlankCount(before offset: Int) -> Int { octets[..<offset].count { !$0.isBlank } }
        let before = nonBlankCount(before: range.lowerBound)
        let within = nonBlankCount(before: range.upperBound)
        var walk = ScalarWalk(source: self, node: node, style: style)
        let nonBlanks = walk.positions(upTo: max(within, before + 1))

        let isOnNonBlank = range.lowerBound < octets.count && !octets[range.lowerBound].isBlank
        let start: SourcePosition
        if isOnNonBlank, nonBlanks.indices.contains(before) {
            start = nonBlanks[before].start
        } else if nonBlanks.indices.contains(before - 1) {
            start = nonBlanks[before - 1].end
        } else {
            return (node.start, node.end)
        }
        guard nonBlanks.indices.contains(within - 1), nonBlanks[within - 1].end > start else {
            return (start, start.advanced(by: 1))
        }
        return (start, nonBlanks[within - 1].end)
    }
}

/// Walks through a scalar in the file and records the position of each octet of its text that is not a blank.
private struct ScalarWalk {
    let source: SourceText
    let node: YAMLNode
    let style: YAMLNode.ScalarStyle
    private var nonBlanks: [OctetPosition] = []
    private var wanted = 0

    /// The position of one octet of the text. The octets of one character or one escape share a position.
    struct OctetPosition {
        var start, end: SourcePosition

        init(from start: SourcePosition, columns: Int = 1) {
            self.start = start
            end = start.advanced(by: columns)
        }
    }

    init(source: SourceText, node: YAMLNode, style: YAMLNode.ScalarStyle) {
        self.source = source
        self.node = node
        self.style = style
    }

    mutating func positions(upTo count: Int) -> [OctetPosition] {
        wanted = count
        var position = node.start
        var rest = line(from: position)
        // An anchor may come before the text. A tag does not: the text of a node with a tag is not compiled.
        if rest.first == UInt8(ascii: "&") {
            skip(rest.prefix { !$0.isBlank }.count, &rest, &position)
            skip(rest.prefix(while: \.isBlank).count, &rest, &position)
        }
        switch (style, rest.first) {
        case (.block, _): plain([], position)
        case (.quoted, UInt8(ascii: "\"")?): doubleQuoted(rest.dropFirst(), position.advanced(by: 1))
        case (.quoted, UInt8(ascii: "'")?): singleQuoted(rest.dropFirst(), position.advanced(by: 1))
        case (.plain, _), (.quoted, _): plain(rest, position)
        }
        return nonBlanks
    }

    private func line(from position: SourcePosition) -> ArraySlice<UInt8> {
        var column = 1
        return source.line(position.line).drop { octet in
            if !octet.isContinuation { column += 1 }
            return column <= position.column
        }
    }

    private func skip(_ count: Int, _ rest: inout ArraySlice<UInt8>, _ position: inout SourcePosition) {
        for _ in 0..<count {
            guard let octet = rest.popFirst() else { return }
            if !octet.isContinuation { position.column += 1 }
        }
    }

    private mutating func note(_ octet: UInt8, _ position: inout SourcePosition) {
        if octet.isContinuation {
            nonBlanks.append(OctetPosition(from: position.advanced(by: -1)))
        } else {
            if !octet.isBlank { nonBlanks.append(OctetPosition(from: position)) }
            position.column += 1
        }
    }

    /// Moves on to the next line of the scalar that is not empty. Returns false at the end, and when enough octets are
    /// found.
    private func nextLine(_ rest: inout ArraySlice<UInt8>, _ position: inout SourcePosition) -> Bool {
        while rest.isEmpty {
            guard position.line < min(node.end.line, source.lineCount), nonBlanks.count < wanted else { return false }
            position = SourcePosition(line: position.line + 1, column: 1)
            rest = source.line(position.line)
        }
        return nonBlanks.count < wanted
    }

    private mutating func plain(_ rest: ArraySlice<UInt8>, _ position: SourcePosition) {
        var rest = rest
        var position = position
        while nextLine(&rest, &position), let octet = rest.popFirst() { note(octet, &position) }
    }

    private mutating func singleQuoted(_ rest: ArraySlice<UInt8>, _ position: SourcePosition) {
        var rest = rest
        var position = position
        while nextLine(&rest, &position), let octet = rest.popFirst() {
            let isQuote = octet == UInt8(ascii: "'")
            if isQuote, rest.first != octet { return }
            note(octet, &position)
            guard isQuote else { continue }
            skip(1, &rest, &position)
            nonBlanks[nonBlanks.count - 1].end = position
        }
    }

    private mutating func doubleQuoted(_ rest: ArraySlice<UInt8>, _ position: SourcePosition) {
        var rest = rest
        var position = position
        while nextLine(&rest, &position), let octet = rest.popFirst() {
            switch octet {
            case UInt8(ascii: "\""): return
            case UInt8(ascii: "\\"):
                let start = position
                position.column += 1
                guard let letter = rest.first else { continue }
                skip(1, &rest, &position)
                let digits = rest.prefix(ScalarWalk.digitCount(after: letter))
                skip(digits.count, &rest, &position)
                for _ in 0..<ScalarWalk.octetCount(of: letter, digits) {
                    nonBlanks.append(OctetPosition(from: start, columns: position.column - start.column))
                }
            default: note(octet, &position)
            }
        }
    }

    private static func digitCount(after letter: UInt8) -> Int {
        switch letter {
        case UInt8(ascii: "x"): 2
        case UInt8(ascii: "u"): 4
        case UInt8(ascii: "U"): 8
        default: 0
        }
    }

    /// The number of octets, without blanks, that an escape stands for.
    private static func octetCount(of letter: UInt8, _ digits: ArraySlice<UInt8>) -> Int {
        switch letter {
        case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"), 0x09, 0x20: return 0
        case UInt8(ascii: "N"), UInt8(ascii: "_"): return 2
        case UInt8(ascii: "L"), UInt8(ascii: "P"): return 3
        default: break
        }
        guard !digits.isEmpty else { return 1 }
        guard let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16),
            let scalar = UnicodeScalar(value)
        else { return 1 }
        let octets = String(scalar).utf8
        return octets.first?.isBlank == true ? 0 : octets.count
    }
}

extension UInt8 {
    /// True for a space, a tab, LF and CR.
    fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
    fileprivate var isContinuation: Bool { self & 0xC0 == 0x80 }
}
