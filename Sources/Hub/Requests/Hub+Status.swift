import ButtonModel
import Buttons
import JSON
import MQTTTopics
import Rules

// Answers and topics that describe the bridge and its buttons.
extension Hub {
    var adapterProblem: String? {
        guard configuration.hasRadio else { return "there is no Bluetooth (bluetooth.transport: none)" }
        return radios.faults.first
    }

    /// A sentence for each fault that there is now.
    var faults: [String] {
        var faults: [String] = []
        faults += radios.faults
        if configuration.hasBroker, case .disconnected(let reason) = broker.state { faults.append(reason) }
        if let fault = rules.fault { faults.append(fault) }
        if let fault = journal.fault ?? journal.reserveFault { faults.append(fault) }
        if let fault = journal.ringFault { faults.append(fault) }
        if let fault = flicd.serverFault { faults.append(fault) }
        // The fault ends when the user has paired a button again.
        if let lost = configuration.lostState, buttons.isEmpty { faults.append(lost) }
        faults += flicd.upstreamFaults
        if let fault = uplinkFault { faults.append(fault) }
        if let fault = feed?.fault { faults.append(fault) }
        return faults
    }

    func status(at now: Instant) -> JSONValue {
        let best = radios.best
        let brokerState: JSONValue
        switch broker.state {
        case _ where !configuration.hasBroker: brokerState = "none"
        case .connected: brokerState = "connected"
        case .disconnected: brokerState = "disconnected"
        }
        let warnings =
            [configuration.ringWarning, historyFault].compactMap(\.self) + uplinkWarnings(at: now)
            + (feed?.warnings ?? [])
        let status: JSONValue = [
            "version": .string(configuration.version),
            "uptime_s": .integer((startedAt.map { (now - $0).milliseconds } ?? 0) / 1000),
            "ok": .bool(faults.isEmpty),
            "faults": .array(faults.map(JSONValue.string)),
            "warnings": .array(warnings.map(JSONValue.string)),
            "adapter": [
                "transport": .string(best.radio.transport), "state": .string(best.state.name),
                "address": best.address.map { .string($0.description) } ?? .null, "shared": .bool(best.isShared),
                "resets": .integer(Int64(radios.resetCount)),
                "last_fault": best.history.lastFault.map { $0.described(at: now) } ?? .null,
                "no_space_for": .array(radios.buttonsWithoutLink.sorted().map { .string(label(of: $0)) }),
            ],
            "radios": describedRadios(at: now),
            "crowded": describedCrowding(at: now),
            "broker": [
                "url": .string(broker.address), "state": brokerState,
                "malformed_packets": .integer(broker.malformedPacketCount),
            ],
            "sources": .array(flicd.upstreams.map(\.described)),
            "buttons": [
                "paired": .integer(Int64(buttons.count)),
                "ready": .integer(Int64(buttons.values.count { $0.state == .ready })),
                "presses": .integer(
                    buttons.values.reduce(0 as Tally) { Tally(clamping: $0.value + $1.pressCount.value) }.value),
                "battery_low": .array(
                    buttons.values.filter(\.isBatteryLow).map(\.identity.id).sorted().map {
                        .string(label(of: $0))
                    }),
            ],
            "permit_join": .bool(buttonSource.isSearching || flicd.isSearching),
            "flicd": flicd.status,
            "rules": rules.status(notices: ruleNotices),
            "last_errors": logbook.describeTrouble(at: now),
            "capture": configuration.capture.map(JSONValue.string) ?? .null,
            "simulated_buttons": .array(configuration.simulatedButtons.map(JSONValue.string)),
        ]
        guard case .object(var members) = status else { return status }
        if let feed { members.append(.init("engine", feed.status)) }
        if let uplink {
            members.append(.init("uplink", uplink.status(fault: uplinkFault, warnings: uplinkWarnings(at: now))))
        }
        return .object(members)
    }

