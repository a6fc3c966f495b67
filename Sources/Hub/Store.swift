package import ButtonModel
package import Rules

/// What outlives the process, as it was when the process started.
///
/// The hub decides what is worth keeping and says so as `StoreChange`s; how it is kept is the business of an edge.
package struct StoredState: Hashable, Sendable {
    /// Four lower-case hexadecimal digits, drawn once in the life of a state directory. It tells two bridges
    /// on one broker apart.
    package var installationID: String
    /// The number of the next run; larger than that of every run there ever was.
    package var nextRun: UInt64
    /// In the order of their ids.
    package var buttons: [StoredButton]
    /// The runs that had started and not ended: a crash cut them off. In the order of their ids.
    package var runs: [StoredRun]
    /// Variables, positions of cycles, what was switched on or off, and runs that wait.
    package var rules: RuleState

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

/// A paired button. Its pairing key is the one secret here, and never prints itself.
package struct StoredButton: Hashable, Sendable {
    package var identity: ButtonIdentity
    /// What `rename` set. `nil`: the nickname, else the serial.
    package var name: String?
    /// `nil`: a flicd has it, and keeps it; see `source`.
    package var pairing: Pairing?
    /// The flicd that the button comes from, as the configuration calls it; `nil`: our own adapter.
    package var source: String?
    package var pairedAt: UTCTime
    /// Up to where its events were recorded.
    package var cursor: EventCursor
    /// Up to where they are on the disk, if that is less: a start that could not write the database took the rest from a
    /// reserve. `nil`: as far as `cursor`. The button must keep what lies between the two.
    package var syncedCursor: EventCursor?
    /// The button took our advertising settings since the boot that `cursor` names.
    package var isAdvertisingConfigured: Bool
    /// As last measured, and when.
    package var batteryMillivolts: Int?
    /// As a flicd told it, which knows no voltage.
    package var batteryPercentage: Int?
    package var batteryMeasuredAt: UTCTime?
    /// How often it went down.
    package var pressCount: Tally
    /// The number of the last event that was published.
    package var sequence: Tally
    /// Up to this number all of them were heard, or given up.
    package var heard: Int64
    /// `nil`: derived from the rules.
    package var triggerMode: TriggerMode?
    package var settings: ButtonSettings
    /// Where its dials stood, 0…`Dial.unitsPerTurn`.
    package var dials: [Dial: Int]
    /// As `BatteryAlarm` has it.
    package var isBatteryLow: Bool
    /// When it was last heard of, as far as that was written down.
    package var lastSeen: UTCTime?
    /// The press train that is still undecided, in the recogniser's own notation; empty when there is none.
    package var recogniser: String

    package var id: ButtonID { identity.id }

    /// - Parameter heard: `nil`: all of them.
    package init(
        identity: ButtonIdentity, name: String? = nil, pairing: Pairing?, source: String? = nil, pairedAt: UTCTime,
        cursor: EventCursor = EventCursor(), isAdvertisingConfigured: Bool = false,
        batteryMillivolts: Int? = nil, batteryPercentage: Int? = nil, batteryMeasuredAt: UTCTime? = nil,
        pressCount: Tally = 0, sequence: Tally = 0,
        heard: Int64? = nil, triggerMode: TriggerMode? = nil, settings: ButtonSettings = ButtonSettings(),
        dials: [Dial: Int] = [:], isBatteryLow: Bool = false, lastSeen: UTCTime? = nil, recogniser: String = ""
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
        self.heard = heard ?? sequence.value
        self.triggerMode = triggerMode
        self.settings = settings
        self.dials = dials
        self.isBatteryLow = isBatteryLow
        self.lastSeen = lastSeen
        self.recogniser = recogniser
    }
}

/// A run of a rule that is going, and the event that started it.
package struct StoredRun: Hashable, Sendable {
    /// Never used again.
    package var id: UInt64
    /// The rule's id in the rule files.
    package var rule: String
    /// `nil`: nobody pressed anything; it was asked for.
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

/// One thing to keep. What is recorded together is applied together or not at all.
///
/// Each case says a final value, so applying one twice changes nothing. A change of a button that is not stored
/// changes nothing either: it may have been removed in the same breath.
package enum StoreChange: Hashable, Sendable {
    /// Adds the button, or replaces all that is kept of it.
    case putButton(StoredButton)
    /// The button's runs stay until they end.
    case removeButton(ButtonID)
    /// The record of an event: what was counted, and the press train it left undecided. A new boot id also
    /// takes back `isAdvertisingConfigured`, which lasts for one boot. Without `seen` the time that is on file stays.
    case progress(
        ButtonID, EventCursor, recogniser: String, pressCount: Tally, sequence: Tally, heard: Int64,
        seen: UTCTime? = nil)
    /// When the button was last heard of, where no event says so.
    case seen(ButtonID, UTCTime)
    case heard(ButtonID, Int64)
    /// `nextRun` is beyond this run from here on.
    case runStarted(StoredRun)
    case runEnded(UInt64)
    case rules(RuleStateChange)
    case advertisingConfigured(ButtonID, Bool)
    case battery(ButtonID, millivolts: Int, measuredAt: UTCTime, isLow: Bool)
    case batteryPercentage(ButtonID, Int, measuredAt: UTCTime, isLow: Bool)
    case firmware(ButtonID, version: UInt32)
    case model(ButtonID, FlicModel)
    case nickname(ButtonID, String)
    case name(ButtonID, String?)
    /// Of a button that came from another flicd until now.
    case source(ButtonID, String)
    case triggerMode(ButtonID, TriggerMode?)
    case settings(ButtonID, ButtonSettings)
    /// Of all its dials that ever moved.
    case dials(ButtonID, [Dial: Int])
}

/// Where a record is that the database would not take, until it does.
package enum RecordRefuge: String, CaseIterable, Hashable, Sendable {
    /// In a file that a sync brings to the disk, as it does a record in the database.
    case disk
    /// In a file that the end of the process leaves, and a power cut may not.
    case memory
    /// Nowhere but in the process: after its end, what the record says would happen again.
    case nowhere

    /// What becomes of presses meanwhile; the end of a sentence about what is wrong.
    package var consequence: String {
        switch self {
        case .disk: "until then presses are handled and recorded in \"tryck.reserve\""
        case .memory: "until then presses are handled, and the buttons store them as well"
        case .nowhere: "until then presses are not handled, and the buttons store them"
        }
    }
}
