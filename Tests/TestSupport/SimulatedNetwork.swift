public import ButtonModel

/// A `SimulatedBroker` and the connections of its clients. What is under way on a connection waits until it is carried, so
/// the owner decides how long each direction of each connection is delayed, and what is lost when it ends.
public struct SimulatedNetwork: Sendable {
    /// One direction of a client's connection.
    public struct Lane: Hashable, Sendable {
        public var client: String
        public var isToBroker: Bool

        public init(client: String, isToBroker: Bool) {
            self.client = client
            self.isToBroker = isToBroker
        }
    }

    public private(set) var broker = SimulatedBroker()
    public private(set) var timer: Instant?
    private var toBroker: [String: [SimulatedBroker.Packet]] = [:]
    private var toClient: [String: [SimulatedBroker.Answer]] = [:]
    /// The clients whose connection has ended, and that do not know it yet.
    private var closed: [String] = []

    public init() {}

    /// The directions on which something is under way, in order.
    public var busyLanes: [Lane] {
        toBroker.keys.sorted().filter { toBroker[$0]?.isEmpty == false }.map { Lane(client: $0, isToBroker: true) }
            + toClient.keys.sorted().filter { toClient[$0]?.isEmpty == false }.map {
                Lane(client: $0, isToBroker: false)
            }
    }

    public func isConnected(_ client: String) -> Bool { toBroker[client] != nil }

    /// Opens a connection, whose first packet is a `connect`, in place of an earlier one.
    public mutating func open(_ client: String, _ packet: SimulatedBroker.Packet, at now: Instant) {
        close(client, at: now)
        toBroker[client] = [packet]
        toClient[client] = []
    }

    /// Sends on an open connection; without one the packet is lost.
    public mutating func send(_ client: String, _ packet: SimulatedBroker.Packet) { toBroker[client]?.append(packet) }

    /// Carries what has waited longest on a lane.
    ///
    /// - Returns: what arrives at a client.
    public mutating func carry(_ lane: Lane, at now: Instant) -> SimulatedBroker.Answer? {
        if lane.isToBroker {
            guard let packet = toBroker[lane.client]?.first else { return nil }
            toBroker[lane.client]?.removeFirst()
            handle(.received(lane.client, packet), at: now)
            return nil
        }
        guard let answer = toClient[lane.client]?.first else { return nil }
        toClient[lane.client]?.removeFirst()
        return answer
    }

    /// Ends a connection, and loses what is under way on it.
    public mutating func close(_ client: String, at now: Instant) {
        guard toBroker.removeValue(forKey: client) != nil else { return }
        toClient[client] = nil
        handle(.connectionLost(client), at: now)
    }

    /// The number of packets that a client has sent and that have not arrived.
    public func sentCount(_ client: String) -> Int { toBroker[client]?.count ?? 0 }

    /// The packet of a client that arrives next at the broker.
    public func nextPacket(of client: String) -> SimulatedBroker.Packet? { toBroker[client]?.first }

    public mutating func handle(_ input: SimulatedBroker.Input, at now: Instant) {
        if input == .killed {
            // Also those whose `connect` has not arrived.
            for client in toBroker.keys.sorted() { end(client) }
        }
        for effect in broker.handle(input, at: now) {
            switch effect {
            case .send(let client, let answer): toClient[client]?.append(answer)
            case .close(let client): end(client)
            case .setTimer(let deadline): timer = deadline
            case .cancelTimer: timer = nil
            }
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
