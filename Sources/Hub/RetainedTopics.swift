import ButtonModel

/// A topic on which the broker keeps the last word. What that is follows from the hub at the moment it is sent, and of what
/// is gone it is nothing: the broker then forgets the topic.
enum RetainedTopic: Hashable, Sendable {
    case bridgeInfo
    case bridgeDevices
    case rules
    case status(ButtonID)
    case availability(ButtonID)
    /// What Home Assistant discovers.
    case bridgeConfig
    case config(ButtonID)
    /// Last of those that Home Assistant needs: with it every entity becomes available.
    case bridgeState
    case ruleEnabled(String)
    case lastRun(String)
    case statistics(String)
    case variable(String)
}

/// What is to be said on retained topics, in order and no faster than the broker takes it: a thousand buttons or ten thousand
/// rules are announced without a queue of messages. A topic that changes again before its turn has come is said once.
struct RetainedTopics: Sendable {
    /// Messages that the broker has not acknowledged.
    static let window = 64
    /// Topics that wait while there is no broker. More cannot be forgotten by it later.
    static let maximumAbsent = 50_000
    /// Ids apart from all others: a recording knows those by number, and does not depend on what is retained.
    static let firstID: UInt64 = 1 << 40
    /// How often one message is tried while the broker is there.
    static let maximumAttempts = 3

    private var due: [RetainedTopic] = []
    private var next = 0
    /// Those in `due` from `next` on.
    private var waiting: Set<RetainedTopic> = []
    /// These change several times in a row.
    private var settling: [RetainedTopic] = []
    private var underway: [UInt64: (topic: RetainedTopic, attempt: Int)] = [:]
    private var nextID = firstID
    private var attempts: [RetainedTopic: Int] = [:]

    /// Nothing waits, and the broker has everything.
    var isIdle: Bool { waiting.isEmpty && underway.isEmpty }
    /// How many wait.
    var count: Int { waiting.count }

    mutating func add(_ topic: RetainedTopic) {
        if waiting.insert(topic).inserted { due.append(topic) }
    }

    /// It is added with `addSettled`. Whether it is the first that waits for that.
    mutating func settle(_ topic: RetainedTopic) -> Bool {
        guard !settling.contains(topic) else { return false }
        settling.append(topic)
        return settling.count == 1
    }

    mutating func addSettled() {
        for topic in settling { add(topic) }
        settling = []
    }

    /// The next one that may be sent, if any.
    mutating func take() -> RetainedTopic? {
        guard underway.count < Self.window, next < due.count else { return nil }
        let topic = due[next]
        next += 1
        waiting.remove(topic)
        if next == due.count {
            due.removeAll(keepingCapacity: next <= Self.window)
            next = 0
        }
        return topic
    }

    /// The id of its message.
    mutating func sent(_ topic: RetainedTopic) -> UInt64 {
        defer { nextID += 1 }
        underway[nextID] = (topic, (attempts.removeValue(forKey: topic) ?? 0) + 1)
        return nextID
    }

    /// Whether the message was one of these.
    mutating func acknowledged(_ id: UInt64) -> Bool { underway.removeValue(forKey: id) != nil }

    /// The topic of a message that did not get through; `again`: whether it should be tried once more.
    mutating func failed(_ id: UInt64) -> (topic: RetainedTopic, again: Bool)? {
        guard let (topic, attempt) = underway.removeValue(forKey: id) else { return nil }
        let again = attempt < Self.maximumAttempts
        if again { attempts[topic] = attempt }
        return (topic, again)
    }

    /// The broker is gone: what waited waits on, what was on its way is said anew when everything is.
    mutating func takeAll() -> [RetainedTopic] {
        let rest = Array(due[next...])
        let id = nextID
        self = RetainedTopics()
        nextID = id
        return rest
    }
}
