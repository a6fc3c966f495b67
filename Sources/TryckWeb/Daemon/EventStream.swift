import Synchronization
import WebService

/// The connection of one reader of the live stream, with the octets that are not written to it yet.
final class EventStream: Sendable {
    let id: ReaderFeed.ReaderID
    let chunks: AsyncStream<[UInt8]>
    private let continuation: AsyncStream<[UInt8]>.Continuation
    private let backlog = Mutex(ReaderBacklog())
    private let cut: @Sendable () -> Void

    /// - Parameter cut: closes the connection.
    init(_ id: ReaderFeed.ReaderID, cut: @escaping @Sendable () -> Void) {
        self.id = id
        self.cut = cut
        (chunks, continuation) = AsyncStream.makeStream(bufferingPolicy: .unbounded)
    }

    func offer(_ octets: [UInt8]) {
        guard backlog.withLock({ $0.add(octets.count) }) else {
            continuation.finish()
            return cut()
        }
        continuation.yield(octets)
    }

    func written(_ count: Int) { backlog.withLock { $0.written(count) } }

    /// Ends the stream when everything is written.
    func finish() { continuation.finish() }
}
