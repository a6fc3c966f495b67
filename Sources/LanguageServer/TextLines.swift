import Diagnostics

/// The unit in which the characters of a line are counted. The raw value is the name in the protocol.
enum PositionEncoding: String, Hashable, Sendable {
    case utf8 = "utf-8"
    case utf16 = "utf-16"
}

/// The lines of a text, to convert between offsets, positions of the protocol and positions of diagnostics.
///
/// LF, CR and CRLF end a line, in the protocol as well as in the loader.
struct TextLines: Sendable {
    /// A position of the protocol: both numbers count from 0.
    struct Position: Hashable, Comparable, Sendable {
        var line, character: Int

        static func < (left: Position, right: Position) -> Bool {
            (left.line, left.character) < (right.line, right.character)
        }
    }

    let octets: [UInt8]
    private let starts: [Int]
    /// 1 if the text begins with a byte order mark, which columns of diagnostics do not count.
    private let markWidth: Int

    init(_ octets: [UInt8]) {
        self.octets = octets
        var starts = [0]
        octets.withUnsafeBufferPointer { octets in
            var index = 0
            while index < octets.count {
                let octet = octets[index]
                index += 1
                guard octet == 0x0A || octet == 0x0D else { continue }
                if octet == 0x0D, index < octets.count, octets[index] == 0x0A { index += 1 }
                starts.append(index)
            }
        }
        self.starts = starts
        markWidth = octets.starts(with: [0xEF, 0xBB, 0xBF]) ? 1 : 0
    }

    var count: Int { starts.count }

    /// The offset of the first octet of a line, or the end of the text after the last line.
    ///
    /// - Parameter line: from 0.
    func start(of line: Int) -> Int { starts.indices.contains(line) ? starts[line] : octets.count }

    /// The octets of a line without its end.
    func line(_ line: Int) -> ArraySlice<UInt8> {
        guard starts.indices.contains(line) else { return [] }
        return octets[starts[line]..<start(of: line + 1)].firstLine
    }

    /// The offset of a position. A position after the end of its line means that end, and one in the middle of a character
    /// its beginning.
    func offset(of position: Position, _ encoding: PositionEncoding) -> Int {
        guard position.line >= 0 else { return 0 }
        guard position.line < count else { return octets.count }
        let line = line(position.line)
        var units = max(0, position.character)
        var offset = line.startIndex
        while offset < line.endIndex, units > 0 {
            let width = TextLines.width(of: line[offset])
            let unitCount = encoding == .utf8 ? width : width == 4 ? 2 : 1
            guard units >= unitCount else { break }
            units -= unitCount
            offset += width
        }
        return min(offset, line.endIndex)
    }

    func position(ofOffset offset: Int, _ encoding: PositionEncoding) -> Position {
        var low = 0
        var high = starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= offset { low = middle } else { high = middle }
        }
        let rest = octets[starts[low]..<min(max(starts[low], offset), octets.count)]
        return Position(line: low, character: TextLines.units(of: rest, encoding))
    }

    /// The offset of a position of a diagnostic; the end of the line if the line is shorter.
    func offset(of position: SourcePosition) -> Int {
        guard position.line >= 1, position.line <= count else { return octets.count }
        let line = line(position.line - 1)
        var scalars = position.column - 1 + (position.line == 1 ? markWidth : 0)
        var offset = line.startIndex
        while offset < line.endIndex, scalars > 0 {
            offset += TextLines.width(of: line[offset])
            scalars -= 1
        }
        return min(offset, line.endIndex)
    }

    func position(of position: SourcePosition, _ encoding: PositionEncoding) -> Position {
        guard position.line >= 1, position.line <= count else {
            return self.position(ofOffset: octets.count, encoding)
        }
        let start = starts[position.line - 1]
        let rest = octets[start..<max(start, offset(of: position))]
        return Position(line: position.line - 1, character: TextLines.units(of: rest, encoding))
    }

    /// The position of a diagnostic for a position of the protocol.
    func sourcePosition(of position: Position, _ encoding: PositionEncoding) -> SourcePosition {
        let offset = offset(of: position, encoding)
        let line = min(max(0, position.line), count - 1)
        let scalars = octets[starts[line]..<max(starts[line], offset)].count { $0 & 0xC0 != 0x80 }
        return SourcePosition(line: line + 1, column: scalars + 1 - (line == 0 ? min(markWidth, scalars) : 0))
    }

    private static func units(of octets: ArraySlice<UInt8>, _ encoding: PositionEncoding) -> Int {
        guard encoding == .utf16 else { return octets.count }
        var units = 0
        for octet in octets where octet & 0xC0 != 0x80 { units += octet >= 0xF0 ? 2 : 1 }
        return units
    }

    /// The number of octets of the character that begins with an octet.
    private static func width(of octet: UInt8) -> Int {
        switch octet {
        case 0xF0...: 4
        case 0xE0...: 3
        case 0xC0...: 2
        default: 1
        }
    }
}
