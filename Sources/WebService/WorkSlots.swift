/// Decides which work begins at once, which waits for its turn, and which is refused.
///
/// The owner keeps the work that waits in the order of its arrival, and the first of it begins when `ended` returns true.
package struct WorkSlots: Hashable, Sendable {
    package enum Admission: Hashable, Sendable {
        case now
        /// When earlier work has ended.
        case later
        case refused
    }

    /// Requests of the page to the daemon, which limits the connections of a user. A connection has one request at a time, but a
    /// request that waits does so until its turn also when its connection is closed.
    package static let requests = WorkSlots(maximumRunning: 8, maximumWaiting: ConnectionTable<Int>.maximumConnections)
    /// Work on threads of its own. Their number bounds the memory that drafts and passwords need.
    package static let heavyWork = WorkSlots(maximumRunning: 2, maximumWaiting: 16)

    package let maximumRunning: Int
    package let maximumWaiting: Int
    private var runningCount = 0
    private var waitingCount = 0

    private init(maximumRunning: Int, maximumWaiting: Int) {
        self.maximumRunning = maximumRunning
        self.maximumWaiting = maximumWaiting
    }

    /// True if no work is under way or waits.
    package var isIdle: Bool { runningCount == 0 }

    /// Another piece of work has arrived.
    package mutating func began() -> Admission {
        if runningCount < maximumRunning {
            runningCount += 1
            return .now
        }
        guard waitingCount < maximumWaiting else { return .refused }
        waitingCount += 1
        return .later
    }

    /// A piece of work that was under way has ended.
    ///
    /// - Returns: true if the piece that has waited longest begins now.
    package mutating func ended() -> Bool {
        guard waitingCount > 0 else {
            runningCount -= 1
            return false
        }
        waitingCount -= 1
        return true
    }
}
