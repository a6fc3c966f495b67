import Gestures

/// The presses that triggered an ordinary rule, and therefore must not trigger rules with `fallback: true`.
struct HandledPresses: Sendable {
    /// The number of the latest press that was taken.
    private var latest: UInt64 = 0
    /// A bit for this press and each of the 63 before it; the lowest bit is the latest. A gesture has at most eight
    /// presses.
    private var taken: UInt64 = 0

    func contains(_ presses: ClosedRange<UInt64>) -> Bool {
        // Presses before these 64 are not remembered.
        let first = max(presses.lowerBound, latest &- min(latest, 63))
        guard first <= min(presses.upperBound, latest) else { return false }
        return (first...min(presses.upperBound, latest)).contains { taken >> (latest - $0) & 1 == 1 }
    }

    mutating func insert(_ presses: ClosedRange<UInt64>) {
        if presses.upperBound > latest {
            let step = presses.upperBound - latest
            taken = step < 64 ? taken << step : 0
            latest = presses.upperBound
        }
        let first = max(presses.lowerBound, latest - min(latest, 63))
        guard first <= presses.upperBound else { return }
        for press in first...presses.upperBound { taken |= 1 << (latest - press) }
    }
}
