import ButtonModel
import JSON
import Radios
import Rules

extension RecordingHeader {
    /// The first line of a recording, redacted except for the rules, which contain only the names of secrets.
    func json(hiding redaction: Redaction) -> JSONValue {
        let members: JSONValue = [
            "format": .string(Recording.format), "version": JSONValue(Recording.version),
            "started_at_ms": JSONValue(startedAt.milliseconds), "configuration": configuration.json(hiding: redaction),
            "rules": rules?.json ?? .null, "state": stored.json(hiding: redaction),
        ]
        return members.adding("history", true, if: isHistory).adding("continues", true, if: continues)
    }

    init(_ line: JSONValue) throws(RecordingFailure) {
        guard line["format"]?.stringValue == Recording.format else { throw .notARecording }
        let version: Int64 = try line.integer("version")
        guard version <= Recording.version else { throw .newerVersion(version) }
        guard version > 0 else { throw .badMember("version") }
        self.init(
            startedAt: try line.member("started_at_ms", \.clockTime),
            configuration: try HubConfiguration(recorded: try line.member("configuration") { $0 }),
            rules: try line.optional("rules") { $0 }.map { (rules) throws(RecordingFailure) in
                try RecordedRules(recorded: rules)
            },
            stored: try StoredState(recorded: try line.member("state") { $0 }))
        isHistory = try line.optional("history", \.boolValue) ?? false
        continues = try line.optional("continues", \.boolValue) ?? false
        if let radio = line["radio"] { try beginAtRadio(radio) }
    }

    private mutating func beginAtRadio(_ radio: JSONValue) throws(RecordingFailure) {
        beginsAtRadio = true
        configuration.extraTrustRoots = []
        for root in try radio.member("trust_roots", \.arrayValue) {
            guard let root = root.octetsValue else { throw .badMember("trust_roots") }
            configuration.extraTrustRoots.append(root)
        }
        for pairing in try radio.member("pairings", \.arrayValue) {
            let button = try pairing.button("button")
            let key: [UInt8] = try pairing.octets("key")
            guard let index = stored.buttons.firstIndex(where: { $0.id == button }), let key = PairingKey(key) else {
                throw .badMember("pairings")
            }
            stored.buttons[index].pairing = Pairing(identifier: try pairing.integer("identifier"), key: key)
        }
    }
}

extension ConfiguredRadio {
    /// The keys of proxies are left out.
    fileprivate var json: JSONValue {
        [
            "name": .string(name), "transport": .string(transport),
            "is_proxy": .bool(kind.isProxy), "maximum_connections": kind.maximumLinks.map { JSONValue($0) } ?? .null,
        ]
    }

    /// The radios of a recording. Earlier recordings have one transport.
    fileprivate static func list(recorded configuration: JSONValue) throws(RecordingFailure) -> [ConfiguredRadio] {
        func radio(_ object: JSONValue) throws(RecordingFailure) -> ConfiguredRadio {
            let maximumLinks = try object.optional("maximum_connections") {
                $0.integerValue.flatMap(Int.init(exactly:))
            }
            return ConfiguredRadio(
                try object.string("transport"), name: try object.optional("name", \.stringValue),
                kind: try object.optional("is_proxy", \.boolValue) == true
                    ? .esphome(key: nil, maximumLinks: maximumLinks) : .local(maximumLinks: maximumLinks))
        }
        guard configuration["radios"] != nil else {
            return try configuration.bool("has_transport") ? [try radio(configuration)] : []
        }
        let objects = try configuration.member("radios", \.arrayValue)
        guard objects.count <= RadioFleet.maximumCount else { throw .badMember("radios") }
        var radios: [ConfiguredRadio] = []
        for object in objects { radios.append(try radio(object)) }
        return radios
    }
}

