import ButtonModel
import Buttons
import MQTTTopics

/// The state of one known button while the program runs. The members of `stored` are members of the record.
@dynamicMemberLookup
struct ButtonRecord: Hashable, Sendable {
    /// The stored values, changed since. `syncedCursor`, `publishWatermark`, `lastSeen` and `recogniser` remain as they were
    /// at the start.
    var stored: StoredButton
    /// The dials have moved since their positions were recorded.
    var hasUnrecordedDials = false
    var watermark: PublishWatermark
    var state = ButtonState.disconnected
    /// When this process last heard of the button. The wall time of that instant may become known later.
    private(set) var lastSeen: Instant?
    /// `lastSeen` is not recorded.
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

    mutating func wasSeen(at now: Instant) {
        lastSeen = now
        hasUnrecordedSighting = true
    }

    mutating func countPress() { stored.pressCount = stored.pressCount.next }

    /// - Parameter messageCount: the number of messages whose end is awaited.
    mutating func giveOutNumber(messageCount: Int) {
        stored.sequence = stored.sequence.next
        watermark.opened(stored.sequence.value, messageCount: messageCount)
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

    var displayName: String { stored.displayName }

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

    /// A Twist chooses its connection parameters itself.
    var latencyMode: LatencyMode? { stored.identity.model == .twist ? nil : stored.settings.latencyMode }
}
