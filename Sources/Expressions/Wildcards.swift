/// A pattern in which `*` matches any text and `?` matches any character.
///
/// The pieces between stars are searched from left to right, each at its first occurrence, which is sufficient because
/// a star matches any text between the pieces. The search shifts a bit vector, with a bit for each character of the piece,
/// once for each character of the text; for a pattern of bounded length it is linear in the text.
///
/// - Source: Baeza-Yates, Gonnet: A new approach to text searching, 1992 (shift-and).
struct Wildcards {
    /// `nil` matches any character.
    private typealias Piece = [UnicodeScalar?]

    private let pieces: [Piece]

    init(_ pattern: String) {
        var pieces: [Piece] = [[]]
        for scalar in pattern.unicodeScalars {
            if scalar == "*" {
                pieces.append([])
            } else {
                pieces[pieces.count - 1].append(scalar == "?" ? nil : scalar)
            }
        }
        self.pieces = pieces
    }

    func match(_ text: String) -> Bool {
        let text = Array(text.unicodeScalars)
        guard let first = pieces.first, let last = pieces.last, first.count <= text.count,
            Wildcards.fits(first, text.prefix(first.count))
        else { return false }
        guard pieces.count > 1 else { return first.count == text.count }
        guard last.count <= text.count - first.count, Wildcards.fits(last, text.suffix(last.count)) else {
            return false
        }
        var rest = text[first.count..<text.count - last.count]
        for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
            guard let end = Wildcards.end(of: piece, in: rest) else { return false }
            rest = rest[end...]
        }
        return true
    }

    private static func fits(_ piece: Piece, _ text: ArraySlice<UnicodeScalar>) -> Bool {
        zip(piece, text).allSatisfy { $0 == nil || $0 == $1 }
    }

    /// The end of the first occurrence.
    private static func end(of piece: Piece, in text: ArraySlice<UnicodeScalar>) -> Int? {
        let wordCount = (piece.count + 63) / 64
        var anywhere = [UInt64](repeating: 0, count: wordCount)
        for (index, scalar) in piece.enumerated() where scalar == nil { anywhere[index / 64] |= 1 << (index % 64) }
        var masks: [UnicodeScalar: [UInt64]] = [:]
        for (index, scalar) in piece.enumerated() {
            guard let scalar else { continue }
            masks[scalar, default: anywhere][index / 64] |= 1 << (index % 64)
        }
        let last = (word: (piece.count - 1) / 64, bit: UInt64(1) << ((piece.count - 1) % 64))
        var row = [UInt64](repeating: 0, count: wordCount)
        for index in text.indices {
            let fitting = masks[text[index]] ?? anywhere
            var carry: UInt64 = 1
            for word in row.indices {
                let next = row[word] >> 63
                row[word] = (row[word] << 1 | carry) & fitting[word]
                carry = next
            }
            if row[last.word] & last.bit != 0 { return index + 1 }
        }
        return nil
    }
}
