import ButtonModel

/// A sliding window that limits the number of runs of a rule.
struct RateWindow: Sendable {
    /// When the runs of the latest window began, oldest first. Elements before `oldest` are obsolete.
    private var starts: [Instant] = []
    private var oldest = 0

    /// True if another run may begin. A run that began exactly one window length ago no longer counts.
    func hasRoom(_ rate: Rule.Rate, at now: Instant) -> Bool {
        count(rate, at: now) < min(rate.count, Rule.Rate.largestCount)
    }

    /// The number of runs that began within the window that ends now.
    func count(_ rate: Rule.Rate, at now: Instant) -> Int {
        // A linear search is sufficient, because few starts leave the window at a time.
        starts.count - (starts[oldest...].firstIndex { now - $0 < rate.per } ?? starts.count)
    }

    /// Records that a run begins now.
    mutating func record(_ rate: Rule.Rate, at now: Instant) {
        while oldest < starts.count, now - starts[oldest] >= rate.per { oldest += 1 }
        if oldest == starts.count || oldest > max(32, starts.count / 2) {
            starts.removeFirst(oldest)
            oldest = 0
        }
        starts.append(now)
    }
}
