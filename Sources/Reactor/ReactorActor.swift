import CLinux
import Glibc
import Synchronization

/// The isolation of everything that runs on the event loop's thread.
///
/// Its executor is the loop itself: a synchronous call from one `@ReactorActor` function to another is an ordinary
/// call, and an `await` into it from outside costs one eventfd write. Jobs enqueued while no loop runs wait for
/// the next `EventLoop.run`.
@globalActor
public actor ReactorActor {
    public static let shared = ReactorActor()

    nonisolated let executor = LoopExecutor()

    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Enters the isolation from code that is known to run on the loop's thread, such as a callback of a C library.
    ///
    /// Traps on every other thread.
    public static func assumeIsolated<T: Sendable>(_ body: @ReactorActor () throws -> T) rethrows -> T {
        shared.preconditionIsolated("not on the reactor's thread")
        return try withoutActuallyEscaping(body) { body in
            // Safety: the line above has checked that this is the loop's thread. Isolation is not part of a closure's
            // layout; the standard library does the same for the main actor.
            try unsafeBitCast(body, to: (() throws -> T).self)()
        }
    }
}

/// The serial executor of the loop: an inbox for jobs from other threads, and the eventfd that wakes the loop.
final class LoopExecutor: SerialExecutor {
    enum Message {
        case job(UnownedJob)
        case call(run: UInt64, @ReactorActor () -> Void)
        /// Is called in any run.
        case completion(@ReactorActor () -> Void)
    }

    private let inbox = Mutex<[Message]>([])
    /// The loop's thread while it runs, else 0.
    private let owner = Atomic<UInt>(0)
    private let turn = Mutex<Void>(())
    /// The number of stopped runs. The result of work that began in an earlier run is discarded.
    let run = Atomic<UInt64>(0)
    /// Never closed, because a helper thread may outlive the run that started it.
    let wakeUp: Int32

    init() {
        wakeUp = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
        precondition(wakeUp >= 0, "eventfd: \(errno)")
    }

    func enqueue(_ job: consuming ExecutorJob) {
        post(.job(UnownedJob(job)))
    }

    func post(_ message: Message) {
        inbox.withLock { $0.append(message) }
        wake()
    }

    private func wake() {
        // EAGAIN means that the counter is at its maximum, so the loop is going to wake up anyway.
        _ = eventfd_write(wakeUp, 1)
    }

    /// Executes the messages that are in the inbox now. Messages that arrive meanwhile wake the loop again, so that a
    /// job that enqueues another job cannot starve the descriptors.
    @ReactorActor
    func drain() {
        var count: eventfd_t = 0
        _ = eventfd_read(wakeUp, &count)
        let messages = inbox.withLock { inbox in
            defer { inbox = [] }
            return inbox
        }
        for message in messages {
            switch message {
            case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
            case .call(let run, let body): if run == self.run.load(ordering: .relaxed) { body() }
            case .completion(let body): body()
            }
        }
    }

    /// Makes the calling thread the loop's thread during `body`. A second caller waits until the first has returned.
    func runAsOwner<T: Sendable>(_ body: () -> T) -> T {
        precondition(!isOwner, "the event loop is not reentrant")
        return turn.withLock { _ in
            // Acquires what the previous owner released. The thread sanitizer cannot see that the mutex orders this,
            // too.
            _ = owner.exchange(linux_thread(), ordering: .acquiringAndReleasing)
            defer { owner.store(0, ordering: .releasing) }
            return body()
        }
    }

    private var isOwner: Bool { owner.load(ordering: .acquiring) == linux_thread() }

    func checkIsolated() { precondition(isOwner, "not on the reactor's thread") }

    func isIsolatingCurrentContext() -> Bool? { isOwner }
}

/// Runs the jobs of tasks without actor isolation on the loop's thread. Tests prefer it for their tasks.
///
/// In Swift 6.3, the body of `withCheckedContinuation` and the resumption that follows are such jobs, which otherwise
/// wait for a thread of the cooperative pool. Jobs that were enqueued in an earlier run of the loop are discarded.
package final class LoopTaskExecutor: TaskExecutor {
    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = ReactorActor.shared.executor
        executor.post(
            .call(run: executor.run.load(ordering: .relaxed)) {
                job.runSynchronously(on: self.asUnownedTaskExecutor())
            })
    }
}
