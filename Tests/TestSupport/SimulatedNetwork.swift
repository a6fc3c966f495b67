public import ButtonModel

/// A `SimulatedBroker` and the connections of its clients. What is under way on a connection waits until it is carried, so
/// the owner decides how long each lane is delayed, and what is lost when it ends. The network can also choose the delays.
public struct SimulatedNetwork: Sendable {
    /// A way on which packets keep their order: from a client to the broker, or from the broker to a client. MQTT keeps only the order of
    /// the messages of one publisher (MQTT 5.0, 4.6), so each of them may have a lane of its own to each client.
    public struct Lane: Hashable, Sendable {
        public var client: String
        public var isToBroker: Bool
        /// Empty for what the broker itself says, and if all publishers have the same lane.
        public var publisher: String

        public init(client: String, isToBroker: Bool, publisher: String = "") {
            self.client = client
            self.isToBroker = isToBroker
            self.publisher = publisher
        }
    }

    /// A random delay for each packet, up to a random maximum of its lane.
    public struct Delays: Sendable {
        public var maximum: Duration
        private var random: SeededGenerator
        private var maxima: [Lane: Duration] = [:]

        public init(maximum: Duration, seed: UInt64) {
            self.maximum = maximum
            random = SeededGenerator(seed: seed)
        }

        fileprivate mutating func next(on lane: Lane) -> Duration {
            let limit = maxima[lane] ?? anyDuration(upTo: maximum)
            maxima[lane] = limit
            return anyDuration(upTo: min(limit, maximum))
        }

        private mutating func anyDuration(upTo limit: Duration) -> Duration {
            .milliseconds(Int64.random(in: 0...limit.milliseconds, using: &random))
        }
    }

    private struct Travelling<Packet: Sendable>: Sendable {
        var packet: Packet
        var due: Instant
    }

    public private(set) var broker: SimulatedBroker
    public private(set) var timer: Instant?
    /// `nil`: a packet can be carried at once.
    public var delays: Delays?
    private let separatesPublishers: Bool
    private var toBroker: [String: [Travelling<SimulatedBroker.Packet>]] = [:]
    /// By client and publisher.
    private var toClient: [String: [String: [Travelling<SimulatedBroker.Answer>]]] = [:]
    /// Who has published what the broker retains, by topic.
    private var authors: [String: String] = [:]
    private var wills: [String: String] = [:]
    /// The clients whose connection has ended, and that do not know it yet.
    private var closed: [String] = []

    /// - Parameters:
    ///   - separatesPublishers: whether each publisher has a lane of its own to each client.
    ///   - sendsCopies: as in `SimulatedBroker`.
    public init(separatesPublishers: Bool = false, delays: Delays? = nil, sendsCopies: Bool = false) {
        self.separatesPublishers = separatesPublishers
        self.delays = delays
        broker = SimulatedBroker(sendsCopies: sendsCopies)
    }

    /// The lanes on which something is under way, in order, and when the first packet of each can be carried.
    private var arrivals: [(lane: Lane, due: Instant)] {
        toBroker.sorted { $0.key < $1.key }.compactMap { client, packets in
            packets.first.map { (Lane(client: client, isToBroker: true), $0.due) }
        }
            + toClient.sorted { $0.key < $1.key }.flatMap { client, lanes in
                lanes.sorted { $0.key < $1.key }.compactMap { publisher, answers in
                    answers.first.map { (Lane(client: client, isToBroker: false, publisher: publisher), $0.due) }
                }
            }
    }

    /// The lanes on which something is under way, in order.
    public var busyLanes: [Lane] { arrivals.map(\.lane) }

    /// The lanes on which something can be carried, in the order in which it arrives. Of the lanes to a client, only the first one: what has
    /// arrived at its connection is read in the order of arrival, also if the client was stopped meanwhile.
    public func busyLanes(at now: Instant) -> [Lane] {
        var clients: Set<String> = []
        return arrivals.filter { $0.due <= now }.sorted { $0.due < $1.due }.map(\.lane).filter { lane in
            lane.isToBroker || clients.insert(lane.client).inserted
        }
    }

