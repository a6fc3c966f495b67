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
        guard String(validating: octets, as: UTF8.self) != nil else {
            let (text, offset) = validPrefix(of: octets)
            var place = SourcePosition.start
            _ = scan(text, &place)
            let byte = offset + (file.text.count - octets.count)
            return .failure(SourceFault(code: "E110", message: "not UTF-8 at byte \(byte)", position: place))
        }
        var place = SourcePosition.start
        switch scan(octets, &place) {
        case .success(let lineStarts):
            return .success(SourceText(name: file.name, octets: octets, lineStarts: lineStarts))
        case .failure(let fault): return .failure(fault)
        }
    }

    /// Counts lines and columns of valid UTF-8, up to its end or to the first character that may not stand in a
    /// file. Some programs end a line at U+2028 and U+2029 and some do not, so positions would depend on the reader.
    private static func scan(_ octets: [UInt8], _ place: inout SourcePosition) -> Result<[Int], SourceFault> {
        var lineStarts = [0]
        // The three octets before this one.
        var before: UInt32 = 0
        for (offset, octet) in octets.enumerated() {
            before = before << 8 | UInt32(octet)
            let isReturnBefore = before >> 8 & 0xFF == 0x0D
            switch octet {
            case 0x20...0x7E, 0x09, 0xC0...: place.column += 1
            case 0x0A where isReturnBefore: lineStarts[lineStarts.count - 1] = offset + 1
            case 0x0A, 0x0D:
                lineStarts.append(offset + 1)
                place = SourcePosition(line: place.line + 1, column: 1)
            case 0x80...:
                guard let fault = fault(endingWith: before & 0xFF_FFFF) else { continue }
                place.column -= 1
                return .failure(SourceFault(code: "E110", message: fault, position: place))
            default:
                let message = "control character \(name(of: UInt32(octet)))"
                return .failure(SourceFault(code: "E110", message: message, position: place))
            }
        }
        return .success(lineStarts)
    }

    private static func fault(endingWith octets: UInt32) -> String? {
        switch octets {
        case 0xE280A8, 0xE280A9, 0xEFBBBF, 0xEFBFBE, 0xEFBFBF:
            let value = (octets >> 16 & 0xF) << 12 | (octets >> 8 & 0x3F) << 6 | octets & 0x3F
            return "character \(name(of: value)) is not allowed; write it as an escape"
        default:
            guard octets & 0xFFFF >= 0xC280, octets & 0xFFFF <= 0xC29F else { return nil }
            return "control character \(name(of: octets & 0xFF))"
        }
    }

    private static func name(of scalar: UInt32) -> String {
        let digits = String(scalar, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    private static func validPrefix(of octets: [UInt8]) -> (octets: [UInt8], count: Int) {
        var parser = Unicode.UTF8.ForwardParser()
        var rest = octets.makeIterator()
        var count = 0
        while case .valid(let scalar) = parser.parseScalar(from: &rest) { count += scalar.count }
        return (Array(octets.prefix(count)), count)
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

    /// The place, or the end of the text when it lies behind that: libyaml ends every text with a line.
    func clamped(_ position: SourcePosition) -> SourcePosition {
        guard position.line > lineCount else { return position }
        return SourcePosition(line: lineCount, column: text(from: SourcePosition(line: lineCount, column: 1)).count + 1)
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
