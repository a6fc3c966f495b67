import ButtonModel

/// Notifications whose events are not on disk yet. The button keeps them until it hears that they are.
struct Acknowledgements: Sendable {
    private var pending: [EventCursor] = []

    /// Beyond this the oldest is forgotten: the acknowledgement of a later one covers it.
    static let maximumPendingCount = 64

    var isEmpty: Bool { pending.isEmpty }

    /// - Parameter cursor: the boot, and the counters after the last item of the notification.
    mutating func expect(_ cursor: EventCursor) {
        if pending.count == Self.maximumPendingCount { pending.removeFirst() }
        pending.append(cursor)
    }

    /// What to acknowledge now, one a notification, in order.
    mutating func synced(_ cursor: EventCursor) -> [EventCursor] {
        var ready: [EventCursor] = []
        while let first = pending.first, cursor.covers(first) {
            ready.append(first)
            pending.removeFirst()
        }
        return ready
    }
}
