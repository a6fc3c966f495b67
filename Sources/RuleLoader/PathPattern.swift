/// The path in an `include` entry, in which `*`, `?` and `[a-z]` match characters of file names. None of them matches a
/// `/`, or the dot at the beginning of a name. Matching takes time proportional to the product of the two lengths.
package struct PathPattern: Hashable, Sendable {
    package var text: String

    package init(_ text: String) { self.text = text }

    /// True for a path without wildcards, which names one file that has to exist.
    package var isLiteral: Bool { !text.utf8.contains { $0 == 0x2A || $0 == 0x3F || $0 == 0x5B } }

    package func matches(_ path: String) -> Bool {
        let patterns = text.split(separator: "/")
        let names = path.split(separator: "/")
        return patterns.count == names.count
            && zip(patterns, names).allSatisfy { PathPattern.matches(name: $1, pattern: $0) }
    }

    /// Matches one component of a path, in which `pattern` contains no `/`.
    package static func matches(name: Substring, pattern: Substring) -> Bool {
        guard !name.hasPrefix(".") || pattern.hasPrefix(".") else { return false }
        // Editors keep the former text of a file under a name with `~`. Including it would declare everything twice.
        guard !name.hasSuffix("~") || pattern.hasSuffix("~") else { return false }
        let scalars = Array(name.unicodeScalars)
        let pieces = Piece.pieces(of: pattern)
        var index = 0
        var piece = 0
        // The position to return to when the rest does not match: the last `*` then matches one character more.
        var retry: (index: Int, piece: Int)?
        while index < scalars.count {
            if piece < pieces.count, case .many = pieces[piece] {
                piece += 1
                retry = (index, piece)
            } else if piece < pieces.count, pieces[piece].matches(scalars[index]) {
                index += 1
                piece += 1
            } else if let last = retry {
                index = last.index + 1
                piece = last.piece
                retry = (index, piece)
            } else {
                return false
            }
        }
        return pieces[piece...].allSatisfy { if case .many = $0 { true } else { false } }
    }

    /// Resolves a path against the directory of `file`, and removes `.` and `..` as far as possible.
    package static func path(_ path: String, relativeTo file: String) -> String {
        if path.hasPrefix("/") { return path }
        let directory = file.utf8.lastIndex(of: 0x2F).map { file[..<$0] } ?? ""
        let isAbsolute = file.hasPrefix("/")
        var parts: [Substring] = []
        for part in directory.split(separator: "/") + path.split(separator: "/") where part != "." {
            if part == "..", let last = parts.last, last != ".." {
                parts.removeLast()
            } else if part != ".." || !isAbsolute {
                parts.append(part)
            }
        }
        return (isAbsolute ? "/" : "") + parts.joined(separator: "/")
    }
}

/// A part of a pattern, which matches one character of a name or any number of them.
private enum Piece {
    case one(UnicodeScalar)
    case any
    case many
    case range([ClosedRange<UnicodeScalar>], isNegated: Bool)

    func matches(_ scalar: UnicodeScalar) -> Bool {
        switch self {
        case .one(let own): own == scalar
        case .any, .many: true
        case .range(let ranges, let isNegated): ranges.contains { $0.contains(scalar) } != isNegated
        }
    }

    static func pieces(of pattern: Substring) -> [Piece] {
        var pieces: [Piece] = []
        var rest = pattern.unicodeScalars
        while let scalar = rest.popFirst() {
            switch scalar {
            case "*": pieces.append(.many)
            case "?": pieces.append(.any)
            case "[": pieces.append(range(&rest) ?? .one("["))
            default: pieces.append(.one(scalar))
            }
        }
        return pieces
    }

    /// Parses a bracket expression after its `[`; `nil` without a `]`. A `]` at the beginning is one of the characters.
    private static func range(_ rest: inout Substring.UnicodeScalarView) -> Piece? {
        var inside = rest
        let isNegated = inside.first == "!" || inside.first == "^"
        if isNegated { inside.removeFirst() }
        var ranges: [ClosedRange<UnicodeScalar>] = []
        while let first = inside.popFirst() {
            if first == "]", !ranges.isEmpty {
                rest = inside
                return .range(ranges, isNegated: isNegated)
            }
            var last = first
            if inside.first == "-", let end = inside.dropFirst().first, end != "]", end >= first {
                inside.removeFirst(2)
                last = end
            }
            ranges.append(first...last)
        }
        return nil
    }
}
