import ButtonModel

/// The safety net under every rule: so many runs begin in any span of its length, and no more.
struct RateWindow: Sendable {
    /// When the runs of the latest span began, the oldest first from `oldest` on.
    private var starts: [Instant] = []
    private var oldest = 0

    /// Whether one more may begin. A run that began exactly one span ago no longer counts.
    func hasRoom(_ rate: Rule.Rate, at now: Instant) -> Bool {
        count(rate, at: now) < min(rate.count, Rule.Rate.largestCount)
    }

    /// How many began within the span that ends now.
    func count(_ rate: Rule.Rate, at now: Instant) -> Int {
        // The span moves on by few starts at a time.
        starts.count - (starts[oldest...].firstIndex { now - $0 < rate.per } ?? starts.count)
    }

    /// Notes a run that begins now.
    mutating func record(_ rate: Rule.Rate, at now: Instant) {
        while oldest < starts.count, now - starts[oldest] >= rate.per { oldest += 1 }
        if oldest == starts.count || oldest > max(32, starts.count / 2) {
            starts.removeFirst(oldest)
            oldest = 0
        }
        starts.append(now)
    }
}
