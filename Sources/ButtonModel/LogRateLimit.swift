/// A rate limit for log lines that a remote device or client can cause at any rate.
///
/// The first lines of each kind are written. When there are more within a minute, at most one line a minute follows, which says
/// how many were omitted, until a minute passes without an omission. `Kind` must have few values, because this type keeps an entry
/// for each.
package struct LogRateLimit<Kind: Hashable & Sendable>: Sendable {
    /// The length of a period.
    package static var minimumInterval: Duration { .seconds(60) }

    /// When the present period began, how many lines may still be written in it, and how many were omitted.
    private var periods: [Kind: (beganAt: Instant, remaining: Int, omitted: Int)] = [:]

    package init() {}

    /// Returns the line to write now, or `nil` if it is omitted. `text` is evaluated only if it is written.
    ///
    /// - Parameter burst: the number of lines that are written before one is omitted; at least 1.
    package mutating func lineToWrite(
        _ kind: Kind, _ text: @autoclosure () -> String, burst: Int = 1, at now: Instant
    ) -> String? {
        let omitted: Int
        if let period = periods[kind], now - period.beganAt < Self.minimumInterval {
            guard period.remaining > 0 else {
                periods[kind]?.omitted += 1
                return nil
            }
            periods[kind]?.remaining -= 1
            omitted = 0
        } else {
            omitted = periods[kind]?.omitted ?? 0
            periods[kind] = (now, omitted > 0 ? 0 : burst - 1, 0)
        }
        guard omitted > 0 else { return text() }
        return "\(text()) (\(omitted) more like this since the last line of it)"
    }
}