/// The settings that affect decisions or are shown. The keys of other certificates and the environment of programs are left
/// out.
extension HubConfiguration {
    fileprivate func json(hiding redaction: Redaction) -> JSONValue {
        [
            "tryck": .string(version), "commit": .string(commit), "base_topic": .string(baseTopic),
            "discovery_prefix": discoveryPrefix.map { .string($0) } ?? .null,
            "status_topic": .string(homeAssistantStatusTopic),
            "page_url": pageURL.map { .string($0) } ?? .null,
            "homepage": homepage.map { .string($0) } ?? .null,
            "trust_roots": .array(trustRootNames.map(JSONValue.string)),
            "radios": .array(radios.map(\.json)),
            "sources": .array(sources.map(JSONValue.string)),
            "broker": .string(broker), "has_broker": .bool(hasBroker),
            "control": .string(control.rawValue), "log_level": .string(logLevel.rawValue),
            "state_directory": .string(stateDirectory),
            "built_at_ms": JSONValue(builtAt.milliseconds),
            "rule_problems": redaction(.array(ruleProblems)),
            "rule_fault": ruleFault.map { .string(redaction($0)) } ?? .null,
            "lost_state": lostState.map { .string($0) } ?? .null,
            "ring_warning": ringWarning.map { .string($0) } ?? .null,
            "has_metrics": .bool(hasMetrics),
            "simulated_buttons": .array(simulatedButtons.map(JSONValue.string)),
            "flicd_listen": flicdListen.map { .string($0) } ?? .null,
        ]
    }

    fileprivate init(recorded configuration: JSONValue) throws(RecordingFailure) {
        func strings(_ name: String) throws(RecordingFailure) -> [String] {
            let values = try configuration.member(name, \.arrayValue)
            let strings = values.compactMap(\.stringValue)
            guard strings.count == values.count else { throw .badMember(name) }
            return strings
        }
        self.init(
            version: try configuration.string("tryck"),
            commit: try configuration.optional("commit", \.stringValue) ?? "",
            baseTopic: try configuration.string("base_topic"),
            discoveryPrefix: try configuration.optional("discovery_prefix", \.stringValue),
            homeAssistantStatusTopic: try configuration.optional("status_topic", \.stringValue)
                ?? "homeassistant/status",
            pageURL: try configuration.optional("page_url", \.stringValue),
            homepage: try configuration.optional("homepage", \.stringValue),
            trustRootNames: try strings("trust_roots"), radios: try ConfiguredRadio.list(recorded: configuration),
            sources: configuration["sources"] == nil ? [] : try strings("sources"),
            broker: try configuration.string("broker"),
            hasBroker: try configuration.bool("has_broker"),
            control: try MQTTControl(recorded: configuration),
            logLevel: try configuration.optional("log_level") { $0.stringValue.flatMap(LogLevel.init(rawValue:)) }
                ?? .info,
            stateDirectory: try configuration.string("state_directory"),
            builtAt: UTCTime(milliseconds: try configuration.optional("built_at_ms", \.integerValue) ?? 0),
            ruleFault: try configuration.optional("rule_fault", \.stringValue),
            ruleProblems: try configuration.optional("rule_problems", \.arrayValue) ?? [],
            lostState: try configuration.optional("lost_state", \.stringValue),
            ringWarning: try configuration.optional("ring_warning", \.stringValue),
            hasMetrics: try configuration.optional("has_metrics", \.boolValue) ?? false,
            simulatedButtons: try strings("simulated_buttons"),
            flicdListen: try configuration.optional("flicd_listen", \.stringValue))
    }
}

extension MQTTControl {
    /// In the first version, `requests_over_mqtt` was true or false.
    fileprivate init(recorded configuration: JSONValue) throws(RecordingFailure) {
        if let name = try configuration.optional("control", \.stringValue) {
            guard let control = MQTTControl(rawValue: name) else { throw .badMember("control") }
            self = control
        } else {
            self = try configuration.bool("requests_over_mqtt") ? .settings : .none
        }
    }
}

