import Glibc

/// What a descriptor has not taken yet.
struct OutgoingBuffer: Sendable {
    /// Octets. Whoever leaves more than this unread is not reading.
    static let maximumCount = 1024 * 1024
    /// Memory is given back once this much of it is behind us.
    private static let compactionCount = 64 * 1024

    enum Outcome: Hashable, Sendable {
        case empty
        /// The descriptor takes no more for now.
        case blocked
        case failed(errno: Int32)
    }

    private var octets: [UInt8] = []
    private var written = 0

    var count: Int { octets.count - written }

    /// - Returns: false, and nothing is added, where it would hold more than its bound.
    mutating func append(_ more: some Collection<UInt8>) -> Bool {
        guard count + more.count <= Self.maximumCount else { return false }
        octets.append(contentsOf: more)
        return true
    }

    /// Writes what the descriptor takes without blocking.
    mutating func write(to descriptor: Int32) -> Outcome {
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
