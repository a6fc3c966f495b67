package import ButtonModel
package import Rules

/// The stored state when the process started.
///
/// The hub decides what to store and emits it as `StoreChange`s. `StoreEdge` decides how to store it.
package struct StoredState: Hashable, Sendable {
    /// Four lower-case hexadecimal digits, drawn once for each state directory. They distinguish bridges that share a broker.
    package var installationID: String
    /// The number of the next run. It is larger than those of all earlier runs.
    package var nextRun: UInt64
    /// In the order of their ids.
    package var buttons: [StoredButton]
    /// The runs that had started and not ended, because the process ended first. In the order of their ids.
    package var runs: [StoredRun]
    /// Variables, positions of cycles, rules that were enabled or disabled, and runs that wait.
    package var rules: RuleState
    /// The state of the feeds of an engine or a site.
    package var feed = StoredFeed()

    package init(
        installationID: String, nextRun: UInt64 = 1, buttons: [StoredButton] = [], runs: [StoredRun] = [],
        rules: RuleState = RuleState()
    ) {
        self.installationID = installationID
        self.nextRun = nextRun
        self.buttons = buttons
        self.runs = runs
        self.rules = rules
    }
}

/// A known button. Its pairing key is secret, and its description does not contain the key.
package struct StoredButton: Hashable, Sendable {
    package var identity: ButtonIdentity
    /// The name set by `button/rename`; `nil` if the nickname or serial number is shown.
    package var name: String?
    /// `nil` for a button of a flicd, which keeps the pairing; see `source`.
    package var pairing: Pairing?
    /// The URL of the flicd from which the button comes; `nil` for a button of the own adapter.
    package var source: String?
    package var pairedAt: UTCTime
    /// The cursor up to which its events were recorded.
    package var cursor: EventCursor
    /// The cursor up to which its events are synced, if that is less than `cursor`, because a start that could not write the
    /// database took the rest from a reserve; `nil` if it is the same. The button must keep the events between the two.
    package var syncedCursor: EventCursor?
    /// True if the button has taken the bridge's advertising settings since the boot that `cursor` names.
    package var isAdvertisingConfigured: Bool
    /// The voltage that was measured last.
    package var batteryMillivolts: Int?
    /// The percentage that a flicd reported, 0…100. A flicd does not report voltages.
    package var batteryPercentage: Int?
    package var batteryMeasuredAt: UTCTime?
    /// Empty for a button of a flicd.
    package var batteryTrend = BatteryTrend()
    /// The number of its presses.
    package var pressCount: Tally
    /// The number of the last event that was published.
    package var sequence: Tally
    /// The number up to which the broker has acknowledged all of its messages, or the hub has given them up; see
    /// `PublishWatermark`. The database, reserves and recordings call it `heard`.
    package var publishWatermark: Int64
    /// The trigger mode that a user has set; `nil` if it follows from the rules.
    package var triggerMode: TriggerMode?
    package var settings: ButtonSettings
    /// The positions of its dials, 0…`Dial.unitsPerTurn`.
    package var dials: [Dial: Int]
    /// The state of its `BatteryAlarm`.
    package var isBatteryLow: Bool
    /// The last contact with the button that was recorded.
    package var lastSeen: UTCTime?
    /// The name of the radio that looks for it; `nil` if there never were several, or it comes from a flicd.
    package var home: String?
    /// The undecided press train, encoded by the recogniser; empty if there is none.
    package var recogniser: String

    package var id: ButtonID { identity.id }

    /// The name set by `button/rename`, else the nickname, else the serial number, else the id, because a flicd may know none
    /// of these.
    package var displayName: String {
        if let name { return name }
        if !identity.nickname.isEmpty { return identity.nickname }
        return identity.serial.isEmpty ? identity.id.description : identity.serial
    }

    /// - Parameter publishWatermark: `nil` if all messages up to `sequence` were published.
    package init(
        identity: ButtonIdentity, name: String? = nil, pairing: Pairing?, source: String? = nil, pairedAt: UTCTime,
        cursor: EventCursor = EventCursor(), isAdvertisingConfigured: Bool = false,
        batteryMillivolts: Int? = nil, batteryPercentage: Int? = nil, batteryMeasuredAt: UTCTime? = nil,
        pressCount: Tally = 0, sequence: Tally = 0,
        publishWatermark: Int64? = nil, triggerMode: TriggerMode? = nil, settings: ButtonSettings = ButtonSettings(),
        dials: [Dial: Int] = [:], isBatteryLow: Bool = false, lastSeen: UTCTime? = nil, home: String? = nil,
        recogniser: String = ""
    ) {
        self.identity = identity
        self.name = name
        self.pairing = pairing
        self.source = source
        self.pairedAt = pairedAt
        self.cursor = cursor
        self.isAdvertisingConfigured = isAdvertisingConfigured
        self.batteryMillivolts = batteryMillivolts
        self.batteryPercentage = batteryPercentage
        self.batteryMeasuredAt = batteryMeasuredAt
        self.pressCount = pressCount
        self.sequence = sequence
        self.publishWatermark = publishWatermark ?? sequence.value
        self.triggerMode = triggerMode
        self.settings = settings
        self.dials = dials
        self.isBatteryLow = isBatteryLow
        self.lastSeen = lastSeen
        self.home = home
        self.recogniser = recogniser
    }
}

