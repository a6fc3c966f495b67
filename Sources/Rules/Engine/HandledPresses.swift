import Gestures

/// The presses that an ordinary rule has handled, and that rules with `fallback: true` therefore ignore.
struct HandledPresses: Sendable {
    /// The number of the latest handled press.
    private var latest: UInt64 = 0
    /// A bit for each of the last 64 presses, the latest in the lowest bit. A gesture has at most eight presses.
    private var handled: UInt64 = 0

    func contains(_ presses: ClosedRange<UInt64>) -> Bool {
        // Older presses count as not handled.
        let first = max(presses.lowerBound, latest &- min(latest, 63))
        guard first <= min(presses.upperBound, latest) else { return false }
        return (first...min(presses.upperBound, latest)).contains { handled >> (latest - $0) & 1 == 1 }
    }

    mutating func insert(_ presses: ClosedRange<UInt64>) {
        if presses.upperBound > latest {
            let step = presses.upperBound - latest
            handled = step < 64 ? handled << step : 0
            latest = presses.upperBound
        }
        let first = max(presses.lowerBound, latest - min(latest, 63))
        guard first <= presses.upperBound else { return }
        for press in first...presses.upperBound { handled |= 1 << (latest - press) }
    }
}
