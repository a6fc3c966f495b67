import Platform
import Reactor
import WebService

/// Runs long computations, such as loading rules, on threads of its own, so that they do not delay HTTP and the live stream.
@ReactorActor
final class HeavyWork {
    private let loop: EventLoop
    private var slots = WorkSlots.heavyWork
    /// The work that waits for a thread, in the order of its arrival.
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ loop: EventLoop) { self.loop = loop }

    /// - Throws: `WebFailure.busy` if too much work waits.
    func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async throws(WebFailure) -> Value {
        switch slots.began() {
        case .now: break
        case .later: await withCheckedContinuation { waiting.append($0) }
        case .refused: throw .busy
        }
        let value = await withCheckedContinuation { continuation in
            loop.offload(work) { continuation.resume(returning: $0) }
        }
        if slots.ended() { waiting.removeFirst().resume() }
        // Loading rules takes megabytes of memory. They are not needed until rules are edited again, so the memory is
        // returned to the system.
        if slots.isIdle { StartMemory.release() }
        return value
    }
}
