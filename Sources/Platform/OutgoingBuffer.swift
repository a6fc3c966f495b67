import Glibc

/// The octets that wait to be written to a descriptor.
package struct OutgoingBuffer: Sendable {
    /// The limit in octets. A peer with more unread octets is considered stalled.
    package static let maximumCount = 1024 * 1024
    /// Written octets are removed from the buffer once there are this many.
    private static let compactionCount = 64 * 1024

    package enum Outcome: Hashable, Sendable {
        case empty
        /// The descriptor does not accept more for now.
        case blocked
        case failed(errno: Int32)
    }

    private var octets: [UInt8] = []
    private var written = 0

    package var count: Int { octets.count - written }

    /// - Returns: whether the octets were added; false if the buffer would exceed its limit.
    package mutating func append(_ more: some Collection<UInt8>) -> Bool {
        guard count + more.count <= Self.maximumCount else { return false }
        octets.append(contentsOf: more)
        return true
    }

    /// Writes as much as the descriptor accepts without blocking.
    package mutating func write(to descriptor: Int32) -> Outcome {
        while count > 0 {
            let result = octets.withUnsafeBytes { octets in
                Glibc.write(descriptor, octets.baseAddress?.advanced(by: written), octets.count - written)
            }
            if result > 0 {
                written += result
            } else if errno != EINTR {
                compact()
                return errno == EAGAIN ? .blocked : .failed(errno: errno)
            }
        }
        compact()
        return .empty
    }

    private mutating func compact() {
        if count == 0 {
            octets.removeAll(keepingCapacity: octets.count <= Self.compactionCount)
            written = 0
        } else if written >= Self.compactionCount {
            octets.removeFirst(written)
            written = 0
        }
    }
}
