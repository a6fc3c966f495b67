import ButtonModel
import Buttons

/// All that is known of one paired button while the program runs.
struct ButtonRecord: Hashable, Sendable {
    var identity: ButtonIdentity
    var name: String?
    /// Ours with the button; of a button that comes from a flicd there is none.
    var pairing: Pairing?
    /// As the configuration calls it; `nil`: our own adapter.
    var source: String?
    var pairedAt: UTCTime
    var cursor: EventCursor
    /// `StoredButton.syncedCursor`, as it was at the start.
    let startedBehind: EventCursor?
    var isAdvertisingConfigured: Bool
    var batteryMillivolts: Int?
    /// As a flicd told it.
    var toldBatteryPercentage: Int?
    var batteryMeasuredAt: UTCTime?
    var pressCount: Tally
    var sequence: Tally
    var watermark: PublishWatermark
    /// What was set at run time; the rules may fix another.
    var triggerMode: TriggerMode?
    var settings: ButtonSettings
    /// Where its dials stand, 0…`Dial.unitsPerTurn`.
    var dials: [Dial: Int]
    /// They have moved since that was written down.
    var hasUnrecordedDials = false
    var batteryAlarm: BatteryAlarm
    /// The press train that was undecided when the program stopped.
    let restoredTrain: String
    var state = ButtonState.disconnected
    /// In this process. A clock that is set later says when that was.
    private(set) var lastSeen: Instant?
    /// By the process before.
    let seenBefore: UTCTime?
    /// `lastSeen` is not on file.
    var hasUnrecordedSighting = false
    /// As the adapter last heard it, in dBm; it stays when the link ends.
    var rssi: Int?
    /// 0…100 while firmware is on its way.
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

    /// What `Buttons` needs of it; `nil`: it comes from elsewhere.
    var known: KnownButton? {
        guard let pairing else { return nil }
        return KnownButton(
            identity: identity, pairing: pairing, cursor: startedBehind ?? cursor,
            delivered: startedBehind == nil ? nil : cursor, advertisingConfigured: isAdvertisingConfigured,
            settings: settings,
            dials: dials)
    }

    /// What `rename` set, else the nickname, else the serial. A flicd may know neither: then its id.
    var displayName: String {
        if let name { return name }
        if !identity.nickname.isEmpty { return identity.nickname }
        return identity.serial.isEmpty ? identity.id.description : identity.serial
    }

    /// 0…100.
    var batteryPercentage: Int? { batteryMillivolts.map(Battery.percentage) ?? toldBatteryPercentage }
}
