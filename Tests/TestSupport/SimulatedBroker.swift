public import ButtonModel

/// An MQTT broker as a value: retained messages, wills with a delay, message expiry, persistent sessions, and QoS 1 with
/// resending. What it sends to one client keeps its order.
///
/// A broker may send a message once for each of a client's filters that match it, as mosquitto does.
///
/// - Source: MQTT 5.0, 3.1.2.5 (wills), 3.3.1.3 (retained messages), 3.3.2.3.3 (expiry), 4.4 (resending), 4.6 (order).
public struct SimulatedBroker: StateMachine, Sendable {
    public struct Message: Hashable, Sendable {
        public var topicName: String
        public var payload: [UInt8]
        /// In a message from the broker: whether it had stored the message before the client subscribed.
        public var isRetained: Bool
        /// 0 or 1.
        public var qos: Int
        /// How long the broker keeps the message; in a message from the broker, what is left of it.
        public var expiry: Duration?

        public init(
            topicName: String, payload: [UInt8], isRetained: Bool = false, qos: Int = 1, expiry: Duration? = nil
        ) {
            self.topicName = topicName
            self.payload = payload
            self.isRetained = isRetained
            self.qos = qos
            self.expiry = expiry
        }
    }

    public struct Will: Hashable, Sendable {
        public var message: Message
        public var delay: Duration

        public init(_ message: Message, delay: Duration = .zero) {
            self.message = message
            self.delay = delay
        }
    }

    /// What a client sends.
    public enum Packet: Hashable, Sendable {
        /// - Parameter isCleanStart: false continues the client's session, which then outlasts the connection.
        case connect(will: Will?, isCleanStart: Bool)
        case subscribe([String])
        /// `id`: the packet identifier of a message at QoS 1.
        case publish(Message, id: Int)
        /// A PUBACK for a message from the broker.
        case acknowledge(id: Int)
        /// The client says goodbye, so that its will is discarded.
        case disconnect
    }

    /// What the broker sends.
    public enum Answer: Hashable, Sendable {
        case connected(isSessionPresent: Bool)
        case subscribed
        case message(Message, id: Int, isRepeated: Bool)
        /// A PUBACK for a message of the client.
        case acknowledged(id: Int)
    }

    public enum Input: Hashable, Sendable {
        case received(String, Packet)
        case connectionLost(String)
        /// The broker sends again what this client has not acknowledged, after what it has sent since.
        case repeatUnacknowledged(String)
        /// The broker writes its retained messages to its disk.
        case save
        /// The process dies and starts again with the retained messages that were saved last. All connections and
        /// sessions are lost.
        case killed
        case timerFired
    }

    public enum Effect: Hashable, Sendable, TimerEffect {
        case send(String, Answer)
        /// The connection is closed by the broker.
        case close(String)
        case setTimer(Instant)
        case cancelTimer
    }

    private struct Stored: Sendable {
        var message: Message
        var expiresAt: Instant?

        init(_ message: Message, at now: Instant) {
            self.message = message
            expiresAt = message.expiry.map { now + $0 }
        }

        /// The message with what is left of its expiry; `nil` if nothing is.
        func current(at now: Instant) -> Message? {
            var message = message
            if let expiresAt {
                guard expiresAt > now else { return nil }
                message.expiry = expiresAt - now
            }
            return message
        }
    }

    private struct Session: Sendable {
        var filters: [String] = []
        var isConnected = true
        var isPersistent = false
        var will: Will?
        /// Messages that wait for a connection, and those that were sent and not acknowledged, oldest first.
        var waiting: [Stored] = []
        var unacknowledged: [(id: Int, stored: Stored)] = []
        var nextID = 1
    }

    private var sessions: [String: Session] = [:]
    private var retained: [String: Stored] = [:]
    private var saved: [String: Stored] = [:]
    private var deadlines = Deadlines<String>()
    private var delayedWills: [String: Message] = [:]
    private var effects: [Effect] = []

    private let sendsCopies: Bool

    /// - Parameter sendsCopies: whether a client receives a message once for each of its filters that match.
    public init(sendsCopies: Bool = false) { self.sendsCopies = sendsCopies }

    /// The payload that is retained under a topic name.
    public func retainedPayload(of topicName: String) -> [UInt8]? { retained[topicName]?.message.payload }

