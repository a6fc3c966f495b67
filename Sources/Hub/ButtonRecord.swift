import ButtonModel
import Buttons
import Gestures
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

    mutating func wasSeen(at now: Instant) {
        lastSeen = now
        hasUnrecordedSighting = true
    }

    /// Counts an event, and gives it its sequence number if messages about it are published.
    ///
    /// - Parameters:
    ///   - kind: the kind of its messages; `nil` if there are none.
    ///   - isAwaited: whether the end of the messages is awaited.
    mutating func count(_ event: RecognisedEvent, _ kind: Hub.Reports.Message.Kind?, isAwaited: Bool) {
        if event.kind == .down { countPress() }
        if let kind { giveOutNumber(messageCount: isAwaited ? kind.messageCount : 0) }
    }

    private mutating func countPress() { stored.pressCount = stored.pressCount.next }

    /// - Parameter messageCount: the number of messages whose end is awaited.
    private mutating func giveOutNumber(messageCount: Int) {
        stored.sequence = stored.sequence.next
        watermark.opened(stored.sequence.value, messageCount: messageCount)
    }

    /// Returns the record of everything that was handled so far, which counts as recorded from now on.
    ///
    /// - Parameters:
    ///   - recogniser: the button's undecided press train.
    ///   - wallClock: the wall time of an instant; `nil` if the clock is not believable.
    mutating func takeProgress(recogniser: String, wallClock: (Instant) -> UTCTime?) -> StoreChange {
        let acknowledged = acknowledgedSequence
        watermark.recorded = acknowledged
        return .progress(
            stored.identity.id, stored.cursor, recogniser: recogniser, pressCount: stored.pressCount,
            sequence: stored.sequence, publishWatermark: acknowledged, seen: takeSighting(wallClock: wallClock))
    }

    /// When the button was last heard of, unless that is recorded; it counts as recorded from now on.
    ///
    /// - Parameter wallClock: the wall time of an instant; `nil` if the clock is not believable.
    mutating func takeSighting(wallClock: (Instant) -> UTCTime?) -> UTCTime? {
        guard hasUnrecordedSighting, let seen = lastSeen, let time = wallClock(seen) else { return nil }
        hasUnrecordedSighting = false
        return time
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
