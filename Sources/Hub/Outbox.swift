import ButtonModel
import MQTTTopics

/// Messages for the broker: those that wait for it, each no longer than it stays true, and those on their way.
///
/// | class     | waits                           | on their way together                |
/// |-----------|---------------------------------|--------------------------------------|
/// | `.press`  | while there is no connection    | as many as the connection takes      |
/// | `.other`  | also while its places are taken | `placesOnTheWay`, `octetsOnTheWay`   |
///
/// Each class keeps its order and has places of its own, so that answers to requests and news about the bridge never take
/// the place of a press. When the broker is back, presses and what rules say go first.
struct Outbox: Hashable, Sendable {
    enum Class: CaseIterable, Hashable, Sendable {
        /// What buttons did, and what rules say.
        case press
        /// Answers to requests, and what the bridge tells of itself.
        case other
    }

    struct Entry: Hashable, Sendable {
        var id: MessageID
        var message: MQTTMessage
        /// After this it is not sent any more.
        var deadline: Instant
        /// Twice is as good as once: it tells what is so, and nothing acts on it.
        var mayRepeat = false
        var place = Class.press
        /// It is shown to those who watch.
        var isShown = true
        /// How often it was handed over.
        var attempts = 0

        fileprivate var octets: Int { message.topicName.utf8.count + message.payload.count }
    }

    /// Messages of one class that wait. Beyond this the oldest of the class fails.
    static let maximumCount = 1000
    /// Octets of their topics and payloads. Beyond this the oldest of the class fail.
    static let maximumOctets = 8 * 1024 * 1024
    /// Messages of `.other` on their way: a small part of the places that a connection has.
    static let placesOnTheWay = 64
    /// Octets of these. A message that is larger goes alone.
    static let octetsOnTheWay = 1024 * 1024

    /// A message that the broker did not acknowledge may have arrived. A press or what a rule says is not sent again, for a
    /// lamp that is switched twice is worse than a lamp that is not switched. Others are.
    static let maximumAttempts = 2

    private var presses = Queue()
    private var others = Queue()
    private var handedOver: [MessageID: Entry] = [:]
    /// Of `.other`, with QoS 0, too.
    private var onTheWay: [MessageID: Int] = [:]
    private var octetsUnderway = 0
    /// Lines of the log that were handed over. They have no id, and do not wait: the log itself has them.
    private var linesUnderway = 0

    private struct Queue: Hashable, Sendable {
        var entries: [Entry] = []
        var octets = 0

        mutating func add(_ entry: Entry) -> [Entry] {
            entries.append(entry)
            octets += entry.octets
            var dropped: [Entry] = []
            while entries.count > Outbox.maximumCount || octets > Outbox.maximumOctets { dropped.append(removeFirst()) }
            return dropped
        }

        mutating func removeFirst() -> Entry {
            let first = entries.removeFirst()
            octets -= first.octets
            return first
        }

        mutating func remove(where isGone: (Entry) -> Bool) -> [Entry] {
            let gone = entries.filter(isGone)
            guard !gone.isEmpty else { return [] }
            entries.removeAll(where: isGone)
            octets -= gone.reduce(0) { $0 + $1.octets }
            return gone
        }
    }

    private subscript(place: Class) -> Queue {
        get {
            switch place {
            case .press: presses
            case .other: others
            }
        }
        _modify {
            switch place {
            case .press: yield &presses
            case .other: yield &others
            }
        }
    }

    /// Returns the messages that had to make room, if any.
    mutating func add(_ entry: Entry) -> [Entry] { self[entry.place].add(entry) }

    /// The next message that may go out while there is a connection.
    mutating func takeNext() -> Entry? {
        for place in Class.allCases {
            guard let first = self[place].entries.first, hasRoom(for: first) else { continue }
            return self[place].removeFirst()
        }
        return nil
    }

    /// Whether a message may go out at once, behind those of its class that wait.
    func maySend(_ entry: Entry) -> Bool { self[entry.place].entries.isEmpty && hasRoom(for: entry) }

