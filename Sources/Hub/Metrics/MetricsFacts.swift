import ButtonModel
import Buttons
import FlicdProtocol
import Radios
import Rules

/// The facts that the metrics show.
struct MetricsFacts: Sendable {
    var isRunning: Bool
    var version: String
    var commit: String
    /// `nil` as long as the wall clock is unknown.
    var startedAt: UTCTime?
    var radios: RadioSlots
    var broker: BrokerQueue
    var rules: RuleHost
    var flicd: FlicdGateway
    /// `nil` unless this is a site.
    var uplink: SiteUplink?
    /// `nil` unless this is an engine.
    var feed: EngineFeed?
    var hasStoreFault: Bool
    /// The number of gestures that came too late to count.
    var staleCount: Int64
    var missedPresses: MissedPresses
    /// In the order of their ids.
    var buttons: [(record: ButtonRecord, labels: Exposition.Labels, lastSeen: UTCTime?)]

    /// The text of the file.
    var exposition: Exposition {
        var text = Exposition()
        for metric in Metric.allCases {
            switch metric {
            case .up: text.add(metric, isRunning)
            case .buildInfo:
                let labels = Exposition.Labels.none.adding("version", version)
                text.add(metric, true, labels.adding("commit", commit))
            case .startTime: if let startedAt { text.add(metric, thousandths: startedAt.milliseconds) }
            case .adapterUp: if !radios.slots.isEmpty { text.add(metric, radios.isReady) }
            case .adapterResets: if !radios.slots.isEmpty { text.add(metric, radios.resetCount) }
            case .radioUp: for slot in radios.slots { text.add(metric, slot.isReady, slot.labels) }
            case .radioResets: for slot in radios.slots { text.add(metric, slot.history.resets, slot.labels) }
            case .radioLinks:
                for id in radios.ids { text.add(metric, linkCount(of: id), radios[id].labels) }
            case .radioLinksLimit:
                for slot in radios.slots { if let limit = slot.linkLimit { text.add(metric, limit, slot.labels) } }
            case .radioConnect:
                for id in radios.ids { text.add(metric, radios.connections[Int(id.rawValue)].times, radios[id].labels) }
            case .radioConnectFailures:
                for id in radios.ids {
                    for reason in ConnectFailure.allCases {
                        let count = radios.connections[Int(id.rawValue)].failures[reason] ?? 0
                        text.add(metric, count, radios[id].labels.adding("reason", reason.rawValue))
                    }
                }
            case .radioLostNotifications:
                for id in radios.ids {
                    text.add(metric, radios.connections[Int(id.rawValue)].lostNotifications, radios[id].labels)
                }
            case .brokerUp: if broker.isConfigured { text.add(metric, broker.isConnected) }
            case .brokerMalformedPackets: if broker.isConfigured { text.add(metric, broker.malformedPacketCount) }
            case .messagesPublished: text.add(metric, broker.publishedCount)
            case .messagesFailed: text.add(metric, broker.failedCount)
            case .messagesWaiting: text.add(metric, broker.waitingCount)
            case .uplinkUp: if let uplink { text.add(metric, uplink.isConnected) }
            case .uplinkEventsWaiting: if let uplink { text.add(metric, uplink.waitingCount) }
            case .uplinkEventsDropped: if let uplink { text.add(metric, uplink.droppedCount) }
            case .engineLeading: if let feed { text.add(metric, feed.isLeading) }
            case .engineSites: if let feed { text.add(metric, feed.sites.count) }
            case .engineEventsInterrupted: if let feed { text.add(metric, feed.interruptedCount) }
            case .engineEventsLost: if let feed { text.add(metric, feed.lostCount) }
            case .flicdUp: if let isListening = flicd.isListening { text.add(metric, isListening) }
            case .flicdClients: if let server = flicd.server { text.add(metric, server.clientCount) }
            case .flicdChannels: if let server = flicd.server { text.add(metric, server.channelCount) }
            case .flicdFramesIgnored: if let server = flicd.server { text.add(metric, server.ignoredFrameCount) }
            case .storeFault: text.add(metric, hasStoreFault)
            case .rulesFault: text.add(metric, rules.fault != nil)
            case .rules: text.add(metric, rules.set.rules.count)
            case .ruleOutcomes: rules.addOutcomes(to: &text)
            case .ruleConditionErrors: rules.addConditionErrors(to: &text)
            case .eventsStale: text.add(metric, staleCount)
            case .buttons: text.add(metric, buttons.count)
            case .buttonsReady: text.add(metric, buttons.count { $0.record.state == .ready })
            case .buttonConnected:
                for (record, labels, _) in buttons { text.add(metric, record.state == .ready, labels) }
            case .buttonRadioChanges:
                guard radios.slots.count > 1 else { break }
                for (record, labels, _) in buttons where record.source == nil {
                    text.add(metric, radios.carriers[record.identity.id]?.changeCount ?? 0, labels)
                }
            case .buttonPresses:
                for (record, labels, _) in buttons { text.add(metric, record.pressCount.value, labels) }
            case .buttonMissedPresses:
                for (record, labels, _) in buttons where record.source == nil {
                    text.add(metric, missedPresses.count(of: record.identity.id), labels)
                }
            case .buttonLastSeen:
                for (_, labels, lastSeen) in buttons {
                    if let time = lastSeen { text.add(metric, thousandths: time.milliseconds, labels) }
                }
            case .buttonBatteryVoltage:
                for (record, labels, _) in buttons {
                    if let millivolts = record.batteryMillivolts {
                        text.add(metric, thousandths: Int64(millivolts), labels)
                    }
                }
            case .buttonBatteryRatio:
                for (record, labels, _) in buttons {
                    guard let percentage = record.batteryPercentage else { continue }
                    text.add(metric, thousandths: Int64(percentage) * 10, labels)
                }
            case .buttonBatteryLow:
                for (record, labels, _) in buttons where record.batteryPercentage != nil {
                    text.add(metric, record.isBatteryLow, labels)
                }
            case .buttonSignal:
                for (record, labels, _) in buttons { if let rssi = record.rssi { text.add(metric, rssi, labels) } }
            }
        }
        return text
    }

    private func linkCount(of radio: RadioID) -> Int {
        buttons.count { (record, _, _) in
            record.source == nil && record.state.hasLink && radios.radio(of: record.identity.id) == radio
        }
    }
}

extension RadioSlot {
    fileprivate var labels: Exposition.Labels { Exposition.Labels.none.adding("radio", radio.name) }
}
