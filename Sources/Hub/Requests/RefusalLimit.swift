import ButtonModel

/// Limits the refusals that are published on `bridge/event`, so that a client that repeats a wrong request does not flood
/// Home Assistant.
struct RefusalLimit: Hashable, Sendable {
    /// The maximum number of refusals in each interval.
    static let maximumCount = 10
    static let interval = Duration.seconds(60)

    private var begin: Instant?
    private var count = 0

    /// Decides whether another refusal is published.
    mutating func admits(at now: Instant) -> Bool {
        if begin.map({ now - $0 >= Self.interval }) ?? true { (begin, count) = (now, 0) }
        guard count < Self.maximumCount else { return false }
        count += 1
        return true
    }
}
