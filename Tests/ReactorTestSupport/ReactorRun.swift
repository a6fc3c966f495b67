import Glibc
public import Reactor
import Synchronization

/// A run of the event loop inside a test.
@ReactorActor
public final class ReactorRun<Outcome: Sendable> {
    public let loop = EventLoop.shared
    private let outcome: OutcomeBox<Outcome>
    private var isOver = false

    init(_ outcome: OutcomeBox<Outcome>) { self.outcome = outcome }

    /// Ends the run. A task that outlives its run may call this too late: that must not end the run of the next test.
    public func finish(_ value: Outcome) {
        guard !isOver else { return }
        outcome.value = value
        end(status: 0)
    }

    func end(status: Int32) {
        isOver = true
        loop.stop(status: status)
    }

    /// Runs `body` on the reactor as a task that never leaves the loop's thread.
    ///
    /// A task without the preference goes to the cooperative pool whenever it waits for a continuation, and queues there
    /// behind all tests that compute.
    public func task(_ body: @escaping @ReactorActor @Sendable () async -> Void) {
        Task.detached(executorPreference: LoopTaskExecutor()) { await body() }
    }

    /// Calls `body` once, after the given time on the loop's clock.
    public func after(milliseconds: Int64, _ body: @escaping @ReactorActor () -> Void) {
        loop.timer(body).set(at: loop.nanosecondsSinceBoot + milliseconds * 1_000_000)
    }
}

/// A value that one thread stores and another thread reads.
public final class OutcomeBox<Outcome: Sendable>: Sendable {
    private let storage = Mutex<Outcome?>(nil)

    public init() {}

    public var value: Outcome? {
        get { storage.withLock { $0 } }
        set { storage.withLock { $0 = newValue } }
    }
}

/// Runs the loop on a thread of its own until `finish`; `nil` if that is not called within the limit.
///
/// There is one loop in a process, because a global actor has one executor, so tests that run at the same time take turns.
/// The limit begins when the test's turn begins. During its turn, a test must not wait for a thread of the cooperative pool:
/// thousands of other tests queue for these threads, and on a busy machine the queue takes minutes. A task that the test
/// needs is therefore started with `ReactorRun.task`, or prefers a `ThreadExecutor`.
///
/// - Parameter milliseconds: the limit, on the loop's clock.
public func onReactor<Outcome: Sendable>(
    within milliseconds: Int64 = 120_000, _ start: @escaping @ReactorActor (ReactorRun<Outcome>) -> Void
) async -> Outcome? {
    await withCheckedContinuation { continuation in
        onThread {
            let outcome = OutcomeBox<Outcome>()
            let status = EventLoop.run {
                let run = ReactorRun(outcome)
                run.after(milliseconds: milliseconds) { run.end(status: 1) }
                start(run)
            }
            continuation.resume(returning: status == 0 ? outcome.value : nil)
        }
    }
}

/// Runs each job of a task on a thread made for it, so that the task waits for no thread of the cooperative pool.
public final class ThreadExecutor: TaskExecutor {
    public init() {}

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        onThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Runs `body` on a thread made for it.
public func onThread(_ body: @escaping @Sendable () -> Void) {
    final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
    var thread = pthread_t()
    let failure = pthread_create(
        &thread, nil,
        { argument in
            if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
            return nil
        }, Unmanaged.passRetained(Body(body)).toOpaque())
    precondition(failure == 0, "pthread_create: \(failure)")
    pthread_detach(thread)
}

public enum SocketKind: Int32, Sendable {
    case stream = 1
    /// Each write is one packet, and each read gives one.
    case seqpacket = 5
}

/// Two connected non-blocking sockets.
public func socketPair(_ kind: SocketKind = .stream) -> (near: Int32, far: Int32) {
    var ends: (Int32, Int32) = (-1, -1)
    let flags = Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let result = withUnsafeMutableBytes(of: &ends) { bytes in
        socketpair(AF_UNIX, kind.rawValue | flags, 0, bytes.assumingMemoryBound(to: Int32.self).baseAddress)
    }
    precondition(result == 0, "socketpair: \(errno)")
    return (ends.0, ends.1)
}
