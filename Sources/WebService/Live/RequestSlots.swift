/// Decides which requests of the page are passed on to the daemon at once, which wait, and which are refused.
package struct RequestSlots: Hashable, Sendable {
    package enum Admission: Hashable, Sendable {
        case now
        /// When an earlier request has ended.
        case later
        case refused
    }

    /// The maximum number of requests under way. The daemon limits the connections of a user.
    package static let maximumRequests = 8
    /// The maximum number of requests that wait. A connection has one request at a time, but a request that waits does so until its
    /// turn also when its connection is closed.
    package static let maximumWaiting = ConnectionTable<Int>.maximumConnections

    private var count = 0
    private var waitingCount = 0

    package init() {}

    /// Another request has arrived.
    package mutating func began() -> Admission {
        if count < Self.maximumRequests {
            count += 1
            return .now
        }
        guard waitingCount < Self.maximumWaiting else { return .refused }
        waitingCount += 1
        return .later
    }

    /// A request that was under way has ended.
    ///
    /// - Returns: true if the one that has waited longest begins now.
    package mutating func ended() -> Bool {
        guard waitingCount > 0 else {
            count -= 1
            return false
        }
        waitingCount -= 1
        return true
    }
}
