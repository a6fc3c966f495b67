package import ButtonModel

/// The open connections, and which of them has to give way when there are too many or when its request does not arrive.
///
/// Without it, a stranger could hold all connections with requests that are never sent, and nobody else could open the page.
package struct ConnectionTable<ID: Hashable & Sendable>: Sendable {
    package static var maximumConnections: Int { 128 }
    /// The time from the opening of a connection, or from its last response, to the next request.
    package static var longestWait: Duration { .seconds(60) }
    /// The time from the head of a request to the end of its body.
    package static var longestBody: Duration { .seconds(30) }

    private enum Phase: Hashable, Sendable {
        /// No request has begun, or its head is not complete.
        case waiting
        /// The head of a request was received, and not the whole body.
        case reading
        /// The response is being computed or sent.
        case answering
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
        return connections.count > Self.maximumConnections ? connectionToClose(for: id) : nil
    }

    package mutating func closed(_ id: ID) { connections[id] = nil }

    /// The head of a request was received.
    package mutating func requestBegan(_ id: ID, hasBody: Bool, at now: Instant) {
        enter(hasBody ? .reading : .answering, id, at: now)
    }

    /// The whole body was received.
    package mutating func bodyEnded(_ id: ID, at now: Instant) { enter(.answering, id, at: now) }

    /// The response was sent.
    package mutating func responseEnded(_ id: ID, at now: Instant) { enter(.waiting, id, at: now) }

    /// When the connection is to be closed unless it enters another phase before; `nil` if it is closed already or is being
    /// answered, however long that takes.
    package func deadline(of id: ID) -> Instant? {
        guard let connection = connections[id] else { return nil }
        return switch connection.phase {
        case .waiting: connection.since + Self.longestWait
        case .reading: connection.since + Self.longestBody
        case .answering: nil
        }
    }

    private mutating func enter(_ phase: Phase, _ id: ID, at now: Instant) {
        connections[id]?.phase = phase
        connections[id]?.since = now
    }

    /// The connection that has waited longest for a request, of the address that has the most connections. If all others are
    /// being answered, the new one is closed.
    private func connectionToClose(for newcomer: ID) -> ID {
        let counts = Dictionary(connections.values.map { ($0.address, 1) }, uniquingKeysWith: +)
        let candidates = connections.filter { $0.key != newcomer && $0.value.phase != .answering }
        let oldest = candidates.min { first, second in
            let (most, more) = (counts[first.value.address] ?? 0, counts[second.value.address] ?? 0)
            return most == more ? first.value.since < second.value.since : most > more
        }
        return oldest?.key ?? newcomer
    }
}
