/// Searches for a text in time linear in the lengths of both texts (Knuth-Morris-Pratt).
///
/// - Source: D. E. Knuth, J. H. Morris, V. R. Pratt: Fast pattern matching in strings, 1977.
struct TextSearch {
    private let wanted: [UInt8]
    /// The failure function: for each index, the length of the longest proper prefix of `wanted` that is a suffix of
    /// `wanted[0...index]`.
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

    /// True if the text contains `wanted`; every text contains an empty `wanted`.
    func isFound(in text: String) -> Bool {
        guard !wanted.isEmpty else { return true }
        var length = 0
        for octet in text.utf8 where step(&length, octet) { return true }
        return false
    }

    /// Replaces every occurrence, from left to right; `nil` if the result is longer than `limit` octets. If `wanted` is
    /// empty, nothing is replaced.
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

    /// Advances the search by one octet. Returns true if the octet completes an occurrence.
    ///
    /// - Parameter length: the length of the longest proper prefix of `wanted` with which the text before the octet
    ///   ends.
    private func step(_ length: inout Int, _ octet: UInt8) -> Bool {
        while length > 0, octet != wanted[length] { length = borders[length - 1] }
        if octet == wanted[length] { length += 1 }
        return length == wanted.count
    }
}
