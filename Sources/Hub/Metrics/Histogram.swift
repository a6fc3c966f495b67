import ButtonModel

/// Counts durations by their length.
///
/// - Source: Prometheus, Metric types, Histogram.
struct Histogram: Hashable, Sendable {
    /// The longest duration of each bucket, in seconds, ascending. Longer durations are only in `count`.
    let bounds: [Double]
    /// The number of durations in each bucket and in no earlier one.
    private var counts: [Int]
    private(set) var count = 0
    private var total = Duration.zero

    init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count)
    }

    mutating func add(_ duration: Duration) {
        let nanoseconds = max(0, duration.nanoseconds)
        if let place = bounds.firstIndex(where: { Double(nanoseconds) <= $0 * 1e9 }) { counts[place] += 1 }
        count += 1
        total += .nanoseconds(nanoseconds)
    }

    /// Each bound with the number of durations up to it.
    var cumulated: [(bound: Double, count: Int)] {
        var sum = 0
        return zip(bounds, counts).map { bound, count in
            sum += count
            return (bound, sum)
        }
    }

    /// The sum of all durations in milliseconds.
    var totalMilliseconds: Int64 { total.milliseconds }
}
