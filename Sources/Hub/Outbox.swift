import ButtonModel
import HomeAssistant

/// Messages that wait for the broker, in order, each no longer than it stays true.
struct Outbox: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        var id: UInt64
        var message: MQTTMessage
        /// After this it is not sent any more.
        var deadline: Instant
    }

    /// Beyond this the oldest fails first.
    static let maximumCount = 1000

    private(set) var waiting: [Entry] = []

    /// Returns the message that had to make room, if any.
    mutating func add(_ entry: Entry) -> Entry? {
        waiting.append(entry)
        return waiting.count > Outbox.maximumCount ? waiting.removeFirst() : nil
    }

    /// Everything that waits, in order; nothing waits any more.
    mutating func takeAll() -> [Entry] {
        defer { waiting = [] }
        return waiting
    }

    /// Takes out what is past its deadline.
    mutating func takeExpired(at now: Instant) -> [Entry] {
        let expired = waiting.filter { $0.deadline <= now }
        waiting.removeAll { $0.deadline <= now }
        return expired
    }

    mutating func remove(_ id: UInt64) { waiting.removeAll { $0.id == id } }

    var earliestDeadline: Instant? { waiting.map(\.deadline).min() }
}
