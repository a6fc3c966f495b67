import ButtonModel

/// Decides which events of a button are new, and gives them their boot id, counter and age.
///
/// What was delivered is the only filter: not what is on the disk, for a button repeats events that were delivered and
/// are not on the disk yet. The count in a button's init response says where its next events begin, exactly how is not
/// known; an event above what was delivered is therefore never dropped because of it.
///
/// What a button sends as it happens may be long on its way: where the radio is bad, a packet is sent again until the
/// link is given up. An event that came late by the button's own clock has waited, as a stored one has, and is told as
/// one.
struct EventIntake: Sendable {
    let button: ButtonID
    /// What was delivered, and is to be stored. It never runs backwards within one boot id.
    private(set) var cursor: EventCursor
    /// The last events of this boot that came through here; of a Duo's small button apart.
    private var processedCount, processedSmallCount: UInt32
    /// The button's clock when the session began; ages count back from it.
    private var clock: UInt64 = 0
    /// A moment by both clocks: of the quickest packet lately.
    private var reference: (ticks: UInt64, at: Instant)?

    /// What is later counts as stored.
    static let longestWay: Duration = .seconds(1)
    /// How far two clocks may have run apart, as a part of the time between: 500 ppm, the most that Bluetooth allows
    /// (Core 5.3, Vol 6, Part B, 4.2.2).
    private static let drift = 2000

    init(button: ButtonID, cursor: EventCursor) {
        self.button = button
        self.cursor = cursor
        processedCount = cursor.eventCount
        processedSmallCount = cursor.smallEventCount
    }

    /// - Parameter smallEventCount: of a Duo.
    /// - Returns: whether the button booted since we last knew it.
    mutating func begin(
        with response: ButtonPacket.InitButtonEventsResponse, smallEventCount: UInt32 = 0, at now: Instant
    ) -> Bool {
        clock = response.ticks
        reference = (clock, now)
        guard let bootID = response.bootID, bootID != cursor.bootID else { return false }
        processedCount = 0
        processedSmallCount = 0
        // With nothing stored everything up to the count is past; otherwise the stored events may lie below it.
        cursor = EventCursor(bootID: bootID)
        if !response.hasQueuedEvents {
            cursor.eventCount = response.eventCount
            cursor.smallEventCount = smallEventCount
        }
        return true
    }

    /// The new events of a notification, in order.
    mutating func take(_ notification: EventNotification, at now: Instant) -> [ButtonEvent] {
        notification.countedItems.compactMap { counter, item in
            admit(
                ButtonEvent(
                    button: button, bootID: cursor.bootID, counter: counter, step: item.code.step, ticks: item.ticks,
                    wasQueued: item.wasQueued, wasQueuedLast: item.wasQueuedLast), at: now)
        }
    }

    /// An event as its notification tells it, with its age; `nil` if it is not new.
    mutating func admit(_ told: ButtonEvent, at now: Instant) -> ButtonEvent? {
        if told.part == .small {
            guard told.counter > processedSmallCount else { return nil }
            processedSmallCount = told.counter
            cursor.smallEventCount = max(cursor.smallEventCount, told.counter)
        } else {
            guard told.counter > processedCount else { return nil }
            processedCount = told.counter
            cursor.eventCount = max(cursor.eventCount, told.counter)
        }
        var event = told
        let delay = told.wasQueued ? .zero : delay(of: told.ticks, at: now)
        let stored = told.wasQueued && clock > told.ticks ? Duration(ticks: clock - told.ticks) : .zero
        event.wasQueued = told.wasQueued || delay > .zero
        event.age = max(stored, delay)
        return event
    }

    /// How long an event was on its way, at least; zero for what came in time.
    private mutating func delay(of ticks: UInt64, at now: Instant) -> Duration {
        guard let reference, ticks >= reference.ticks, now > reference.at else { return .zero }
        let elapsed = now - reference.at
        let delay = elapsed - Duration(ticks: ticks - reference.ticks) - elapsed / Self.drift
        if delay <= .zero { self.reference = (ticks, now) }
        return delay > Self.longestWay ? delay : .zero
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
