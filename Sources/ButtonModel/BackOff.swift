/// Exponential back-off: the wait before each attempt is twice the previous wait, within a range.
public struct BackOff: Hashable, Sendable {
    /// The shortest wait, which must be above zero, and the longest.
    public let range: ClosedRange<Duration>
    /// The wait that `next` returns, before jitter is subtracted.
    public private(set) var upcoming: Duration

    public init(_ range: ClosedRange<Duration>) {
        self.range = range
        upcoming = range.lowerBound
    }

    /// True if `next` returns the longest wait.
    public var isAtLongest: Bool { upcoming == range.upperBound }

    /// The wait before the next attempt.
    ///
    /// - Parameter jitter: 64 random bits that reduce the wait by up to half, so that the clients of a restarted server do
    ///   not return at the same time; 0 leaves it whole.
    public mutating func next(jitter: UInt64 = 0) -> Duration {
        defer { upcoming = min(upcoming * 2, range.upperBound) }
        guard jitter != 0 else { return upcoming }
        return upcoming - upcoming / 2 * Double(jitter >> 11) / 0x1p53
    }

    /// Starts again with the shortest wait. The owner calls this after a success that lasted.
    public mutating func reset() { upcoming = range.lowerBound }
}
