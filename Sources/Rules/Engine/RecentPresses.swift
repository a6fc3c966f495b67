import Gestures

/// A set of presses of one button or part, by their numbers. It remembers the last 64 presses before its latest.
struct RecentPresses: Sendable {
    /// The number of the latest press in the set.
    private var latest: UInt64 = 0
    /// A bit for each of the last 64 presses, the latest in the lowest bit. A gesture has at most eight presses.
    private var bits: UInt64 = 0

    func contains(_ presses: ClosedRange<UInt64>) -> Bool {
        // Older presses are forgotten.
        let first = max(presses.lowerBound, latest &- min(latest, 63))
        guard first <= min(presses.upperBound, latest) else { return false }
        return (first...min(presses.upperBound, latest)).contains { bits >> (latest - $0) & 1 == 1 }
    }

    mutating func insert(_ presses: ClosedRange<UInt64>) {
        if presses.upperBound > latest {
            let step = presses.upperBound - latest
            bits = step < 64 ? bits << step : 0
            latest = presses.upperBound
        }
        let first = max(presses.lowerBound, latest - min(latest, 63))
        guard first <= presses.upperBound else { return }
        for press in first...presses.upperBound { bits |= 1 << (latest - press) }
    }
}
