import ButtonModel

/// A topic with a retained message. The message is derived from the hub's state when it is sent. For a removed button,
/// rule or variable it is empty, which makes the broker delete the retained message (MQTT 5, 3.3.1.3).
enum RetainedTopic: Hashable, Sendable {
    case bridgeInfo
    case bridgeDevices
    case bridgePairing
    case bridgeHealth
    case bridgeRadios
    case rules
    case status(ButtonID)
    case availability(ButtonID)
    /// The configs for Home Assistant's discovery.
    case bridgeConfig
    case config(ButtonID)
    /// The last topic that Home Assistant needs: `online` makes all entities available.
    case bridgeState
    case ruleEnabled(String)
    case lastRun(String)
    case statistics(String)
    case variable(String)
}

/// The queue of retained topics to publish, in order, with a limit of unacknowledged messages. It contains topics and
/// no messages, so it stays small for thousands of buttons and rules, and a topic that changes while it waits is
/// published once.
struct RetainedQueue: Sendable {
    /// The maximum number of unacknowledged messages.
    static let maximumInFlight = 64
    /// The maximum number of topics of removed buttons, rules and variables to remember without a broker. If there are more, the
    /// search for outdated retained topics after connecting finds them.
    static let maximumAbsent = 50_000
    /// The maximum number of attempts for a message during one connection.
    static let maximumAttempts = 3

    private var due: [RetainedTopic] = []
    private var next = 0
    /// The topics in `due` from `next` on.
    private var waiting: Set<RetainedTopic> = []
    /// The topics to be added after a delay, because they often change several times in a row.
    private var settling: [RetainedTopic] = []
    private var inFlight: [MessageID: (topic: RetainedTopic, attempt: Int)] = [:]
    private var nextNumber: UInt64 = 0
    private var attempts: [RetainedTopic: Int] = [:]

    /// True if no topic waits and all messages are acknowledged.
    var isIdle: Bool { waiting.isEmpty && inFlight.isEmpty }
    /// The number of waiting topics.
    var count: Int { waiting.count }

    /// The waiting topics, in their order.
    var waitingTopics: [RetainedTopic] { Array(due[next...]) }

    #if DEBUG
        /// The number of messages that are not acknowledged.
        var inFlightCount: Int { inFlight.count }
        /// True if topics wait for the delay after a change.
        var isSettling: Bool { !settling.isEmpty }

        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        func problems() -> [String] {
            var problems: [String] = []
            if due.count - next != waiting.count { problems.append("the retained topics that wait are miscounted") }
            if due[next...].contains(where: { !waiting.contains($0) }) {
                problems.append("a retained topic waits and is not marked")
            }
            if inFlight.count > Self.maximumInFlight { problems.append("too many retained messages are on their way") }
            if Set(settling).count != settling.count { problems.append("a retained topic settles twice") }
            if inFlight.values.contains(where: { !(1...Self.maximumAttempts).contains($0.attempt) }) {
                problems.append("a retained message was sent too often")
            }
            return problems
        }
    #endif

    mutating func add(_ topic: RetainedTopic) {
        if waiting.insert(topic).inserted { due.append(topic) }
    }

    /// Adds the topic to those that `addSettled` adds after a delay.
    ///
    /// - Returns: whether it is the first of them, so that the timer has to be set.
    mutating func settle(_ topic: RetainedTopic) -> Bool {
        guard !settling.contains(topic) else { return false }
        settling.append(topic)
        return settling.count == 1
    }

    mutating func addSettled() {
        for topic in settling { add(topic) }
        settling = []
    }

    /// Removes and returns the next topic; `nil` if there is none, or too many messages are unacknowledged.
    mutating func take() -> RetainedTopic? {
        guard inFlight.count < Self.maximumInFlight, next < due.count else { return nil }
        let topic = due[next]
        next += 1
        waiting.remove(topic)
        if next == due.count {
            due.removeAll(keepingCapacity: next <= Self.maximumInFlight)
            next = 0
        }
        return topic
    }

    /// Records that the topic's message is being sent.
    ///
    /// - Returns: the id of the message.
    mutating func sent(_ topic: RetainedTopic) -> MessageID {
        let id = MessageID.retained(nextNumber)
        nextNumber += 1
        inFlight[id] = (topic, (attempts.removeValue(forKey: topic) ?? 0) + 1)
        return id
    }

    /// - Returns: the topic of the message; `nil` if it was not on a retained topic.
    mutating func acknowledged(_ id: MessageID) -> RetainedTopic? { inFlight.removeValue(forKey: id)?.topic }

    /// The topic of a message that was not published, and whether to try again; `nil` if the message was not on a
    /// retained topic.
    mutating func failed(_ id: MessageID) -> (topic: RetainedTopic, again: Bool)? {
        guard let (topic, attempt) = inFlight.removeValue(forKey: id) else { return nil }
        let again = attempt < Self.maximumAttempts
        if again { attempts[topic] = attempt }
        return (topic, again)
    }

    /// Empties the queue when the connection begins or ends, and returns the waiting topics. Messages in flight are
    /// forgotten, because everything is published again after connecting.
    mutating func takeAll() -> [RetainedTopic] {
        let rest = waitingTopics
        let number = nextNumber
        self = RetainedQueue()
        nextNumber = number
        return rest
    }
}
