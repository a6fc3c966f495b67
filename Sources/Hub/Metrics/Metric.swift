/// The metrics in the file for Prometheus, in its order. `deploy/metrics.md` has the same table for users.
///
/// The raw value is the name without its prefix; units are the base units, and the end of the name says which.
///
/// - Source: Prometheus, Metric and label naming; Writing exporters.
enum Metric: String, CaseIterable {
    case up
    case buildInfo = "build_info"
    case startTime = "start_time_seconds"
    case adapterUp = "adapter_up"
    case adapterResets = "adapter_resets_total"
    case radioUp = "radio_up"
    case radioResets = "radio_resets_total"
    case radioLinks = "radio_links"
    case radioLinksLimit = "radio_links_limit"
    case radioConnect = "radio_connect_seconds"
    case radioConnectFailures = "radio_connect_failures_total"
    case radioLostNotifications = "radio_lost_notifications_total"
    case brokerUp = "broker_up"
    case brokerMalformedPackets = "broker_malformed_packets_total"
    case messagesPublished = "messages_published_total"
    case messagesFailed = "messages_failed_total"
    case messagesWaiting = "messages_waiting"
    case uplinkUp = "uplink_up"
    case uplinkEventsWaiting = "uplink_events_waiting"
    case uplinkEventsDropped = "uplink_events_dropped_total"
    case engineLeading = "engine_leading"
    case engineSites = "engine_sites"
    case engineEventsInterrupted = "engine_events_interrupted_total"
    case engineEventsLost = "engine_events_lost_total"
    case flicdUp = "flicd_up"
    case flicdClients = "flicd_clients"
    case flicdChannels = "flicd_channels"
    case flicdFramesIgnored = "flicd_frames_ignored_total"
    case storeFault = "store_fault"
    case rulesFault = "rules_fault"
    case rules
    case ruleOutcomes = "rule_outcomes_total"
    case ruleConditionErrors = "rule_condition_errors_total"
    case eventsStale = "events_stale_total"
    case buttons
    case buttonsReady = "buttons_ready"
    case buttonConnected = "button_connected"
    case buttonRadioChanges = "button_radio_changes_total"
    case buttonPresses = "button_presses_total"
    case buttonMissedPresses = "button_missed_presses_total"
    case buttonLastSeen = "button_last_seen_timestamp_seconds"
    case buttonBatteryVoltage = "button_battery_volts"
    case buttonBatteryRatio = "button_battery_ratio"
    case buttonBatteryLow = "button_battery_low"
    case buttonSignal = "button_rssi_dbm"

    /// The raw value is the word of the format.
    enum Kind: String {
        case gauge
        /// A counter never falls, and starts at 0 with the daemon unless `meaning` says otherwise.
        case counter
        case histogram
    }

    enum Unit: String {
        /// 0 or 1.
        case truth = "0 or 1"
        case count
        case seconds
        case volts
        /// 0…1.
        case ratio
        case decibelMilliwatts = "dBm"
    }

    var name: String { "tryck_" + rawValue }

