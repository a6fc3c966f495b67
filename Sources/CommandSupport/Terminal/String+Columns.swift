extension String {
    /// How many columns of a terminal the text takes.
    package var columns: Int { reduce(0) { $0 + $1.columns } }

    /// The longest prefix that fits into so many columns.
    package func prefix(columns: Int) -> String {
        var room = columns
        return String(
            prefix { character in
                room -= character.columns
                return room >= 0
            })
    }

    /// The text, padded with spaces. A longer text stays as it is.
    package func padded(to columns: Int) -> String {
        self + String(repeating: " ", count: max(0, columns - self.columns))
    }

    /// The text with all characters made visible that control a terminal, such as escape sequences and changes of the
    /// direction of writing: topics, payloads and the output of programs come from outside.
    package var visible: String {
        guard unicodeScalars.contains(where: \.isInvisible) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case _ where !scalar.isInvisible: text.unicodeScalars.append(scalar)
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            default: text += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return text
    }
}

extension Character {
    /// The columns that a terminal gives a character: two for wide characters of East Asia and for emoji.
    fileprivate var columns: Int {
        guard let first = unicodeScalars.first, first.value >= 0x1100 else { return 1 }
        return Character.wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    /// - Source: Unicode, EastAsianWidth.txt, W and F, joined to few ranges.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x23E9...0x23EC, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
        0x1F680...0x1F6FF, 0x1F900...0x1FAFF, 0x20000...0x3FFFD,
    ]
}

extension Unicode.Scalar {
    fileprivate var isInvisible: Bool {
        guard value >= 0x20, value < 0x7F else {
            switch properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: return !isJoiner
            default: return false
            }
        }
        return false
    }

    /// The zero width joiner and non-joiner, for emoji and letters of some scripts. They do not control the terminal.
    private var isJoiner: Bool { value == 0x200C || value == 0x200D }
}
