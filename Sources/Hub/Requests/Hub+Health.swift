import ButtonModel
import JSON
import MQTTTopics
import Rules

// The retained topic `bridge/health`. It is published after connecting, when the adapter or the rules change, and with other
// topics if the latest message is ten minutes old. No timer is needed for that: if nothing happens, no counter changes, and
// the time of the start gives the uptime.
extension Hub {
    static let healthInterval = Duration.seconds(600)

    /// Publishes the counters again if they were not published for ten minutes.
    mutating func refreshHealth(at now: Instant) {
        if let at = healthSentAt, now - at >= Hub.healthInterval { invalidate(.bridgeHealth) }
    }

    func health(at now: Instant) -> JSONValue {
        let (paired, ready) = buttonCounts
        let presses = buttons.values.reduce(0 as Tally) { Tally(clamping: $0.value + $1.pressCount.value) }
        return [
            "healthy": .bool(faults.isEmpty), "faults": .array(faults.map(JSONValue.string)),
            "version": .string(configuration.version), "commit": .string(configuration.commit),
            "started_at": startedAt.map { .string(wallClock(at: $0).description) } ?? .null,
            "uptime_s": .integer((startedAt.map { (now - $0).milliseconds } ?? 0) / 1000),
            "buttons": [
                "paired": .integer(Int64(paired)), "ready": .integer(Int64(ready)), "presses": .integer(presses.value),
                "battery_low": .integer(Int64(buttons.values.count { $0.isBatteryLow })),
            ],
            "mqtt": [
                "published": .integer(broker.publishedCount), "failed": .integer(broker.failedCount),
                "queued": .integer(Int64(broker.waitingCount)),
                "malformed_packets": .integer(broker.malformedPacketCount),
            ],
            "adapter": ["resets": .integer(Int64(radios.resetCount))],
            "rules": rules.counts,
        ]
    }
}