    /// The meaning is a sentence without its full stop, on one line.
    var described: (kind: Kind, unit: Unit, labels: [String], meaning: String) {
        switch self {
        case .up: (.gauge, .truth, [], "Whether the daemon runs; 0 after it was stopped properly")
        case .buildInfo: (.gauge, .truth, ["version", "commit"], "Always 1; the labels say what runs")
        case .startTime: (.gauge, .seconds, [], "When the daemon was started, since 1970 in UTC")
        case .adapterUp: (.gauge, .truth, [], "Whether the Bluetooth adapter, or one of several radios, is ready")
        case .adapterResets: (.counter, .count, [], "How often the adapter was lost after it had been ready")
        case .radioUp: (.gauge, .truth, ["radio"], "Whether the radio is ready")
        case .radioResets: (.counter, .count, ["radio"], "How often the radio was lost after it had been ready")
        case .radioLinks: (.gauge, .count, ["radio"], "Buttons that are connected through the radio")
        case .radioLinksLimit:
            (.gauge, .count, ["radio"], "How many buttons the radio can connect, as far as it is known")
        case .radioConnect:
            (
                .histogram, .seconds, ["radio"],
                "How long connections took, until the notifications of the button were on"
            )
        case .radioConnectFailures: (.counter, .count, ["radio", "reason"], "Connections that failed")
        case .radioLostNotifications:
            (.counter, .count, ["radio"], "How often a packet of a button was lost on the way, and was sent again")
        case .brokerUp: (.gauge, .truth, [], "Whether the broker is connected")
        case .brokerMalformedPackets:
            (.counter, .count, [], "Packets of the broker that broke the protocol; MQTT 3.1.1 is used after one")
        case .messagesPublished:
            (.counter, .count, [], "Messages that the broker accepted, without those of bridge/logging")
        case .messagesFailed:
            (.counter, .count, [], "Messages given up: too late, too many, refused, or there is no broker")
        case .messagesWaiting: (.gauge, .count, [], "Messages that wait for the broker")
        case .uplinkUp: (.gauge, .truth, [], "Whether a site is connected to the broker of its engine")
        case .uplinkEventsWaiting: (.gauge, .count, [], "Events of a site that no engine has claimed")
        case .uplinkEventsDropped:
            (.counter, .count, [], "Events of a site that were dropped before an engine claimed them")
        case .engineLeading: (.gauge, .truth, [], "Whether this engine leads, and so acts on presses of sites")
        case .engineSites: (.gauge, .count, [], "Sites of an engine that are connected")
        case .engineEventsInterrupted:
            (.counter, .count, [], "Events of sites that an engine has reported as interrupted")
        case .engineEventsLost: (.counter, .count, [], "Events of sites that their journals have lost")
        case .flicdUp: (.gauge, .truth, [], "Whether flicd clients are served")
        case .flicdClients: (.gauge, .count, [], "Connected flicd clients")
        case .flicdChannels: (.gauge, .count, [], "Connection channels that flicd clients have opened")
        case .flicdFramesIgnored: (.counter, .count, [], "Frames from flicd clients that are not valid commands")
        case .storeFault: (.gauge, .truth, [], "Whether the state directory cannot be written")
        case .rulesFault: (.gauge, .truth, [], "Whether the rules in use are not those on disk")
        case .rules: (.gauge, .count, [], "Rules that are loaded")
        case .ruleOutcomes:
            (.counter, .count, ["rule", "outcome"], "Outcomes of the rule, as in rules/ID/stats over MQTT")
        case .ruleConditionErrors: (.counter, .count, ["rule"], "Conditions that could not be evaluated")
        case .eventsStale: (.counter, .count, [], "Gestures that were too old to trigger rules")
        case .buttons: (.gauge, .count, [], "Buttons that are paired")
        case .buttonsReady: (.gauge, .count, [], "Buttons that are connected and verified")
        case .buttonConnected: (.gauge, .truth, Self.ofButton, "Whether the button is connected and verified")
        case .buttonRadioChanges:
            (.counter, .count, Self.ofButton, "How often another radio than before connected the button")
        case .buttonPresses:
            (.counter, .count, Self.ofButton, "Presses since the button was paired, including those before restarts")
        case .buttonMissedPresses:
            (.counter, .count, Self.ofButton, "Presses that never arrived here; another program may have received them")
        case .buttonLastSeen: (.gauge, .seconds, Self.ofButton, "When the button was last seen, since 1970 in UTC")
        case .buttonBatteryVoltage: (.gauge, .volts, Self.ofButton, "The battery voltage that was measured last")
        case .buttonBatteryRatio:
            (.gauge, .ratio, Self.ofButton, "The remaining charge of the battery, a rough estimate")
        case .buttonBatteryLow:
            (.gauge, .truth, Self.ofButton, "Whether the battery is low: below 2.65 V, until above 2.75 V")
        case .buttonSignal:
            (.gauge, .decibelMilliwatts, Self.ofButton, "The signal strength that the adapter measured last")
        }
    }

    /// Names of buttons are neither unique nor constant; `id` is both.
    static let ofButton = ["button", "id"]
}
