import ButtonModel

/// Counts something by the minute, and tells how often it happened in the last full minute.
struct MinuteCounter: Sendable {
    private static let length = Duration.seconds(60)
    /// When the current minute began; `nil` before the first event.
    private var start: Instant?
    private var current = 0
    private var previous = 0

    mutating func count(at now: Instant) {
        let begun = start ?? now
        if now - begun >= Self.length {
            previous = now - begun < Self.length * 2 ? current : 0
            current = 0
            start = now
        } else {
            start = begun
        }
        current += 1
    }

    /// The number in the last minute that is over, or in the current one if that is the first.
    func perMinute(at now: Instant) -> Int {
        guard let start else { return 0 }
        let age = now - start
        if age >= Self.length * 2 { return 0 }
        return age >= Self.length ? current : max(previous, current)
    }
}
