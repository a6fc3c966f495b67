package import ButtonModel

/// The open connections. Decides which of them is closed when there are too many, and which when its request does not arrive.
///
/// Without this limit, a stranger could hold all connections with requests that he never completes or with responses that he never
/// reads, and the page would not open for others.
package struct ConnectionTable<ID: Hashable & Sendable>: Sendable {
    package static var maximumConnections: Int { 128 }
    /// The time from the opening of a connection, or from its last response, to the next request.
    package static var longestWait: Duration { .seconds(60) }
    /// The time from the head of a request to the end of its body.
    package static var longestBody: Duration { .seconds(30) }
    /// After this time, a response that is not sent may give way to another connection: its reader may not read at all.
    package static var longestAnswer: Duration { .seconds(30) }

    private enum Phase: Hashable, Sendable {
        /// No request has begun, or its head is not complete.
        case waiting
        /// The head of a request was received, and not the whole body.
        case reading
        /// The response is being computed or sent.
        case answering
        /// The response is the live stream, which does not end. Streams have a limit of their own, and need a session.
        case streaming
    }

    private struct Connection: Sendable {
        /// The peer without its port; `nil` for a Unix socket.
        var address: String?
        var phase = Phase.waiting
        /// When the phase began.
        var since: Instant
    }

    private var connections: [ID: Connection] = [:]

    package init() {}

    /// A connection was accepted.
    ///
    /// - Returns: the connection that is to be closed, because there are too many; it may be the new one.
    package mutating func opened(_ id: ID, from address: String?, at now: Instant) -> ID? {
        connections[id] = Connection(address: address, since: now)
        return connections.count > Self.maximumConnections ? connectionToClose(for: id, at: now) : nil
    }

    package mutating func closed(_ id: ID) { connections[id] = nil }

    /// The head of a request was received.
    package mutating func requestBegan(_ id: ID, hasBody: Bool, at now: Instant) {
        enter(hasBody ? .reading : .answering, id, at: now)
    }

    /// The whole body was received.
    package mutating func bodyEnded(_ id: ID, at now: Instant) { enter(.answering, id, at: now) }

    /// The response is the live stream.
    package mutating func streamBegan(_ id: ID, at now: Instant) { enter(.streaming, id, at: now) }

    /// The response was sent.
    package mutating func responseEnded(_ id: ID, at now: Instant) { enter(.waiting, id, at: now) }

    /// When the connection is to be closed unless it enters another phase before; `nil` if it is closed already or is being
    /// answered, however long that takes.
    package func deadline(of id: ID) -> Instant? {
        guard let connection = connections[id] else { return nil }
        return switch connection.phase {
        case .waiting: connection.since + Self.longestWait
        case .reading: connection.since + Self.longestBody
        case .answering, .streaming: nil
        }
    }

    private mutating func enter(_ phase: Phase, _ id: ID, at now: Instant) {
        connections[id]?.phase = phase
        connections[id]?.since = now
    }

    /// The connection that entered its phase first, of the address that has the most connections. If all others are live streams
    /// or responses that began a moment ago, the new one is closed.
    private func connectionToClose(for newcomer: ID, at now: Instant) -> ID {
        let counts = Dictionary(connections.values.map { ($0.address, 1) }, uniquingKeysWith: +)
        let candidates = connections.filter { id, connection in
            switch connection.phase {
            case .waiting, .reading: id != newcomer
            case .answering: connection.since + Self.longestAnswer <= now
            case .streaming: false
            }
        }
        let oldest = candidates.min { first, second in
            let (most, more) = (counts[first.value.address] ?? 0, counts[second.value.address] ?? 0)
            return most == more ? first.value.since < second.value.since : most > more
        }
        return oldest?.key ?? newcomer
    }
}