    /// Why rules without errors may have no effect, as sentences. Each program that shows them adds its own way to pair a button.
    private var ruleNotices: [String] {
        guard rules.fault == nil else { return [] }
        guard !rules.set.rules.isEmpty else {
            // A site may leave all rules to its engines.
            guard uplink == nil, let path = configuration.missingRulesPath else { return [] }
            return ["there are no rules: write them into \(path), or put tryck.yaml beside your rules"]
        }
        // The buttons of a site or of a flicd are known only after it was connected.
        let missing = feed == nil && configuration.sources.isEmpty ? rules.missingButtons : []
        guard let first = missing.first else { return [] }
        let place = "\(first.location.file):\(first.location.line)"
        let others =
            switch missing.count - 1 {
            case 0: ""
            case 1: ", nor is 1 other button of the rules"
            case let count: ", nor are \(count) other buttons of the rules"
            }
        // The rules may have read the serial number from secrets.yaml.
        return [redaction("\"\(first.name)\" (\(first.hardware.text), \(place)) is not paired\(others)")]
    }

    func lastSeen(_ record: ButtonRecord) -> UTCTime? {
        record.lastSeen.map { wallClock(at: $0) } ?? record.stored.lastSeen
    }

    func describe(_ record: ButtonRecord) -> JSONValue {
        let identity = record.identity
        let listening = rules.listening(to: identity.id)
        let common: KeyValuePairs<String, JSONValue> = [
            "name": .string(label(of: identity.id)),
            "id": .string(identity.id.description),
            "address": .string(identity.address.description),
            "uuid": .string(identity.uuid),
            "serial": .string(identity.serial),
            "nickname": .string(identity.nickname),
            "model": .string(identity.model.rawValue),
            "firmware": .integer(Int64(identity.firmwareVersion)),
            "state": .string(record.state.rawValue),
            "waits_for_space": .bool(radios.buttonsWithoutLink.contains(identity.id)),
            "is_connection_wanted": .bool(record.settings.isConnectionWanted),
            // `raw`: no mode does what the rules want, so they go by `down` and `up`.
            "trigger_mode": .string(listening.mode?.rawValue ?? "raw"),
            // The trigger mode that the rules fix or that a user has set; `auto` if there is neither.
            "trigger_mode_chosen": .string(chosenMode(of: record)),
            "is_trigger_mode_fixed": .bool(listening.isFixed),
            // Null: until the release.
            "click_wait_ms": listening.clickWait.map { .integer($0.milliseconds) } ?? .null,
            "click_wait_rule": listening.cause.map { .string($0) } ?? .null,
            "latency_mode": record.latencyMode.map { .string($0.rawValue) } ?? .null,
            "auto_disconnect_time": record.settings.autoDisconnectTime.map { .integer(Int64($0)) } ?? .null,
            "nickname_pending": .bool(record.settings.nicknameChosenAt != nil),
            "battery": record.batteryPercentage.map { .integer(Int64($0)) } ?? .null,
            "battery_mv": record.batteryMillivolts.map { .integer(Int64($0)) } ?? .null,
            "battery_low": .bool(record.isBatteryLow),
            "battery_at": record.batteryMeasuredAt.map { .string($0.description) } ?? .null,
            "battery_weeks": record.batteryTrend.answer,
            "rssi": record.rssi.map { .integer(Int64($0)) } ?? .null,
            "radio": radioName(of: identity.id).map { .string($0) } ?? .null,
            "radios": describeSignals(of: identity.id),
            "source": record.source.map { .string($0) } ?? .null,
            "paired_at": .string(record.pairedAt.description),
            "press_count": .integer(record.pressCount.value),
            "last_seen": lastSeen(record).map { .string($0.description) } ?? .null,
        ]
        var members = common.map { JSONValue.Member($0, $1) }
        let missed = missedPresses.count(of: identity.id)
        if missed > 0 { members.append(.init("missed_presses", .integer(missed))) }
        if identity.model.hasLEDMode { members.append(.init("led_mode", .string(record.settings.ledMode.rawValue))) }
        if !record.positions.isEmpty { members.append(.init("positions", record.positions.json)) }
        return .object(members)
    }
}
