import ButtonModel
import Buttons
import FlicdProtocol
import Rules

/// What the file for Prometheus needs besides what the hub knows anyway.
struct MetricsState: Sendable {
    var stale: Int64 = 0 { didSet { isOutdated = true } }
    /// Something may be another than it is in the file.
    var isOutdated = false
    /// As it was written last.
    var written: [UInt8] = []
}

// A file with what is so, for those who draw curves and ring bells. It is written at the start, at the end, and a while
// after something has changed: when nothing happens nobody wakes for it.
extension Hub {
    static let metricsInterval = Duration.seconds(15)
    /// To be called after each input.
    mutating func scheduleMetrics(at now: Instant) {
        if takeHasChanged() { metrics.isOutdated = true }
        guard configuration.hasMetrics, metrics.isOutdated, startedAt != nil, !isFinished,
            deadlines.deadline(of: .metrics) == nil
        else { return }
        deadlines.set(.metrics, at: now + Hub.metricsInterval)
    }

    /// Whether something that the metrics show may have changed in one of the parts since the last call.
    private mutating func takeHasChanged() -> Bool {
        let (inButtons, inBroker) = (buttons.takeHasChanged(), broker.takeHasChanged())
        let (inRules, inFlicd) = (rules.takeHasChanged(), flicd.takeHasChanged())
        return inButtons || inBroker || inRules || inFlicd
    }

    /// What is in the file already is not written again.
    mutating func writeMetrics(at now: Instant) {
        guard configuration.hasMetrics else { return }
        deadlines.cancel(.metrics)
        metrics.isOutdated = false
        _ = takeHasChanged()
        let text = exposition(at: now).octets
        guard text != metrics.written else { return }
        metrics.written = text
        effects.append(.writeMetrics(text))
    }

    private func exposition(at now: Instant) -> Exposition {
        let buttons = buttons.values.sorted { $0.identity.id < $1.identity.id }.map { record in
            let id = record.identity.id
            return (
                record: record,
                labels: Exposition.Labels.none.adding("button", rules.redaction(label(of: id)))
                    .adding("id", id.description)
            )
        }
        var text = Exposition()
        for metric in Metric.allCases {
            switch metric {
            case .up: text.add(metric, !isFinished)
            case .buildInfo:
                let labels = Exposition.Labels.none.adding("version", configuration.version)
                text.add(metric, true, labels.adding("commit", configuration.commit))
            case .startTime:
                guard let startedAt, clock != nil else { break }
                text.add(metric, thousandths: wallClock(at: startedAt).milliseconds)
            case .adapterUp:
                guard configuration.hasTransport else { break }
                text.add(metric, radio.isReady)
            case .adapterResets: if configuration.hasTransport { text.add(metric, radio.history.resets) }
            case .brokerUp: if configuration.hasBroker { text.add(metric, broker.isConnected) }
            case .brokerMalformedPackets: if configuration.hasBroker { text.add(metric, broker.malformedPacketCount) }
            case .messagesPublished: text.add(metric, broker.publishedCount)
            case .messagesFailed: text.add(metric, broker.failedCount)
            case .messagesWaiting: text.add(metric, broker.waitingCount)
            case .flicdUp: if let isListening = flicd.isListening { text.add(metric, isListening) }
            case .flicdClients: if let server = flicd.server { text.add(metric, server.clientCount) }
            case .flicdChannels: if let server = flicd.server { text.add(metric, server.channelCount) }
            case .flicdFramesIgnored: if let server = flicd.server { text.add(metric, server.ignoredFrameCount) }
            case .storeFault: text.add(metric, journal.fault != nil)
            case .rulesFault: text.add(metric, rules.fault != nil)
            case .rules: text.add(metric, rules.set.rules.count)
            case .ruleOutcomes: rules.addOutcomes(to: &text)
            case .ruleConditionErrors: rules.addConditionErrors(to: &text)
            case .eventsStale: text.add(metric, metrics.stale)
            case .buttons: text.add(metric, buttons.count)
            case .buttonsReady: text.add(metric, buttons.count { $0.record.state == .ready })
            case .buttonConnected: for (record, labels) in buttons { text.add(metric, record.state == .ready, labels) }
            case .buttonPresses: for (record, labels) in buttons { text.add(metric, record.pressCount.value, labels) }
            case .buttonLastSeen:
                for (record, labels) in buttons {
                    if let time = lastSeen(record) { text.add(metric, thousandths: time.milliseconds, labels) }
                }
            case .buttonBatteryVoltage:
                for (record, labels) in buttons {
                    if let millivolts = record.batteryMillivolts {
                        text.add(metric, thousandths: Int64(millivolts), labels)
                    }
                }
            case .buttonBatteryRatio:
                for (record, labels) in buttons {
                    guard let percentage = record.batteryPercentage else { continue }
                    text.add(metric, thousandths: Int64(percentage) * 10, labels)
                }
            case .buttonBatteryLow:
                for (record, labels) in buttons where record.batteryPercentage != nil {
                    text.add(metric, record.batteryAlarm.isLow, labels)
                }
            case .buttonSignal:
                for (record, labels) in buttons { if let rssi = record.rssi { text.add(metric, rssi, labels) } }
            }
        }
        return text
    }
}