/// A run that has not ended, and the event that started it.
package struct StoredRun: Hashable, Sendable {
    /// Ids are not reused.
    package var id: UInt64
    /// The id of its rule.
    package var rule: String
    /// `nil` if the run was requested.
    package var button: ButtonID?
    package var event: EventCursor
    package var startedAt: UTCTime

    package init(id: UInt64, rule: String, button: ButtonID?, event: EventCursor, startedAt: UTCTime) {
        self.id = id
        self.rule = rule
        self.button = button
        self.event = event
        self.startedAt = startedAt
    }
}

/// A change of the stored state. Changes that are recorded together are applied together or not at all.
///
/// Each case contains the final value, so that applying a change twice has no further effect. A change of a button that is
/// not stored has no effect, because the button may have been removed in the same transaction.
///
/// Large values are stored indirectly, because each press moves its changes several times.
package enum StoreChange: Hashable, Sendable {
    /// Adds the button, or replaces everything that is stored of it.
    indirect case putButton(StoredButton)
    /// Removes the button. Its runs remain until they end.
    case removeButton(ButtonID)
    /// The record of events: the counters and the undecided press train after them. A new boot id also resets
    /// `isAdvertisingConfigured`, which lasts for one boot. Without `seen` the stored `lastSeen` remains.
    case progress(
        ButtonID, EventCursor, recogniser: String, pressCount: Tally, sequence: Tally, publishWatermark: Int64,
        seen: UTCTime? = nil)
    case publishWatermark(ButtonID, Int64)
    /// Adds the run, and makes `nextRun` larger than its id.
    case runStarted(StoredRun)
    case runEnded(UInt64)
    indirect case rules(RuleStateChange)
    case battery(ButtonID, millivolts: Int, measuredAt: UTCTime, isLow: Bool)
    case batteryPercentage(ButtonID, Int, measuredAt: UTCTime, isLow: Bool)
    indirect case settings(ButtonID, ButtonSettings)
    case fact(ButtonID, StoredFact)
    indirect case feed(FeedChange)
}

/// The place where changes are while the database cannot record them.
package enum RecordRefuge: String, CaseIterable, Hashable, Sendable {
    /// The reserve in the state directory. A sync brings it to the disk together with the database.
    case disk
    /// The reserve in the runtime directory, or that in the state directory while the database's log cannot be synced. The
    /// changes survive the end of the process, but perhaps not a power cut.
    case memory
    /// The memory of the process. If the process ends, the next one handles the events of these changes again.
    case nowhere

    /// The consequence for presses; the end of a sentence about the fault.
    package var consequence: String {
        switch self {
        case .disk: "until then presses are handled and recorded in \"tryck.reserve\""
        case .memory: "until then presses are handled, and the buttons store them as well"
        case .nowhere: "until then presses are not handled, and the buttons store them"
        }
    }
}
