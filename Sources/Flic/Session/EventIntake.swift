import ButtonModel

/// Decides which events of a button are new, and gives them their boot id, counter and age.
///
/// An event is new if its counter is above that of the last delivered event. It is not compared with the last event on the disk,
/// because a button repeats events that were delivered and are not on the disk yet. It is not compared with the event count in the
/// init response either, because the exact meaning of that number is not known.
///
/// A live event may be delayed on a bad link, where a packet is repeated until the supervision timeout. An event that
/// is late by the button's own clock is reported as queued, like a stored event.
struct EventIntake: Sendable {
    let button: ButtonID
    /// The last delivered events. The counters never decrease within a boot id.
    private(set) var cursor: EventCursor
    /// The counters of the last new events since the boot; a Duo's small button has its own.
    private var processedCount, processedSmallCount: UInt32
    /// The button's clock at the init response, in ticks. The ages of stored events are relative to it.
    private var clock: UInt64 = 0
    /// The instant of the recent packet with the shortest delay, by the button's clock and by the host's clock.
    private var reference: (ticks: UInt64, at: Instant)?

    /// The delay above which a live event is reported as queued.
    static let maximumLiveDelay: Duration = .seconds(1)
    /// The reciprocal of the permitted drift between the two clocks: 500 ppm, the most that Bluetooth allows (Core 5.3,
    /// Vol 6, Part B, 4.2.2).
    private static let drift: Int64 = 2000

    init(button: ButtonID, cursor: EventCursor) {
        self.button = button
        self.cursor = cursor
        processedCount = cursor.eventCount
        processedSmallCount = cursor.smallEventCount
    }

    /// Handles the init response, with the event count of a Duo's small button.
    ///
    /// - Returns: whether the button has rebooted since the last session.
    mutating func begin(
        with response: ButtonPacket.InitButtonEventsResponse, smallEventCount: UInt32 = 0, at now: Instant
    ) -> Bool {
        clock = response.ticks
        reference = (clock, now)
        guard let bootID = response.bootID, bootID != cursor.bootID else { return false }
        processedCount = 0
        processedSmallCount = 0
        // Without stored events, all events up to the count are past; stored events may have lower counters.
        cursor = EventCursor(bootID: bootID)
        if !response.hasQueuedEvents {
            cursor.eventCount = response.eventCount
            cursor.smallEventCount = smallEventCount
        }
        return true
    }

    /// The new events of a notification, in order.
    mutating func receive(_ notification: EventNotification, at now: Instant) -> [ButtonEvent] {
        notification.countedItems.compactMap { counter, item in
            accept(
                ButtonEvent(
                    button: button, bootID: cursor.bootID, counter: counter, step: item.code.step, ticks: item.ticks,
                    wasQueued: item.wasQueued, wasQueuedLast: item.wasQueuedLast), at: now)
        }
    }

    /// Adds the age to an event from a notification; `nil` if the event is not new.
    mutating func accept(_ reported: ButtonEvent, at now: Instant) -> ButtonEvent? {
        if reported.part == .small {
            guard reported.counter > processedSmallCount else { return nil }
            processedSmallCount = reported.counter
            cursor.smallEventCount = max(cursor.smallEventCount, reported.counter)
        } else {
            guard reported.counter > processedCount else { return nil }
            processedCount = reported.counter
            cursor.eventCount = max(cursor.eventCount, reported.counter)
        }
        var event = reported
        let delay = reported.wasQueued ? .zero : delay(of: reported.ticks, at: now)
        let stored = reported.wasQueued && clock > reported.ticks ? Duration(ticks: clock - reported.ticks) : .zero
        event.wasQueued = reported.wasQueued || delay > .zero
        event.age = max(stored, delay)
        return event
    }

    /// The minimum delay of a live event on the link; zero unless it exceeds `maximumLiveDelay`.
    private mutating func delay(of ticks: UInt64, at now: Instant) -> Duration {
        guard let reference, ticks >= reference.ticks, now > reference.at else { return .zero }
        // In nanoseconds, because a division of `Duration`s takes ten times as long as the rest.
        let elapsed = now.nanoseconds(since: reference.at)
        let delay = .nanoseconds(elapsed - elapsed / Self.drift) - Duration(ticks: ticks - reference.ticks)
        if delay <= .zero { self.reference = (ticks, now) }
        return delay > Self.maximumLiveDelay ? delay : .zero
    }
}

extension Duration {
    /// - Parameter ticks: 1/32768 s each; at most 48 bits.
    fileprivate init(ticks: UInt64) {
        let ticks = Int64(ticks & 0xFFFF_FFFF_FFFF)
        // 10¹⁸ is a multiple of 2¹⁵, so a tick is a whole number of attoseconds.
        self.init(
            secondsComponent: ticks / 32_768,
            attosecondsComponent: ticks % 32_768 * (1_000_000_000_000_000_000 / 32_768))
    }
}
