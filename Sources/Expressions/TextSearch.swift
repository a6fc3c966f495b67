/// Finds one text in others, in time linear in both together.
///
/// - Source: Knuth, Morris, Pratt: Fast pattern matching in strings, 1977.
struct TextSearch {
    private let wanted: [UInt8]
    /// For each place, how long the longest beginning of `wanted` is that ends there, short of all up to there.
    private let borders: [Int]

    init(for wanted: String) {
        let octets = Array(wanted.utf8)
        var borders = [Int](repeating: 0, count: octets.count)
        var length = 0
        for index in octets.indices.dropFirst() {
            while length > 0, octets[index] != octets[length] { length = borders[length - 1] }
            if octets[index] == octets[length] { length += 1 }
            borders[index] = length
        }
        self.wanted = octets
        self.borders = borders
    }

    /// An empty text is found everywhere.
    func isFound(in text: String) -> Bool {
        guard !wanted.isEmpty else { return true }
        var length = 0
        for octet in text.utf8 where step(&length, octet) { return true }
        return false
    }

    /// The text with something else in place of every occurrence, from the left; `nil` if it gets longer than the
    /// limit, in octets. Where nothing is looked for nothing is replaced.
    func replacing(in text: String, with replacement: String, limit: Int) -> String? {
        guard !wanted.isEmpty else { return text.utf8.count <= limit ? text : nil }
        var result: [UInt8] = []
        var length = 0
        for octet in text.utf8 {
            result.append(octet)
            if step(&length, octet) {
                result.removeLast(wanted.count)
                result.append(contentsOf: replacement.utf8)
                length = 0
            }
            guard result.count <= limit + wanted.count else { return nil }
        }
        return result.count <= limit ? String(decoding: result, as: UTF8.self) : nil
    }

    /// Whether the octet completes an occurrence.
    ///
    /// - Parameter length: how much of `wanted` the octets before end with, which is not all of it.
    private func step(_ length: inout Int, _ octet: UInt8) -> Bool {
        while length > 0, octet != wanted[length] { length = borders[length - 1] }
        if octet == wanted[length] { length += 1 }
        return length == wanted.count
    }
}