    /// When something can be carried next, after this time.
    public func nextArrival(after now: Instant) -> Instant? {
        var next: Instant?
        func note(_ due: Instant?) { if let due, due > now, next.map({ due < $0 }) ?? true { next = due } }
        for packets in toBroker.values { note(packets.first?.due) }
        for lanes in toClient.values { for answers in lanes.values { note(answers.first?.due) } }
        return next
    }

    public func isConnected(_ client: String) -> Bool { toBroker[client] != nil }

    /// Opens a connection, whose first packet is a `connect`, in place of an earlier one.
    public mutating func open(_ client: String, _ packet: SimulatedBroker.Packet, at now: Instant) {
        close(client, at: now)
        toBroker[client] = []
        toClient[client] = [:]
        if case .connect(let will, _) = packet { wills[client] = will?.message.topicName }
        send(client, packet, at: now)
    }

    /// Sends on an open connection; without one the packet is lost.
    ///
    /// - Parameter now: only needed with `delays`.
    public mutating func send(
        _ client: String, _ packet: SimulatedBroker.Packet, at now: Instant = Instant(nanoseconds: 0)
    ) {
        let lane = Lane(client: client, isToBroker: true)
        let due = due(on: lane, after: toBroker[client]?.last?.due, at: now)
        toBroker[client]?.append(Travelling(packet: packet, due: due))
    }

    private mutating func due(on lane: Lane, after last: Instant?, at now: Instant) -> Instant {
        max(last ?? now, now + (delays?.next(on: lane) ?? .zero))
    }

    /// Carries what has waited longest on a lane.
    ///
    /// - Returns: what arrives at a client.
    public mutating func carry(_ lane: Lane, at now: Instant) -> SimulatedBroker.Answer? {
        if lane.isToBroker {
            guard let packet = toBroker[lane.client]?.first?.packet else { return nil }
            toBroker[lane.client]?.removeFirst()
            if case .publish(let message, _) = packet, message.isRetained { authors[message.topicName] = lane.client }
            handle(.received(lane.client, packet), at: now)
            return nil
        }
        guard let answer = toClient[lane.client]?[lane.publisher]?.first?.packet else { return nil }
        toClient[lane.client]?[lane.publisher]?.removeFirst()
        return answer
    }

    /// Ends a connection, and loses what is under way on it.
    public mutating func close(_ client: String, at now: Instant) {
        guard toBroker.removeValue(forKey: client) != nil else { return }
        toClient[client] = nil
        if let topicName = wills[client] { authors[topicName] = client }
        handle(.connectionLost(client), at: now)
    }

    /// The number of packets that a client has sent and that have not arrived.
    public func sentCount(_ client: String) -> Int { toBroker[client]?.count ?? 0 }

    /// The packet of a client that arrives next at the broker.
    public func nextPacket(of client: String) -> SimulatedBroker.Packet? { toBroker[client]?.first?.packet }

    public mutating func handle(_ input: SimulatedBroker.Input, at now: Instant) {
        if input == .killed {
            // Also those whose `connect` has not arrived.
            for client in toBroker.keys.sorted() { end(client) }
        }
        for effect in broker.handle(input, at: now) {
            switch effect {
            case .send(let client, let answer):
                let lane = Lane(client: client, isToBroker: false, publisher: publisher(of: answer, after: input))
                let last = toClient[client]?[lane.publisher]?.last?.due
                let travelling = Travelling(packet: answer, due: due(on: lane, after: last, at: now))
                toClient[client]?[lane.publisher, default: []].append(travelling)
            case .close(let client): end(client)
            case .setTimer(let deadline): timer = deadline
            case .cancelTimer: timer = nil
            }
        }
    }

    private func publisher(of answer: SimulatedBroker.Answer, after input: SimulatedBroker.Input) -> String {
        guard separatesPublishers, case .message(let message, _, _) = answer else { return "" }
        return switch input {
        case .received(_, .subscribe): authors[message.topicName] ?? ""
        case .received(let client, _), .connectionLost(let client): client
        case .repeatUnacknowledged, .save, .killed, .timerFired: ""
        }
    }

    private mutating func end(_ client: String) {
        guard toBroker.removeValue(forKey: client) != nil else { return }
        toClient[client] = nil
        closed.append(client)
    }

    /// The clients whose connection has ended since the last call.
    public mutating func takeClosed() -> [String] {
        defer { closed = [] }
        return closed
    }
}
