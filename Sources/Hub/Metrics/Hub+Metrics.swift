import ButtonModel

/// The state of the metrics that no other part of the hub holds.
struct MetricsState: Sendable {
    /// True if the file is written.
    let isEnabled: Bool
    /// Gestures that came too late to count.
    private(set) var stale: Int64 = 0

    /// A value may differ from the file.
    var isOutdated = false
    /// The text that was written last.
    var written: [UInt8] = []

    init(isEnabled: Bool) { self.isEnabled = isEnabled }

    mutating func countStale() {
        stale += 1
        isOutdated = true
    }
}

// The text file for Prometheus. It is written at the start, at the end, and at most every 15 s after a change.
extension Hub {
    static let metricsInterval = Duration.seconds(15)
    /// Sets the timer for writing the file if a value may have changed. To be called after each input.
    mutating func scheduleMetrics(at now: Instant) {
        if takePartsHaveChanged() { metrics.isOutdated = true }
        guard metrics.isEnabled, metrics.isOutdated, startedAt != nil, !isFinished,
            !isTimerSet(.metrics)
        else { return }
        setTimer(.metrics, at: now + Hub.metricsInterval)
    }

    /// Writes the file, unless its text is the same as before.
    mutating func writeMetrics(at now: Instant) {
        guard metrics.isEnabled else { return }
        cancelTimer(.metrics)
        metrics.isOutdated = false
        _ = takePartsHaveChanged()
        let text = metricsFacts.exposition.octets
        guard text != metrics.written else { return }
        metrics.written = text
        emit(.writeMetrics(text))
    }
}
