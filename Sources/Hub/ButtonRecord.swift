import ButtonModel
import Buttons
import MQTTTopics

/// The state of one known button while the program runs.
struct ButtonRecord: Hashable, Sendable {
    var identity: ButtonIdentity
    var name: String?
    /// `nil` for a button that comes from a flicd.
    var pairing: Pairing?
    /// The URL of the flicd from which the button comes; `nil` for a button of the own adapter.
    var source: String?
    var pairedAt: UTCTime
    var cursor: EventCursor
    /// The value of `StoredButton.syncedCursor` at the start.
    let startedBehind: EventCursor?
    var isAdvertisingConfigured: Bool
    var batteryMillivolts: Int?
    /// The percentage that a flicd reported, 0…100.
    var toldBatteryPercentage: Int?
    var batteryMeasuredAt: UTCTime?
    var pressCount: Tally
    var sequence: Tally
    var watermark: PublishWatermark
    /// The trigger mode that a user has set at run time. The rules may fix another.
    var triggerMode: TriggerMode?
    var settings: ButtonSettings
    /// The positions of its dials, 0…`Dial.unitsPerTurn`.
    var dials: [Dial: Int]
    /// The dials have moved since their positions were recorded.
    var hasUnrecordedDials = false
    var batteryAlarm: BatteryAlarm
    /// The press train that was undecided when the program stopped.
    let restoredTrain: String
    var state = ButtonState.disconnected
    /// When this process last heard of the button. The wall time of that instant may become known later.
    private(set) var lastSeen: Instant?
    /// When an earlier process last heard of the button.
    let seenBefore: UTCTime?
    /// `lastSeen` is not recorded.
    var hasUnrecordedSighting = false
    /// The signal strength that the adapter measured last, in dBm. It is kept when the link ends.
    var rssi: Int?
    /// The progress of a firmware update, 0…100; `nil` without one.
    var updatePercentage: Int?

    init(_ stored: StoredButton) {
        identity = stored.identity
        name = stored.name
        pairing = stored.pairing
        source = stored.source
        pairedAt = stored.pairedAt
        cursor = stored.cursor
        startedBehind = stored.syncedCursor
        isAdvertisingConfigured = stored.isAdvertisingConfigured
        batteryMillivolts = stored.batteryMillivolts
        toldBatteryPercentage = stored.batteryPercentage
        batteryMeasuredAt = stored.batteryMeasuredAt
        pressCount = stored.pressCount
        sequence = stored.sequence
        watermark = PublishWatermark(recorded: min(max(0, stored.heard), stored.sequence.value))
        triggerMode = stored.triggerMode
        settings = stored.settings
        dials = stored.dials
        batteryAlarm = BatteryAlarm(isLow: stored.isBatteryLow)
        seenBefore = stored.lastSeen
        restoredTrain = stored.recogniser
    }

    mutating func wasSeen(at now: Instant) {
        lastSeen = now
        hasUnrecordedSighting = true
    }

    mutating func countPress() { pressCount = pressCount.next }

    /// - Parameter messageCount: the number of messages whose end is awaited.
    mutating func giveOutNumber(messageCount: Int) {
        sequence = sequence.next
        watermark.opened(sequence.value, messageCount: messageCount)
    }

    /// The largest sequence number up to which all messages are published or given up.
    var acknowledgedSequence: Int64 { watermark.acknowledgedSequence(of: sequence.value) }
    var hasUnrecordedWatermark: Bool { acknowledgedSequence != watermark.recorded }

    /// The facts that `ButtonManager` needs; `nil` for a button that comes from a flicd.
    var known: KnownButton? {
        guard let pairing else { return nil }
        return KnownButton(
            identity: identity, pairing: pairing, cursor: startedBehind ?? cursor,
            deliveredBeforeStart: startedBehind == nil ? nil : cursor, advertisingConfigured: isAdvertisingConfigured,
            settings: settings,
            dials: dials)
    }

    /// The name set by `button/rename`, else the nickname, else the serial number, else the id, because a flicd may know none
    /// of these.
    var displayName: String {
        if let name { return name }
        if !identity.nickname.isEmpty { return identity.nickname }
        return identity.serial.isEmpty ? identity.id.description : identity.serial
    }

    /// The percentage derived from the voltage, or reported by a flicd; 0…100.
    var batteryPercentage: Int? { batteryMillivolts.map(Battery.percentage) ?? toldBatteryPercentage }
}

extension ButtonRecord {
    /// The positions of all its dials in percent, in the order of `Dial.all`.
    var positions: [DialPosition] {
        Dial.all(of: identity.model).map { DialPosition($0, percentage: Dial.percentage(units: dials[$0] ?? 0)) }
    }

    /// A Twist chooses its connection parameters itself.
    var latencyMode: LatencyMode? { identity.model == .twist ? nil : settings.latencyMode }
}
