import ButtonModel
import Buttons
import MQTTTopics

/// The state of one known button while the program runs. The members of `stored` are members of the record.
@dynamicMemberLookup
struct ButtonRecord: Hashable, Sendable {
    /// The stored values, changed since. `syncedCursor`, `publishWatermark`, `lastSeen` and `recogniser` remain as they were
    /// at the start.
    var stored: StoredButton
    /// True if a dial has moved since the positions were recorded.
    var hasUnrecordedDials = false
    var watermark: PublishWatermark
    /// The name of the button in the rules; `nil` if they do not name it.
    var ruleName: String?
    var state = ButtonState.disconnected
    /// When this process last heard of the button. The wall time of that instant may become known later.
    private(set) var lastSeen: Instant?
    /// True if `lastSeen` is not recorded.
    var hasUnrecordedSighting = false
    /// The signal strength that the adapter measured last, in dBm. It is kept when the link ends.
    var rssi: Int?
    /// The progress of a firmware update, 0…100; `nil` without one.
    var updatePercentage: Int?

    init(_ stored: StoredButton) {
        self.stored = stored
        watermark = PublishWatermark(recorded: min(max(0, stored.publishWatermark), stored.sequence.value))
    }

    subscript<Value>(dynamicMember path: WritableKeyPath<StoredButton, Value>) -> Value {
        get { stored[keyPath: path] }
        set { stored[keyPath: path] = newValue }
    }

    /// The part that a press changes.
    var progress: ButtonProgress {
        get {
            ButtonProgress(
                button: stored.identity.id, cursor: stored.cursor, pressCount: stored.pressCount,
                sequence: stored.sequence, watermark: watermark, lastSeen: lastSeen,
                hasUnrecordedSighting: hasUnrecordedSighting)
        }
        set {
            stored.cursor = newValue.cursor
            stored.pressCount = newValue.pressCount
            stored.sequence = newValue.sequence
            watermark = newValue.watermark
            lastSeen = newValue.lastSeen
            hasUnrecordedSighting = newValue.hasUnrecordedSighting
        }
    }

    /// - Returns: whether the dial was in another position.
    mutating func dialMoved(_ dial: Dial, to units: Int) -> Bool {
        guard stored.dials[dial] != units else { return false }
        stored.dials[dial] = units
        hasUnrecordedDials = true
        return true
    }

    /// The largest sequence number up to which all messages are published or given up.
    var acknowledgedSequence: Int64 { watermark.acknowledgedSequence(of: stored.sequence.value) }
    var hasUnrecordedWatermark: Bool { acknowledgedSequence != watermark.recorded }

    /// The facts that `ButtonManager` needs; `nil` for a button that comes from a flicd.
    var known: KnownButton? {
        guard let pairing = stored.pairing else { return nil }
        return KnownButton(
            identity: stored.identity, pairing: pairing, cursor: stored.syncedCursor ?? stored.cursor,
            deliveredBeforeStart: stored.syncedCursor == nil ? nil : stored.cursor,
            advertisingConfigured: stored.isAdvertisingConfigured, settings: stored.settings, dials: stored.dials)
    }

    /// The name set by `button/rename`, else the name in the rules, else those of `StoredButton.displayName`.
    var displayName: String { stored.name ?? ruleName ?? stored.displayName }

    /// The percentage derived from the voltage, or reported by a flicd; 0…100.
    var batteryPercentage: Int? { stored.batteryMillivolts.map(Battery.percentage) ?? stored.batteryPercentage }
}

extension ButtonRecord {
    /// The positions of all its dials in percent, in the order of `Dial.all`.
    var positions: [DialPosition] {
        Dial.all(of: stored.identity.model).map {
            DialPosition($0, percentage: Dial.percentage(units: stored.dials[$0] ?? 0))
        }
    }

    /// `nil` if the model chooses its connection parameters itself.
    var latencyMode: LatencyMode? { stored.identity.model.hasConnectionSettings ? stored.settings.latencyMode : nil }
}
