import ButtonModel
import Rules

// The text file for Prometheus. It is written at the start, at the end, and at most every 15 s after a change.
extension Hub {
    static let metricsInterval = Duration.seconds(15)

    /// Sets the timer for writing the file if a value may have changed. To be called after each input.
    mutating func scheduleMetrics(at now: Instant) {
        if takePartsHaveChanged() { metrics.invalidate() }
        guard metrics.isEnabled, metrics.isOutdated, startedAt != nil, !isFinished,
            !isTimerSet(.metrics)
        else { return }
        setTimer(.metrics, at: now + Hub.metricsInterval)
    }

    /// Writes the file, unless its text is the same as before.
    mutating func writeMetrics(at now: Instant) {
        guard metrics.isEnabled else { return }
        cancelTimer(.metrics)
        _ = takePartsHaveChanged()
        let text = metricsFacts.exposition.octets
        if metrics.rendered(text) { emit(.writeMetrics(text)) }
    }

    /// The facts for the metrics.
    var metricsFacts: MetricsFacts {
        MetricsFacts(
            isRunning: !isFinished, version: configuration.version, commit: configuration.commit,
            startedAt: clock == nil ? nil : startedAt.map { wallClock(at: $0) },
            radios: radios, broker: broker, rules: rules, flicd: flicd, uplink: uplink, feed: feed,
            hasStoreFault: journal.fault != nil, staleCount: metrics.stale, missedPresses: missedPresses,
            buttons: buttons.sorted.map { record in
                let labels = Exposition.Labels.none.adding("button", redaction(label(of: record.identity.id)))
                    .adding("id", record.identity.id.description)
                return (record, labels, lastSeen(record))
            })
    }
}
