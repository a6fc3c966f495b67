package import Diagnostics

/// The text of one file, checked to be valid, and the positions of its lines.
package struct SourceText: Sendable {
    static let maximumSize = 16 << 20
    /// The octets of a line that messages examine.
    private static let maximumExcerpt = 4096
    /// The octets of a node that `find` searches.
    private static let maximumSearch = 1 << 20

    package let name: String
    /// UTF-8 without a byte order mark.
    let octets: [UInt8]
    private let lines: LineStarts
    /// The position after the last character.
    private let end: SourcePosition

    private init(name: String, octets: [UInt8], lines: LineStarts) {
        self.name = name
        self.octets = octets
        self.lines = lines
        let last = lines.start(of: lines.count, in: octets)
        end = SourcePosition(line: lines.count, column: octets[last...].scalarCount + 1)
    }

    static func empty(named name: String) -> SourceText { SourceText(name: name, octets: [], lines: LineStarts()) }

    /// Checks the text of a file. Fails if it is too long (E112) or not text (E110).
    package static func reading(_ file: SourceFile) -> Result<SourceText, SourceFault> {
        guard file.text.count <= maximumSize else {
            return .failure(SourceFault(code: "E112", message: "longer than 16 MiB", position: .start))
        }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let octets = file.text.starts(with: mark) ? Array(file.text.dropFirst(mark.count)) : file.text
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: octets.span)
        } catch {
            let offset = error.byteOffsets.lowerBound
            let (lines, _) = LineStarts.scan(octets[..<offset])
            let byte = offset + (file.text.count - octets.count)
            return .failure(
                SourceFault(
                    code: "E110", message: "not UTF-8 at byte \(byte)", position: lines.position(of: offset, in: octets)
                ))
        }
        let (lines, fault) = LineStarts.scan(octets[...])
        if let fault {
            let position = lines.position(of: fault.offset, in: octets)
            return .failure(SourceFault(code: "E110", message: fault.message, position: position))
        }
        return .success(SourceText(name: file.name, octets: octets, lines: lines))
    }

    /// The tree of the file, whatever its kind, without diagnostics; `nil` when the file is empty or cannot be read.
    package func tree() -> YAMLNode? {
        var composer = YAMLComposer(self, .unknown)
        return composer.compose()
    }

    package var lineCount: Int { lines.count }

    /// The octets of a line without its line end; empty for a line that does not exist.
    func line(_ number: Int) -> ArraySlice<UInt8> {
        guard number >= 1, number <= lineCount else { return [] }
        return octets[lines.start(of: number, in: octets)...].firstLine
    }

    /// The rest of a line from a position on, at most `maximumExcerpt` octets of it.
    func text(from position: SourcePosition) -> Substring.UnicodeScalarView {
        let rest = octets[offset(of: position)...]
        var excerpt = rest.prefix(SourceText.maximumExcerpt).firstLine
        if excerpt.count == SourceText.maximumExcerpt {
            // The last character may have been cut.
            while let octet = excerpt.last, octet & 0xC0 == 0x80 { excerpt.removeLast() }
            excerpt = excerpt.dropLast()
        }
        return String(decoding: excerpt, as: UTF8.self)[...].unicodeScalars
    }

    /// The position, or the end of the text if that comes first: libyaml's last marks may lie on a line after the text.
    package func clamped(_ position: SourcePosition) -> SourcePosition { position.line > lineCount ? end : position }

    /// The position of the first `wanted` between two positions; `nil` when the first `maximumSearch` octets do not
    /// contain it.
    package func find(_ wanted: String, from start: SourcePosition, to end: SourcePosition) -> SourcePosition? {
        guard start < end else { return nil }
        let wanted = Array(wanted.utf8)
        var rest = octets[offset(of: start)..<max(offset(of: start), offset(of: end))].prefix(SourceText.maximumSearch)
        while let index = rest.firstIndex(where: { $0 == wanted.first }) {
            rest = rest[index...]
            if rest.starts(with: wanted) { return lines.position(of: index, in: octets) }
            rest.removeFirst()
        }
        return nil
    }

    /// The position of the first line that begins with `wanted`.
    func firstLine(beginningWith wanted: String) -> SourcePosition? {
        let wanted = Array(wanted.utf8)
        let index = octets.withUnsafeBufferPointer { octets in
            octets.indices.first { index in
                octets[index] == wanted.first && (index == 0 || octets[index - 1] == 0x0A || octets[index - 1] == 0x0D)
                    && octets[index...].starts(with: wanted)
            }
        }
        return index.map { lines.position(of: $0, in: octets) }
    }

    /// Calls `body` with the first tab in the indentation of each line that is not blank.
    func forEachIndentationTab(_ body: (SourcePosition) -> Void) {
        guard octets.contains(0x09) else { return }
        var position = SourcePosition.start
        var tab: SourcePosition?
        var isIndentation = true
        var before: UInt8 = 0
        for octet in octets {
            switch octet {
            case 0x0A where before == 0x0D: break
            case 0x0A, 0x0D:
                position = SourcePosition(line: position.line + 1, column: 1)
                tab = nil
                isIndentation = true
            case 0x09, 0x20:
                if octet == 0x09, isIndentation, tab == nil { tab = position }
                position.column += 1
            default:
                if isIndentation, let tab { body(tab) }
                isIndentation = false
            }
            before = octet
        }
    }

    func position(of offset: Int) -> SourcePosition { lines.position(of: offset, in: octets) }

    /// The offset of a position. A position after the end of its line has the offset of that end.
    func offset(of position: SourcePosition) -> Int {
        guard position.line >= 1, position.line <= lineCount else { return octets.count }
        let start = lines.start(of: position.line, in: octets)
        return octets[start...].dropScalars(position.column - 1).startIndex
    }
}

/// Why the text of a file cannot be read.
package struct SourceFault: Error {
    var code: String
    var message: String
    var position: SourcePosition
}

extension SourcePosition {
    package static let start = SourcePosition(line: 1, column: 1)

    package func advanced(by columns: Int) -> SourcePosition { SourcePosition(line: line, column: column + columns) }
}
