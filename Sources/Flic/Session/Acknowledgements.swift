import ButtonModel

/// The notifications to acknowledge as soon as their events are on disk. The button stores the events until then.
struct Acknowledgements: Sendable {
    private var pending: [EventCursor] = []

    /// Beyond this number the oldest is dropped: the acknowledgement of a later notification covers it.
    static let maximumPendingCount = 64

    var isEmpty: Bool { pending.isEmpty }

    /// - Parameter cursor: the boot id, and the counters after the last item of the notification.
    mutating func expect(_ cursor: EventCursor) {
        if pending.count == Self.maximumPendingCount { pending.removeFirst() }
        pending.append(cursor)
    }

    /// Removes and returns the cursors to acknowledge now, one for each notification, in order.
    mutating func synced(_ cursor: EventCursor) -> [EventCursor] {
        var ready: [EventCursor] = []
        while let first = pending.first, cursor.covers(first) {
            ready.append(first)
            pending.removeFirst()
        }
        return ready
    }
}
