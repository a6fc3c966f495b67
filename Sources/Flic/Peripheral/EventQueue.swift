import ButtonModel

/// The events that a simulated button stores until a host acknowledges them or sends a later counter in an init
/// request. If there is no room, the oldest event is lost.
struct EventQueue: Sendable {
    struct Entry: Hashable, Sendable {
        var counter: UInt32
        var code: EventCode
        /// The time since the boot in ticks of 1/32768 s.
        var ticks: UInt64
        /// The same time in milliseconds.
        var milliseconds: UInt64
        var part = ButtonPart.big
        var gesture = DuoEvent.Gesture.none
    }

    /// The number of events that a Twist stores; that of a Flic 2 is not known.
    static let maximumCount = 16

    private(set) var entries: [Entry] = []
    /// The counters up to which the host has received the events, for the big (or only) and for the small button.
    private(set) var acknowledged: UInt32 = 0
    private(set) var acknowledgedSmall: UInt32 = 0

    mutating func append(_ entry: Entry) {
        if entries.count == Self.maximumCount { entries.removeFirst() }
        entries.append(entry)
    }

    /// Deletes the events of a button up to this counter, which the host has received.
    mutating func forget(upTo counter: UInt32, of part: ButtonPart = .big) {
        if part == .small {
            acknowledgedSmall = max(acknowledgedSmall, counter)
        } else {
            acknowledged = max(acknowledged, counter)
        }
        entries.removeAll { $0.part == part && $0.counter <= counter }
    }

    mutating func keep(_ part: ButtonPart) { entries.removeAll { $0.part != part } }

    /// Applies the limits of an init request: keeps the newest `count` events that are at most `maximumAge` seconds old.
    /// `nil`: no limit.
    mutating func limit(count: Int?, maximumAge: UInt32?, now: UInt64) {
        if let count { entries = entries.suffix(count) }
        if let maximumAge {
            entries.removeAll { now > $0.ticks && (now - $0.ticks) / FlicPeripheral.ticksPerSecond > maximumAge }
        }
    }

    /// The notifications that deliver the events, with at most `count` events each; `count` is at least 1.
    func notifications(of count: Int = EventNotification.maximumItemCount) -> [EventNotification] {
        stride(from: 0, to: entries.count, by: count).map { start in
            let part = entries[start...].prefix(count)
            let items = part.enumerated().map { index, entry in
                EventNotification.Item(
                    ticks: entry.ticks, code: entry.code, wasQueued: true,
                    wasQueuedLast: start + index == entries.count - 1)
            }
            return EventNotification(eventCount: part.last?.counter ?? 0, items: items)
        }
    }
}
