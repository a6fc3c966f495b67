/// Decides which lines of the log are written where something outside can cause them as often as it likes.
///
/// The first line of a kind is written. After it at most one a minute is, and that one says how many were left out.
/// `Kind` has few values, for each of them is remembered.
package struct RepeatedLines<Kind: Hashable & Sendable>: Sendable {
    /// The least time between two lines of a kind.
    package static var rest: Duration { .seconds(60) }

    /// When a line of each kind was written last, and how many were left out since.
    private var latest: [Kind: (at: Instant, omitted: Int)] = [:]

    package init() {}

    /// - Parameter text: is made only when the line is written.
    /// - Returns: the line to write; `nil`: this one is only counted.
    package mutating func admit(_ kind: Kind, _ text: @autoclosure () -> String, at now: Instant) -> String? {
        let before = latest[kind]
        if let before, now - before.at < Self.rest {
            latest[kind]?.omitted += 1
            return nil
        }
        latest[kind] = (now, 0)
        guard let omitted = before?.omitted, omitted > 0 else { return text() }
        return "\(text()) (\(omitted) more like this since the last line of it)"
    }
}
