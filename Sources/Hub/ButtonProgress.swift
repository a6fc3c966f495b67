import ButtonModel
import Gestures

/// The part of a button's record that a press changes. A press that is looked at before it is handled copies only this part, because a
/// copy of the whole record copies all of its texts.
struct ButtonProgress: Hashable, Sendable {
    let button: ButtonID
    /// The cursor up to which its events were handled.
    var cursor: EventCursor
    private(set) var pressCount: Tally
    /// The number of the last event that messages are about.
    private(set) var sequence: Tally
    private(set) var watermark: PublishWatermark
    /// When this process last heard of the button.
    private(set) var lastSeen: Instant?
    /// True if `lastSeen` is not recorded.
    private(set) var hasUnrecordedSighting: Bool

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
        if case .down = event.kind { pressCount = pressCount.next }
        guard let kind else { return }
        sequence = sequence.next
        watermark.opened(sequence.value, messageCount: isAwaited ? kind.messageCount : 0)
    }

    /// Returns the record of everything that was handled so far, which counts as recorded from now on.
    ///
    /// - Parameter recogniser: the button's undecided press train.
    mutating func take(recogniser: String, wallClock: BelievableClock) -> StoreChange {
        let acknowledged = watermark.acknowledgedSequence(of: sequence.value)
        watermark.recorded = acknowledged
        return .progress(
            button, cursor, recogniser: recogniser, pressCount: pressCount, sequence: sequence,
            publishWatermark: acknowledged, seen: takeSighting(wallClock: wallClock))
    }

    /// When the button was last heard of, unless that is recorded; it counts as recorded from now on.
    mutating func takeSighting(wallClock: BelievableClock) -> UTCTime? {
        guard hasUnrecordedSighting, let seen = lastSeen, let time = wallClock(seen) else { return nil }
        hasUnrecordedSighting = false
        return time
    }
}
