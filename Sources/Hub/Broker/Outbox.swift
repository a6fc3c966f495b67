import ButtonModel
import MQTTTopics

/// Messages for the broker: those that wait, each up to its deadline, and those in flight.
///
/// | class     | waits                           | in flight together                           |
/// |-----------|---------------------------------|----------------------------------------------|
/// | `.press`  | while there is no connection    | as many as the connection takes              |
/// | `.other`  | also while its places are taken | `maximumInFlight`, `maximumOctetsInFlight`   |
///
/// Each class keeps its order and has limits of its own, so that answers to requests and messages about the bridge never
/// displace a press. When the broker is back, messages of presses and rules go first.
struct Outbox: Hashable, Sendable {
    enum MessageClass: CaseIterable, Hashable, Sendable {
        /// Messages about events of buttons, and messages of rules.
        case press
        /// Answers to requests, and messages about the bridge itself.
        case other
    }

    struct Entry: Hashable, Sendable {
        var id: MessageID
        var message: MQTTMessage
        /// The message is not sent after this time.
        var deadline: Instant
        var repetition = Repetition.never
        var messageClass = MessageClass.press
        /// The message is shown to clients that watch.
        var isShown = true
        /// How often the message was handed over.
        var attempts = 0

        fileprivate var octets: Int { message.topicName.utf8.count + message.payload.count }
    }

    /// The maximum number of waiting messages of a class. Beyond it the oldest message of the class fails.
    static let maximumCount = 1000
    /// The maximum number of octets of their topics and payloads. Beyond it the oldest messages of the class fail.
    static let maximumOctets = 8 * 1024 * 1024
    /// The maximum number of `.other` messages in flight, which is a small part of the messages that a connection can have in
    /// flight.
    static let maximumInFlight = 64
    /// The maximum number of octets of `.other` messages in flight. A larger message is sent alone.
    static let maximumOctetsInFlight = 1024 * 1024

    /// How often a message is handed over if the broker does not acknowledge it, although it may have received it. The raw value
    /// is the maximum number of attempts.
    enum Repetition: Int, Hashable, Sendable {
        /// Messages of presses and rules: a lamp that is switched twice is worse than a lamp that is not switched.
        case never = 1
        /// Messages that tell a state, and on which nothing acts.
        case once = 2
        /// Ends of holds: a lamp that is told twice to stop is better than a lamp that never stops. The limit is for a broker
        /// that ends the connection because of the message.
        case often = 10

        /// A broker that is connected has refused the message, and would do so again and again.
        fileprivate func attempts(isConnected: Bool) -> Int {
            isConnected ? min(rawValue, Repetition.once.rawValue) : rawValue
        }
    }

    private var presses = Queue()
    private var others = Queue()
    private var handedOver: [MessageID: Entry] = [:]
    /// The octets of the `.other` messages in flight, including those with QoS 0.
    private var inFlight: [MessageID: Int] = [:]
    private var octetsInFlight = 0
    #if DEBUG
        /// The messages in flight whose end needs no entry of `handedOver`: those with QoS 0, and those that were given up.
        private var endsWithoutEntry: Set<MessageID> = []
    #endif
    /// The number of log lines in flight. They have no ids of their own, and do not wait, because the log itself has them.
    private var linesInFlight = 0

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

    private subscript(messageClass: MessageClass) -> Queue {
        get {
            switch messageClass {
            case .press: presses
            case .other: others
            }
        }
        _modify {
            switch messageClass {
            case .press: yield &presses
            case .other: yield &others
            }
        }
    }

    /// Adds a message, and returns the messages that it displaces, which are the oldest of its class.
    mutating func add(_ entry: Entry) -> [Entry] { self[entry.messageClass].add(entry) }

    /// Removes and returns the next message that may be sent while there is a connection.
    mutating func takeNext() -> Entry? {
        for messageClass in MessageClass.allCases {
            guard let first = self[messageClass].entries.first, hasRoom(for: first) else { continue }
            return self[messageClass].removeFirst()
        }
        return nil
    }

    /// True if a message may be sent at once, because no message of its class waits.
    func maySend(_ entry: Entry) -> Bool { self[entry.messageClass].entries.isEmpty && hasRoom(for: entry) }

    /// True if no message of a press or a rule waits, so that the next one may be sent at once.
    var isEmptyForPresses: Bool { presses.entries.isEmpty }

