/// A rate limit for log lines that a remote device or client can cause at any rate.
///
/// The first line of each kind is written, and after it at most one line a minute, which says how many were omitted.
/// `Kind` must have few values, because this type keeps an entry for each.
package struct LogRateLimit<Kind: Hashable & Sendable>: Sendable {
    /// The minimum time between two lines of a kind.
    package static var minimumInterval: Duration { .seconds(60) }

    /// When the last line of each kind was written, and how many lines were omitted since.
    private var latest: [Kind: (at: Instant, omitted: Int)] = [:]

    package init() {}

    /// Returns the line to write now, or `nil` if it is omitted. `text` is evaluated only if it is written.
    package mutating func lineToWrite(_ kind: Kind, _ text: @autoclosure () -> String, at now: Instant) -> String? {
        let before = latest[kind]
        if let before, now - before.at < Self.minimumInterval {
            latest[kind]?.omitted += 1
            return nil
        }
        latest[kind] = (now, 0)
        guard let omitted = before?.omitted, omitted > 0 else { return text() }
        return "\(text()) (\(omitted) more like this since the last line of it)"
    }
}