extension StoredState {
    fileprivate func json(hiding redaction: Redaction) -> JSONValue {
        [
            "installation_id": .string(installationID), "next_run": JSONValue(nextRun),
            "buttons": .array(buttons.map { $0.json(hiding: redaction) }), "runs": .array(runs.map(\.json)),
            "rules": redaction(rules.stored),
        ]
    }

    fileprivate init(recorded state: JSONValue) throws(RecordingFailure) {
        self.init(installationID: try state.string("installation_id"), nextRun: try state.integer("next_run"))
        rules = RuleState(stored: state["rules"] ?? .null)
        for button in try state.member("buttons", \.arrayValue) { buttons.append(try StoredButton(recorded: button)) }
        for run in try state.member("runs", \.arrayValue) { runs.append(try StoredRun(recorded: run)) }
    }
}

extension StoredButton {
    /// The button without its pairing, which is secret.
    func json(hiding redaction: Redaction) -> JSONValue {
        let members: JSONValue = [
            "identity": identity.json(hiding: redaction), "name": name.map { .string(redaction($0)) } ?? .null,
            "paired_at_ms": JSONValue(pairedAt.milliseconds), "cursor": cursor.json,
            "advertising_configured": .bool(isAdvertisingConfigured),
            "battery_mv": batteryMillivolts.map { JSONValue($0) } ?? .null,
            "battery_at_ms": batteryMeasuredAt.map { JSONValue($0.milliseconds) } ?? .null,
            "press_count": JSONValue(pressCount.value), "sequence": JSONValue(sequence.value),
            "heard": JSONValue(publishWatermark),
            "trigger_mode": triggerMode.map { .string($0.rawValue) } ?? .null,
            "settings": settings.json, "battery_low": .bool(isBatteryLow), "recogniser": .string(recogniser),
        ]
        var json = members.adding("source", .string(source ?? ""), if: source != nil)
            .adding("battery_percent", JSONValue(batteryPercentage ?? 0), if: batteryPercentage != nil)
        for column in StoredFact.columns {
            guard let name = column.recordedName else { continue }
            let value = redaction(column.value(self))
            json = json.adding(name, value, if: value != .null && value != .object([]))
        }
        return json.adding("synced_cursor", syncedCursor?.json ?? .null, if: syncedCursor != nil)
    }

    init(recorded button: JSONValue) throws(RecordingFailure) {
        let source = try button.optional("source", \.stringValue)
        self.init(
            identity: try ButtonIdentity(recorded: try button.member("identity") { $0 }),
            name: try button.optional("name", \.stringValue), pairing: source == nil ? .notRecorded : nil,
            source: source,
            pairedAt: UTCTime(milliseconds: try button.integer("paired_at_ms")),
            cursor: try EventCursor(recorded: try button.member("cursor") { $0 }),
            isAdvertisingConfigured: try button.bool("advertising_configured"),
            batteryMillivolts: try button.optional("battery_mv") { $0.integerValue.flatMap(Int.init(exactly:)) },
            batteryPercentage: try button.optional("battery_percent") { $0.integerValue.flatMap(Int.init(exactly:)) },
            batteryMeasuredAt: try button.optional("battery_at_ms", \.integerValue).map(UTCTime.init(milliseconds:)),
            pressCount: try button.tally("press_count"), sequence: try button.tally("sequence"),
            publishWatermark: try button.optional("heard", \.integerValue),
            triggerMode: try button.optional("trigger_mode") { $0.stringValue.flatMap(TriggerMode.init(rawValue:)) },
            settings: try ButtonSettings(recorded: try button.member("settings") { $0 }),
            isBatteryLow: try button.bool("battery_low"), recogniser: try button.string("recogniser"))
        for column in StoredFact.columns {
            guard let name = column.recordedName, let value = button[name], value != .null else { continue }
            guard let set = column.setter(value) else { throw .badMember(name) }
            set(&self)
        }
        if let cursor = button["synced_cursor"] { syncedCursor = try EventCursor(recorded: cursor) }
    }
}

