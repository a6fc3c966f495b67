/// The assignment of the effects that happened to those that a test expects, in their order, so that as many as possible
/// agree.
struct EffectAlignment {
    /// The largest table that is computed. Longer lists are compared only at their beginnings and ends.
    private static let maximumCells = 250_000

    /// For each entry, whether it has a counterpart in the other list.
    private(set) var agreesInExpected, agreesInHappened: [Bool]
    /// Entries without a counterpart that are at the same place, and therefore probably meant each other.
    private(set) var pairs: [(expected: Int, happened: Int)] = []

    init(expected: Int, happened: Int, agree: (Int, Int) -> Bool) {
        agreesInExpected = Array(repeating: false, count: expected)
        agreesInHappened = Array(repeating: false, count: happened)
        var first = 0
        while first < min(expected, happened), agree(first, first) {
            agreesInExpected[first] = true
            agreesInHappened[first] = true
            first += 1
        }
        var (lastExpected, lastHappened) = (expected, happened)
        while lastExpected > first, lastHappened > first, agree(lastExpected - 1, lastHappened - 1) {
            lastExpected -= 1
            lastHappened -= 1
            agreesInExpected[lastExpected] = true
            agreesInHappened[lastHappened] = true
        }
        alignMiddle(first..<lastExpected, first..<lastHappened, agree)
    }

    /// Finds a longest common subsequence of both ranges.
    private mutating func alignMiddle(_ expected: Range<Int>, _ happened: Range<Int>, _ agree: (Int, Int) -> Bool) {
        let width = happened.count + 1
        guard !expected.isEmpty, !happened.isEmpty, (expected.count + 1) * width <= EffectAlignment.maximumCells else {
            pairs += zip(expected, happened).map { ($0, $1) }
            return
        }
        // `longest[row * width + column]` is the length for the entries from that row and column on.
        var longest = Array(repeating: 0, count: (expected.count + 1) * width)
        for row in (0..<expected.count).reversed() {
            for column in (0..<happened.count).reversed() {
                let cell = row * width + column
                longest[cell] =
                    agree(expected.lowerBound + row, happened.lowerBound + column)
                    ? longest[cell + width + 1] + 1 : max(longest[cell + width], longest[cell + 1])
            }
        }
        var (row, column) = (0, 0)
        var (gapRow, gapColumn) = (0, 0)
        func pair(until row: Int, _ column: Int) -> [(expected: Int, happened: Int)] {
            zip(gapRow..<row, gapColumn..<column).map { (expected.lowerBound + $0, happened.lowerBound + $1) }
        }
        while row < expected.count, column < happened.count {
            let cell = row * width + column
            if agree(expected.lowerBound + row, happened.lowerBound + column) {
                agreesInExpected[expected.lowerBound + row] = true
                agreesInHappened[happened.lowerBound + column] = true
                pairs += pair(until: row, column)
                (row, column) = (row + 1, column + 1)
                (gapRow, gapColumn) = (row, column)
            } else if longest[cell + width] >= longest[cell + 1] {
                row += 1
            } else {
                column += 1
            }
        }
        pairs += pair(until: expected.count, happened.count)
    }
}
