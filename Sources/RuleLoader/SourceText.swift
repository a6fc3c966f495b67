import Diagnostics

/// The text of one file, checked to be text, and where its lines are.
struct SourceText: Sendable {
    static let maximumSize = 16 << 20

    let name: String
    /// UTF-8 without a byte order mark.
    let octets: [UInt8]
    /// Offsets of the first octet of each line. LF, CR and CRLF end a line.
    private let lineStarts: [Int]

    /// - Returns: the text, or what is wrong with it: too long (E112), or not text (E110).
    static func reading(_ file: SourceFile) -> Result<SourceText, SourceFault> {
        guard file.text.count <= maximumSize else {
            return .failure(SourceFault(code: "E112", message: "longer than 16 MiB", position: .start))
        }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let octets = file.text.starts(with: mark) ? Array(file.text.dropFirst(mark.count)) : file.text
        var lineStarts = [0]
        var column = 1
        var decoder = Unicode.UTF8.ForwardParser()
        var octetsLeft = octets.makeIterator()
        var offset = 0
        var previousWasReturn = false
        while true {
            let scalar: UnicodeScalar
            switch decoder.parseScalar(from: &octetsLeft) {
            case .valid(let encoded):
                scalar = Unicode.UTF8.decode(encoded)
                offset += encoded.count
            case .error:
                let place = offset + (file.text.count - octets.count)
                return .failure(
                    SourceFault(
                        code: "E110", message: "not UTF-8 at byte \(place)",
                        position: SourcePosition(line: lineStarts.count, column: column)))
            case .emptyInput:
                return .success(SourceText(name: file.name, octets: octets, lineStarts: lineStarts))
            }
            if scalar == "\n" || scalar == "\r" {
                if previousWasReturn, scalar == "\n" { lineStarts.removeLast() }
                lineStarts.append(offset)
                column = 1
            } else if let fault = fault(of: scalar) {
                let position = SourcePosition(line: lineStarts.count, column: column)
                return .failure(SourceFault(code: "E110", message: fault, position: position))
            } else {
                column += 1
            }
            previousWasReturn = scalar == "\r"
        }
    }

    /// Why this character may not stand in a file, if it may not. Some programs end a line at U+2028 and U+2029
    /// and some do not, so positions would depend on the reader.
    private static func fault(of scalar: UnicodeScalar) -> String? {
        let name = String(scalar.value, radix: 16, uppercase: true)
        let code = "U+" + String(repeating: "0", count: max(0, 4 - name.count)) + name
        switch scalar.value {
        case 0x09, 0x20...0x7E: return nil
        case 0..<0x20, 0x7F..<0xA0: return "control character \(code)"
        case 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF: return "character \(code) is not allowed; write it as an escape"
        default: return nil
        }
    }

    static func empty(named name: String) -> SourceText { SourceText(name: name, octets: [], lineStarts: [0]) }

    var lineCount: Int { lineStarts.count }

    /// The octets of a line without its end; empty for a line that is not there.
    func line(_ number: Int) -> ArraySlice<UInt8> {
        guard number >= 1, number <= lineStarts.count else { return [] }
        let start = lineStarts[number - 1]
        var end = number < lineStarts.count ? lineStarts[number] : octets.count
        while end > start, octets[end - 1] == 0x0A || octets[end - 1] == 0x0D { end -= 1 }
        return octets[start..<end]
    }

    /// The text of a line from a column on.
    func text(from position: SourcePosition) -> Substring.UnicodeScalarView {
        let scalars = String(decoding: line(position.line), as: UTF8.self)[...].unicodeScalars
        return scalars.dropFirst(max(0, position.column - 1))
    }

    /// Where `word` stands for the first time between two places.
    func find(_ word: String, from start: SourcePosition, to end: SourcePosition) -> SourcePosition? {
        var position = start
        while position.line <= min(end.line, lineCount) {
            var rest = text(from: position)
            while !rest.isEmpty, position < end {
                if rest.starts(with: word.unicodeScalars) { return position }
                rest.removeFirst()
                position.column += 1
            }
            position = SourcePosition(line: position.line + 1, column: 1)
        }
        return nil
    }
}

/// Why a file cannot be read at all.
struct SourceFault: Error {
    var code: String
    var message: String
    var position: SourcePosition
}

extension SourcePosition {
    static let start = SourcePosition(line: 1, column: 1)

    func advanced(by columns: Int) -> SourcePosition { SourcePosition(line: line, column: column + columns) }
}
