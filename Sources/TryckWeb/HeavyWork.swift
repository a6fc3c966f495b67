import Platform
import Reactor

/// Computes what takes long on threads of its own, so that HTTP and the live stream go on meanwhile.
@ReactorActor
final class HeavyWork {
    /// The most threads, which bounds the memory that drafts and passwords need.
    private static let maximumThreads = 2
    /// The most work that waits for a thread.
    private static let maximumWaiting = 16

    private let loop: EventLoop
    private var running = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ loop: EventLoop) { self.loop = loop }

    /// - Throws: `WebFailure.busy` if too much work waits.
    func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async throws(WebFailure) -> Value {
        if running >= Self.maximumThreads {
            guard waiting.count < Self.maximumWaiting else { throw .busy }
            await withCheckedContinuation { waiting.append($0) }
        } else {
            running += 1
        }
        let value = await withCheckedContinuation { continuation in
            loop.offload(work) { continuation.resume(returning: $0) }
        }
        if waiting.isEmpty { running -= 1 } else { waiting.removeFirst().resume() }
        // Loading rules takes megabytes of memory. They are not needed until rules are edited again, so the memory is
        // returned to the system.
        if running == 0 { StartMemory.release() }
        return value
    }
}