    private func hasRoom(for entry: Entry) -> Bool {
        guard entry.messageClass == .other, !inFlight.isEmpty else { return true }
        return inFlight.count < Outbox.maximumInFlight && octetsInFlight + entry.octets <= Outbox.maximumOctetsInFlight
    }

    /// Removes and returns the messages whose deadline has passed.
    mutating func takeExpired(at now: Instant) -> [Entry] {
        var expired: [Entry] = []
        for messageClass in MessageClass.allCases { expired += self[messageClass].remove { $0.deadline <= now } }
        return expired
    }

    /// Records that the message is sent to the broker now.
    mutating func handOver(_ entry: Entry) {
        if entry.messageClass == .other {
            inFlight[entry.id] = entry.octets
            octetsInFlight += entry.octets
            #if DEBUG
                if entry.message.qos == 0 { endsWithoutEntry.insert(entry.id) }
            #endif
        }
        guard entry.message.qos > 0 else { return }
        var entry = entry
        entry.attempts += 1
        handedOver[entry.id] = entry
    }

    /// The message is written to the network (QoS 0), or acknowledged.
    mutating func acknowledged(_ id: MessageID) {
        leave(id)
        handedOver[id] = nil
    }

    /// The message was not published.
    ///
    /// - Parameter isConnected: false if the connection was lost.
    /// - Returns: the message if it may be sent once more.
    mutating func failed(_ id: MessageID, isConnected: Bool, at now: Instant) -> Entry? {
        leave(id)
        guard let entry = handedOver.removeValue(forKey: id),
            entry.attempts < entry.repetition.attempts(isConnected: isConnected), entry.deadline > now
        else { return nil }
        return entry
    }

    /// Gives up the message. If it is in flight, it counts as in flight until its end is reported.
    mutating func remove(_ id: MessageID) {
        handedOver[id] = nil
        #if DEBUG
            if inFlight[id] != nil { endsWithoutEntry.insert(id) }
        #endif
        for messageClass in MessageClass.allCases { _ = self[messageClass].remove { $0.id == id } }
    }

    /// Counts a line of the log as in flight, unless too many are.
    mutating func admitLine() -> Bool {
        guard linesInFlight < Outbox.maximumInFlight else { return false }
        linesInFlight += 1
        return true
    }

    mutating func lineEnded() { linesInFlight = max(0, linesInFlight - 1) }

    private mutating func leave(_ id: MessageID) {
        if let octets = inFlight.removeValue(forKey: id) { octetsInFlight -= octets }
        #if DEBUG
            endsWithoutEntry.remove(id)
        #endif
    }

    #if DEBUG
        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        func problems() -> [String] {
            var problems: [String] = []
            for messageClass in MessageClass.allCases {
                let queue = self[messageClass]
                if queue.entries.count > Self.maximumCount {
                    problems.append("too many messages of class \(messageClass) wait")
                }
                if queue.octets > Self.maximumOctets {
                    problems.append("messages of class \(messageClass) are too long")
                }
                if queue.octets != queue.entries.reduce(0, { $0 + $1.octets }) {
                    problems.append("the octets of class \(messageClass) are miscounted")
                }
                if queue.entries.contains(where: { $0.messageClass != messageClass }) {
                    problems.append("a message waits in class \(messageClass), which is not its own")
                }
                for entry in queue.entries where handedOver[entry.id] != nil || inFlight[entry.id] != nil {
                    problems.append("message \(entry.id.number) waits and is on its way")
                }
            }
            if inFlight.count > Self.maximumInFlight { problems.append("too many other messages are on their way") }
            for id in inFlight.keys where handedOver[id] == nil && !endsWithoutEntry.contains(id) {
                problems.append("message \(id.number) has ended and is on its way")
            }
            if octetsInFlight != inFlight.values.reduce(0, +) {
                problems.append("the octets on their way are miscounted")
            }
            if !(0...Self.maximumInFlight).contains(linesInFlight) {
                problems.append("lines of the log are miscounted")
            }
            if handedOver.values.contains(where: { $0.message.qos == 0 }) {
                problems.append("a message with QoS 0 awaits an acknowledgement")
            }
            if handedOver.values.contains(where: { !(1...$0.repetition.rawValue).contains($0.attempts) }) {
                problems.append("a message was handed over too often")
            }
            return problems
        }
    #endif

    var waitingCount: Int { presses.entries.count + others.entries.count }
    var unacknowledgedCount: Int { handedOver.count }
    var earliestDeadline: Instant? {
        [presses, others].compactMap { $0.entries.min { $0.deadline < $1.deadline }?.deadline }.min()
    }
}