extension StoredRun {
    fileprivate var json: JSONValue {
        [
            "id": JSONValue(id), "rule": .string(rule), "button": button.map { JSONValue($0) } ?? .null,
            "cursor": event.json,
            "started_at_ms": JSONValue(startedAt.milliseconds),
        ]
    }

    fileprivate init(recorded run: JSONValue) throws(RecordingFailure) {
        self.init(
            id: try run.integer("id"), rule: try run.string("rule"),
            button: try run.optional("button") { $0.stringValue.flatMap { ButtonID($0) } },
            event: try EventCursor(recorded: try run.member("cursor") { $0 }),
            startedAt: UTCTime(milliseconds: try run.integer("started_at_ms")))
    }
}

extension ButtonIdentity {
    func json(hiding redaction: Redaction) -> JSONValue {
        let members: JSONValue = [
            "address": JSONValue(address), "uuid": .string(uuid), "serial": .string(serial),
            "nickname": .string(redaction(nickname)), "firmware": JSONValue(firmwareVersion),
        ]
        return members.adding("model", .string(model.rawValue), if: model != .flic2)
    }

    init(recorded identity: JSONValue) throws(RecordingFailure) {
        self.init(
            address: try identity.member("address", \.addressValue), uuid: try identity.string("uuid"),
            serial: try identity.string("serial"), nickname: try identity.string("nickname"),
            firmwareVersion: try identity.integer("firmware"),
            model: try identity.optional("model") { $0.stringValue.flatMap(FlicModel.init(rawValue:)) } ?? .flic2)
    }
}

extension ButtonSettings {
    var json: JSONValue {
        let members: JSONValue = [
            "latency_mode": .string(latencyMode.rawValue),
            "auto_disconnect_s": autoDisconnectTime.map { JSONValue($0) } ?? .null,
            "nickname_chosen_at_ms": nicknameChosenAt.map { JSONValue($0) } ?? .null,
            "connection_wanted": .bool(isConnectionWanted),
        ]
        return members.adding("led_mode", .string(ledMode.rawValue), if: ledMode != .fill)
    }

    init(recorded settings: JSONValue) throws(RecordingFailure) {
        self.init(
            latencyMode: try settings.member("latency_mode") { $0.stringValue.flatMap(LatencyMode.init(rawValue:)) },
            autoDisconnectTime: try settings.optional("auto_disconnect_s") {
                $0.integerValue.flatMap(UInt16.init(exactly:))
            },
            nicknameChosenAt: try settings.optional("nickname_chosen_at_ms") {
                $0.integerValue.flatMap(UInt64.init(exactly:))
            },
            isConnectionWanted: try settings.bool("connection_wanted"),
            ledMode: try settings.optional("led_mode") { $0.stringValue.flatMap(LEDMode.init(rawValue:)) } ?? .fill)
    }
}

extension EventCursor {
    var json: JSONValue {
        let members: JSONValue = ["boot_id": JSONValue(bootID), "event_count": JSONValue(eventCount)]
        return members.adding("small_event_count", JSONValue(smallEventCount), if: smallEventCount != 0)
    }

    init(recorded cursor: JSONValue) throws(RecordingFailure) {
        self.init(
            bootID: try cursor.integer("boot_id"), eventCount: try cursor.integer("event_count"),
            smallEventCount: try cursor.optional("small_event_count") {
                $0.integerValue.flatMap(UInt32.init(exactly:))
            } ?? 0)
    }
}

extension Pairing {
    /// A placeholder, because recordings contain no pairings.
    static let notRecorded: Pairing = {
        guard let key = PairingKey([UInt8](repeating: 0, count: 16)) else {
            preconditionFailure("16 octets are a key")
        }
        return Pairing(identifier: 0, key: key)
    }()
}
