import Gestures

/// The presses some ordinary rule has answered, so that no rule with `fallback: true` answers them as well.
struct TakenPresses: Sendable {
    /// The latest press that was taken.
    private var latest: UInt64 = 0
    /// That press and the 63 before it, the lowest bit being the latest. A gesture has at most eight presses.
    private var taken: UInt64 = 0

    func contains(_ presses: ClosedRange<UInt64>) -> Bool {
        // Longer ranges than we remember are cut, whoever makes them.
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