    private func hasRoom(for entry: Entry) -> Bool {
        guard entry.place == .other, !onTheWay.isEmpty else { return true }
        return onTheWay.count < Outbox.placesOnTheWay && octetsUnderway + entry.octets <= Outbox.octetsOnTheWay
    }

    /// Takes out what is past its deadline.
    mutating func takeExpired(at now: Instant) -> [Entry] {
        var expired: [Entry] = []
        for place in Class.allCases { expired += self[place].remove { $0.deadline <= now } }
        return expired
    }

    /// The message goes to the broker now.
    mutating func handOver(_ entry: Entry) {
        if entry.place == .other {
            onTheWay[entry.id] = entry.octets
            octetsUnderway += entry.octets
        }
        guard entry.message.qos > 0 else { return }
        var entry = entry
        entry.attempts += 1
        handedOver[entry.id] = entry
    }

    /// Its end has come: it is written (QoS 0), or acknowledged.
    mutating func acknowledged(_ id: MessageID) {
        leave(id)
        handedOver[id] = nil
    }

    /// The message, if it may be sent once more.
    mutating func failed(_ id: MessageID, at now: Instant) -> Entry? {
        leave(id)
        guard let entry = handedOver.removeValue(forKey: id), entry.mayRepeat, entry.attempts < Outbox.maximumAttempts,
            entry.deadline > now
        else { return nil }
        return entry
    }

    /// It is given up. Where it is on its way already, its place is free when its end comes.
    mutating func remove(_ id: MessageID) {
        handedOver[id] = nil
        for place in Class.allCases { _ = self[place].remove { $0.id == id } }
    }

    /// Whether one more line of the log may be handed over, which is then on its way.
    mutating func takePlaceForLine() -> Bool {
        guard linesUnderway < Outbox.placesOnTheWay else { return false }
        linesUnderway += 1
        return true
    }

    mutating func lineEnded() { linesUnderway = max(0, linesUnderway - 1) }

    private mutating func leave(_ id: MessageID) {
        if let octets = onTheWay.removeValue(forKey: id) { octetsUnderway -= octets }
    }

    /// Sentences about what is inconsistent in here; none if all is well.
    func problems() -> [String] {
        var problems: [String] = []
        for place in Class.allCases {
            let queue = self[place]
            if queue.entries.count > Self.maximumCount { problems.append("too many messages of class \(place) wait") }
            if queue.octets > Self.maximumOctets { problems.append("messages of class \(place) are too long") }
            if queue.octets != queue.entries.reduce(0, { $0 + $1.octets }) {
                problems.append("the octets of class \(place) are miscounted")
            }
            if queue.entries.contains(where: { $0.place != place }) {
                problems.append("a message waits in class \(place), which is not its own")
            }
            for entry in queue.entries where handedOver[entry.id] != nil || onTheWay[entry.id] != nil {
                problems.append("message \(entry.id.number) waits and is on its way")
            }
        }
        if onTheWay.count > Self.placesOnTheWay { problems.append("too many other messages are on their way") }
        if octetsUnderway != onTheWay.values.reduce(0, +) {
            problems.append("the octets on their way are miscounted")
        }
        if !(0...Self.placesOnTheWay).contains(linesUnderway) { problems.append("lines of the log are miscounted") }
        if handedOver.values.contains(where: { $0.message.qos == 0 }) {
            problems.append("a message with QoS 0 awaits an acknowledgement")
        }
        if handedOver.values.contains(where: { !(1...Self.maximumAttempts).contains($0.attempts) }) {
            problems.append("a message was handed over too often")
        }
        return problems
    }

    var waitingCount: Int { presses.entries.count + others.entries.count }
    var unacknowledgedCount: Int { handedOver.count }
    var earliestDeadline: Instant? {
        [presses, others].compactMap { $0.entries.min { $0.deadline < $1.deadline }?.deadline }.min()
    }
}
