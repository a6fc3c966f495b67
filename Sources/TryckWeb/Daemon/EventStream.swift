import Synchronization
import WebService

/// The connection of one reader of the live stream, with the octets that are not written to it yet.
final class EventStream: Sendable {
    /// A reader that still has more unwritten octets than this when it gets new ones is cut off. The browser connects again
    /// by itself, and gets what it missed. A single snapshot of many buttons may be longer than this.
    static let maximumPending = 1 << 20

    let session: SessionTable.ID?
    let chunks: AsyncStream<[UInt8]>
    private let continuation: AsyncStream<[UInt8]>.Continuation
    private let pending = Mutex(0)
    private let cut: @Sendable () -> Void

    /// - Parameter cut: closes the connection.
    init(session: SessionTable.ID?, cut: @escaping @Sendable () -> Void) {
        self.session = session
        self.cut = cut
        (chunks, continuation) = AsyncStream.makeStream(bufferingPolicy: .unbounded)
    }

    func offer(_ octets: [UInt8]) {
        let isTooMuch = pending.withLock { pending in
            defer { pending += octets.count }
            return pending > Self.maximumPending
        }
        guard !isTooMuch else {
            continuation.finish()
            return cut()
        }
        continuation.yield(octets)
    }

    func written(_ count: Int) { pending.withLock { $0 -= count } }

    /// Ends the stream when everything is written.
    func finish() { continuation.finish() }
}
