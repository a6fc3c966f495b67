/// Finds the name or keyword that was probably meant by a misspelt one.
package enum Suggestions {
    /// The nearest candidate with at most two edits (the first if several are equally near); else the only candidate
    /// that begins with `name`.
    package static func nearest(to name: String, among candidates: some Sequence<String>) -> String? {
        let limit = min(2, name.unicodeScalars.count - 1)
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(name, candidate, limit: best.map { $0.distance - 1 } ?? limit)
            if let distance { best = (candidate, distance) }
            if best?.distance == 0 { break }
        }
        guard best == nil, name.utf8.count >= 3 else { return best?.name }
        let longer = candidates.filter { $0.hasPrefix(name) }
        return longer.count == 1 ? longer.first : nil
    }

    /// The edit distance (optimal string alignment: insertions, deletions, replacements, transpositions of neighbours);
    /// `nil` beyond the limit.
    package static func distance(_ left: String, _ right: String, limit: Int) -> Int? {
        let a = Array(left.unicodeScalars)
        let b = Array(right.unicodeScalars)
        guard limit >= 0, abs(a.count - b.count) <= limit, a.count <= 256 else { return nil }
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for i in a.indices {
            var current = [i + 1]
            current.reserveCapacity(b.count + 1)
            for j in b.indices {
                var cost = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, current[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforeLast[j - 1] + 1) }
                current.append(cost)
            }
            (beforeLast, last) = (last, current)
        }
        return last[b.count] <= limit ? last[b.count] : nil
    }
}
