import ButtonModel

/// The events a button keeps until a host acknowledges them or names a later counter in its init request; when there is
/// no room, the oldest are lost first.
struct EventQueue: Sendable {
    struct Entry: Hashable, Sendable {
        var counter: UInt32
        var code: EventCode
        /// 1/32768 s since boot.
        var ticks: UInt64
        /// The same time, since boot.
        var milliseconds: UInt64
        var part = ButtonPart.big
        var gesture = DuoEvent.Gesture.none
    }

    /// That of a Twist; a Flic 2's is not known.
    static let maximumCount = 16

    private(set) var entries: [Entry] = []
    /// The host has everything up to here, of each button.
    private(set) var acknowledged: UInt32 = 0
    private(set) var acknowledgedSmall: UInt32 = 0

    mutating func append(_ entry: Entry) {
        if entries.count == Self.maximumCount { entries.removeFirst() }
        entries.append(entry)
    }

    /// The host has everything up to this counter.
    mutating func forget(upTo counter: UInt32, of part: ButtonPart = .big) {
        if part == .small {
            acknowledgedSmall = max(acknowledgedSmall, counter)
        } else {
            acknowledged = max(acknowledged, counter)
        }
        entries.removeAll { $0.part == part && $0.counter <= counter }
    }

    mutating func keep(_ part: ButtonPart) { entries.removeAll { $0.part != part } }

    /// Keeps what a host wants to hear of.
    ///
    /// - Parameter maximumAge: in seconds; `nil` for no limit.
    mutating func limit(count: Int?, maximumAge: UInt32?, now: UInt64) {
        if let count { entries = entries.suffix(count) }
        if let maximumAge {
            entries.removeAll { now > $0.ticks && (now - $0.ticks) / FlicPeripheral.ticksPerSecond > maximumAge }
        }
    }

    /// The entries as the notifications that deliver them.
    ///
    /// - Parameter count: as many as fit into one, 1 or more.
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
