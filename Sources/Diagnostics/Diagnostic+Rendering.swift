extension Diagnostic {
    /// The diagnostic as lines of text for a terminal or a file; each line ends with a line feed.
    ///
    /// - Parameter line: the source line that contains `start`; `nil` when it is not available.
    func rendered(line: ArraySlice<UInt8>?, style: ReportStyle) -> String {
        let location = "\(TerminalText.line(file)):\(start.line):\(start.column):"
        let kind = style.severity("\(severity.rawValue)[\(code)]:", severity)
        var text = "\(style.bold(location)) \(kind) \(TerminalText.line(message))\n"
        if let line, !isConfidential {
            let excerpt = SourceExcerpt(line: line, from: start.column, to: start.line == end.line ? end.column : .max)
            let number = String(start.line)
            let margin = String(repeating: " ", count: max(0, 5 - number.count)) + number
            text += style.faint("\(margin) | ") + excerpt.text + "\n"
            let gutter = String(repeating: " ", count: margin.count) + " | "
            text += style.faint(gutter) + String(repeating: " ", count: excerpt.caretColumn)
            text += style.severity(String(repeating: "^", count: excerpt.caretWidth), severity)
            if let hint { text += " " + TerminalText.line(hint) }
            text += "\n"
        } else if let hint {
            text += "  hint: \(TerminalText.line(hint))\n"
        }
        for note in related {
            let location = "\(TerminalText.line(note.file)):\(note.position.line):\(note.position.column)"
            text += "  note: \(TerminalText.line(note.message)) at \(location)\n"
        }
        return text
    }
}

/// A source line made safe for a terminal, and the column and width of the carets under it, in terminal cells.
struct SourceExcerpt {
    static let tabWidth = 4

    private(set) var text = ""
    private(set) var caretColumn = 0
    private(set) var caretWidth = 1

    /// - Parameters:
    ///   - start: the column where the mark begins; columns count Unicode scalars from 1.
    ///   - end: the first column after the mark.
    init(line: ArraySlice<UInt8>, from start: Int, to end: Int) {
        // Only the part that is shown is decoded, so that a line of megabytes costs no more than a short line.
        let wanted = max(start, 1) - 1 - DiagnosticReport.maximumLineLength / 2
        let (first, rest) = SourceExcerpt.skip(wanted, of: line)
        let octets = rest.prefix(4 * DiagnosticReport.maximumLineLength)
        let decoded = Array(String(decoding: octets, as: UTF8.self).unicodeScalars)
        let scalars = decoded.prefix(DiagnosticReport.maximumLineLength)
        let isCut = decoded.count > scalars.count || rest.count > octets.count
        let last = first + scalars.count
        let marked = min(max(start, 1), last + 1)
        var cells = 0
        var markEnd: Int?
        if first > 0 {
            text = "…"
            cells = 1
        }
        caretColumn = cells
        for index in first..<last {
            if index + 1 == marked { caretColumn = cells }
            if index + 1 == end { markEnd = cells }
            let scalar = scalars[index - first]
            if scalar == "\t" {
                let width = SourceExcerpt.tabWidth - cells % SourceExcerpt.tabWidth
                text += String(repeating: " ", count: width)
                cells += width
            } else {
                text.unicodeScalars.append(TerminalText.isShown(scalar) ? scalar : "\u{FFFD}")
                cells += TerminalText.width(scalar)
            }
        }
        if marked == last + 1 { caretColumn = cells }
        if isCut { text += "…" }
        caretWidth = max(1, (markEnd ?? cells) - caretColumn)
    }

    /// Skips `count` Unicode scalars, or all of them when the line is shorter.
    private static func skip(_ count: Int, of line: ArraySlice<UInt8>) -> (skipped: Int, rest: ArraySlice<UInt8>) {
        var skipped = 0
        for (offset, octet) in zip(line.indices, line) where octet & 0xC0 != 0x80 {
            guard skipped < count else { return (skipped, line[offset...]) }
            skipped += 1
        }
        return (skipped, line[line.endIndex...])
    }
}

/// How a terminal displays Unicode scalars.
enum TerminalText {
    /// Replaces control characters and bidirectional format characters by U+FFFD, so that text from a file cannot move
    /// the cursor or leave its line.
    static func line(_ text: String) -> String {
        guard !text.unicodeScalars.allSatisfy(isShown) else { return text }
        var line = ""
        for scalar in text.unicodeScalars { line.unicodeScalars.append(isShown(scalar) ? scalar : "\u{FFFD}") }
        return line
    }

    /// False for scalars that a terminal must not receive: control characters, line separators, the byte order mark,
    /// and bidirectional format characters.
    static func isShown(_ scalar: UnicodeScalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: false
        default: true
        }
    }

    /// The number of cells that a scalar takes: 0 for combining marks, 2 for wide characters, else 1.
    ///
    /// - Source: Unicode Standard Annex 11, East Asian Width, reduced to ranges on which common terminals agree.
    static func width(_ scalar: UnicodeScalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: break
        }
        switch scalar.value {
        case 0x200B...0x200D, 0x2060: return 0
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
            0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
