import ButtonModel
import Bytes

/// Buffers ACL data that arrives before its link's Connection Complete. Over USB, data and events use different
/// endpoints, so their order is not guaranteed.
///
/// Data may also arrive after its link has ended, and must not reach the next link with the same handle. Nothing is
/// kept for that handle until such late data cannot arrive any more.
struct EarlyData: Sendable {
    /// The maximum delay between data and events.
    static let maximumDelay: Duration = .seconds(1)
    /// The maximum number of packets, of all links together.
    static let maximumPackets = 16

    struct Packet: Sendable {
        var header: ACLHeader
        /// A reader at the first octet of the packet's data.
        var data: ByteReader
        fileprivate var arrival: Instant
    }

    private var packets: [Packet] = []
    private var ends: [ConnectionHandle: Instant] = [:]

    /// - Returns: false if the packet is late or there is no room; it is then dropped.
    mutating func keep(_ header: ACLHeader, _ data: ByteReader, at now: Instant) -> Bool {
        prune(at: now)
        guard ends[header.handle] == nil, packets.count < Self.maximumPackets else { return false }
        packets.append(Packet(header: header, data: data, arrival: now))
        return true
    }

    /// Removes and returns the packets of a link that is now established, in order.
    mutating func take(_ handle: ConnectionHandle, at now: Instant) -> [Packet] {
        guard !packets.isEmpty else { return [] }
        prune(at: now)
        defer { packets.removeAll { $0.header.handle == handle } }
        return packets.filter { $0.header.handle == handle }
    }

    mutating func linkEnded(_ handle: ConnectionHandle, at now: Instant) {
        prune(at: now)
        ends[handle] = now
    }

    private mutating func prune(at now: Instant) {
        packets.removeAll { now > $0.arrival + Self.maximumDelay }
        ends = ends.filter { now <= $0.value + Self.maximumDelay }
    }
}
