import Glibc
public import Reactor
import Synchronization

/// One run of the event loop inside a test.
@ReactorActor
public final class ReactorRun<Outcome: Sendable> {
    public let loop = EventLoop.shared
    private let outcome: OutcomeBox<Outcome>

    init(_ outcome: OutcomeBox<Outcome>) { self.outcome = outcome }

    public func finish(_ value: Outcome) {
        outcome.value = value
        loop.stop()
    }

    /// Calls `body` once, after the given time.
    public func after(milliseconds: Int64, _ body: @escaping @ReactorActor () -> Void) {
        loop.timer(body).set(at: loop.nanosecondsSinceBoot + milliseconds * 1_000_000)
    }
}

/// A value that one thread leaves for another.
public final class OutcomeBox<Outcome: Sendable>: Sendable {
    private let storage = Mutex<Outcome?>(nil)

    public init() {}

    public var value: Outcome? {
        get { storage.withLock { $0 } }
        set { storage.withLock { $0 = newValue } }
    }
}

/// Runs the loop on a thread of its own until `finish`; nil when that does not come within two minutes.
///
/// There is one loop in a process: tests that run at the same time take turns.
public func onReactor<Outcome: Sendable>(
    _ start: @escaping @ReactorActor (ReactorRun<Outcome>) -> Void
) async -> Outcome? {
    await withCheckedContinuation { continuation in
        onThread {
            let outcome = OutcomeBox<Outcome>()
            let status = EventLoop.run {
                let run = ReactorRun(outcome)
                run.after(milliseconds: 120_000) { run.loop.stop(status: 1) }
                start(run)
            }
            continuation.resume(returning: status == 0 ? outcome.value : nil)
        }
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
