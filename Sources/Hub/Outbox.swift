import ButtonModel
import HomeAssistant

/// Messages that wait for the broker, in order, each no longer than it stays true; and those handed over that the
/// broker has to acknowledge, so that those that may come twice wait again when it went away with them.
struct Outbox: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        var id: UInt64
        var message: MQTTMessage
        /// After this it is not sent any more.
        var deadline: Instant
        /// Twice is as good as once: it tells what is so, and nobody acts on it.
        var mayRepeat = false
        /// How often it was handed over.
        var attempts = 0
    }

    /// Beyond this the oldest fails first.
    static let maximumCount = 1000

    /// A message the broker did not acknowledge may have arrived: a press or what a rule says is not sent again, for a lamp
    /// that is switched twice is worse than one that is not. Others are.
    static let maximumAttempts = 2

    private(set) var waiting: [Entry] = []
    private var handedOver: [UInt64: Entry] = [:]

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

    /// The message goes to the broker now.
    mutating func handOver(_ entry: Entry) {
        guard entry.message.qos > 0 else { return }
        var entry = entry
        entry.attempts += 1
        handedOver[entry.id] = entry
    }

    mutating func acknowledged(_ id: UInt64) { handedOver[id] = nil }

    /// The message, if it may be sent once more.
    mutating func failed(_ id: UInt64, at now: Instant) -> Entry? {
        guard let entry = handedOver.removeValue(forKey: id), entry.mayRepeat, entry.attempts < Outbox.maximumAttempts,
            entry.deadline > now
        else { return nil }
        return entry
    }

    mutating func remove(_ id: UInt64) {
        handedOver[id] = nil
        waiting.removeAll { $0.id == id }
    }

    var unacknowledgedCount: Int { handedOver.count }

    var earliestDeadline: Instant? { waiting.map(\.deadline).min() }
}
