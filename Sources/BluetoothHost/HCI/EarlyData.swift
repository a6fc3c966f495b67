import ButtonModel
import Bytes

/// ACL data that came before its link: over USB, data and events take different ways to us, and either may be first.
///
/// Data of a link that has just ended is late, not early. It must not reach the next link with the same handle, so
/// nothing is kept for that handle as long as something late may come.
struct EarlyData: Sendable {
    /// How far the two ways may be apart.
    static let patience: Duration = .seconds(1)
    /// Packets kept, of all links together.
    static let maximumPackets = 16

    struct Packet: Sendable {
        var header: ACLHeader
        /// Stands at the first octet of the packet's data.
        var data: ByteReader
        fileprivate var arrival: Instant
    }

    private var packets: [Packet] = []
    private var ends: [ConnectionHandle: Instant] = [:]

    /// - Returns: false: it is late, or there is no more room, and it is dropped.
    mutating func keep(_ header: ACLHeader, _ data: ByteReader, at now: Instant) -> Bool {
        prune(at: now)
        guard ends[header.handle] == nil, packets.count < Self.maximumPackets else { return false }
        packets.append(Packet(header: header, data: data, arrival: now))
        return true
    }

    /// The link is there: what came before it, in order.
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
        packets.removeAll { now > $0.arrival + Self.patience }
        ends = ends.filter { now <= $0.value + Self.patience }
    }
}