    public mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        switch input {
        case .received(let client, let packet): received(packet, from: client, at: now)
        case .connectionLost(let client): lost(client, at: now)
        case .repeatUnacknowledged(let client): sendUnacknowledged(to: client, at: now)
        case .save: saved = retained
        case .killed:
            for (client, session) in sessions.sorted(by: { $0.key < $1.key }) where session.isConnected {
                effects.append(.close(client))
            }
            sessions = [:]
            retained = saved
            for client in delayedWills.keys { deadlines.cancel(client) }
            delayedWills = [:]
        case .timerFired:
            for client in deadlines.takeDue(at: now) {
                if let message = delayedWills.removeValue(forKey: client) { publish(message, at: now) }
            }
        }
        deadlines.appendChange(to: &effects)
        defer { effects = [] }
        return effects
    }

    // MARK: Connections

    private mutating func received(_ packet: Packet, from client: String, at now: Instant) {
        if case .connect(let will, let isCleanStart) = packet {
            return connected(client, will: will, isCleanStart: isCleanStart, at: now)
        }
        guard sessions[client]?.isConnected == true else { return }
        switch packet {
        case .connect: break
        case .subscribe(let filters):
            sessions[client]?.filters += filters
            effects.append(.send(client, .subscribed))
            for (name, stored) in retained.sorted(by: { $0.key < $1.key }) {
                for _ in 0..<copies(of: name, filters) { deliver(stored, to: client, at: now) }
            }
        case .publish(let message, let id):
            publish(message, at: now)
            if message.qos > 0 { effects.append(.send(client, .acknowledged(id: id))) }
        case .acknowledge(let id): sessions[client]?.unacknowledged.removeAll { $0.id == id }
        case .disconnect:
            sessions[client]?.will = nil
            lost(client, at: now)
        }
    }

    private mutating func connected(_ client: String, will: Will?, isCleanStart: Bool, at now: Instant) {
        if sessions[client]?.isConnected == true {
            // A second connection with the same client id ends the first.
            effects.append(.close(client))
            lost(client, at: now)
        }
        delayedWills[client] = nil
        deadlines.cancel(client)
        if isCleanStart { sessions[client] = nil }
        let isPresent = sessions[client] != nil
        sessions[client, default: Session()].isConnected = true
        sessions[client]?.isPersistent = !isCleanStart
        sessions[client]?.will = will
        effects.append(.send(client, .connected(isSessionPresent: isPresent)))
        sendUnacknowledged(to: client, at: now)
        let waiting = sessions[client]?.waiting ?? []
        sessions[client]?.waiting = []
        for stored in waiting { deliver(stored, to: client, at: now) }
    }

    private mutating func lost(_ client: String, at now: Instant) {
        guard let session = sessions[client], session.isConnected else { return }
        sessions[client]?.isConnected = false
        sessions[client]?.will = nil
        if !session.isPersistent { sessions[client] = nil }
        guard let will = session.will else { return }
        guard will.delay > .zero else { return publish(will.message, at: now) }
        delayedWills[client] = will.message
        deadlines.set(client, at: now + will.delay)
    }

    // MARK: Messages

    private mutating func publish(_ message: Message, at now: Instant) {
        let stored = Stored(message, at: now)
        if message.isRetained { retained[message.topicName] = message.payload.isEmpty ? nil : stored }
        var live = stored
        live.message.isRetained = false
        for (client, session) in sessions.sorted(by: { $0.key < $1.key }) {
            for _ in 0..<copies(of: message.topicName, session.filters) {
                if session.isConnected {
                    deliver(live, to: client, at: now)
                } else if message.qos > 0 {
                    sessions[client]?.waiting.append(live)
                }
            }
        }
    }

    /// How often a client with these filters receives a message on this topic.
    private func copies(of name: String, _ filters: [String]) -> Int {
        let count = filters.count { Self.matches(name, $0) }
        return sendsCopies ? count : min(count, 1)
    }

    private mutating func deliver(_ stored: Stored, to client: String, at now: Instant) {
        guard let message = stored.current(at: now), let id = sessions[client]?.nextID else { return }
        sessions[client]?.nextID += 1
        if message.qos > 0 { sessions[client]?.unacknowledged.append((id, stored)) }
        effects.append(.send(client, .message(message, id: id, isRepeated: false)))
    }

    private mutating func sendUnacknowledged(to client: String, at now: Instant) {
        guard let session = sessions[client], session.isConnected else { return }
        for (id, stored) in session.unacknowledged {
            guard let message = stored.current(at: now) else { continue }
            effects.append(.send(client, .message(message, id: id, isRepeated: true)))
        }
    }

    /// True if a topic name matches a filter, whose levels may be `+` and whose last level may be `#`.
    static func matches(_ name: String, _ filter: String) -> Bool {
        var levels = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)[...]
        for wanted in filter.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            if wanted.elementsEqual("#".utf8) { return true }
            guard let level = levels.popFirst() else { return false }
            guard wanted.elementsEqual("+".utf8) || wanted.elementsEqual(level) else { return false }
        }
        return levels.isEmpty
    }
}
