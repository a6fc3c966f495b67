import Glibc
import Reactor
import Synchronization

/// One run of the event loop inside a test.
@ReactorActor
final class ReactorRun<Outcome: Sendable> {
    let loop = EventLoop.shared
    private let outcome: OutcomeBox<Outcome>

    init(_ outcome: OutcomeBox<Outcome>) { self.outcome = outcome }

    func finish(_ value: Outcome) {
        outcome.value.withLock { $0 = value }
        loop.stop()
    }
}

final class OutcomeBox<Outcome: Sendable>: Sendable {
    let value = Mutex<Outcome?>(nil)
}

/// Runs the loop on a thread of its own until `finish`; nil when that does not come within 20 seconds.
func onReactor<Outcome: Sendable>(
    _ start: @escaping @ReactorActor (ReactorRun<Outcome>) -> Void
) async -> Outcome? {
    await withCheckedContinuation { continuation in
        onThread {
            let outcome = OutcomeBox<Outcome>()
            let status = EventLoop.run {
                let run = ReactorRun(outcome)
                let giveUp = run.loop.timer { run.loop.stop(status: 1) }
                giveUp.set(at: run.loop.nanosecondsSinceBoot + 20_000_000_000)
                start(run)
            }
            continuation.resume(returning: status == 0 ? outcome.value.withLock { $0 } : nil)
        }
    }
}

func onThread(_ body: @escaping @Sendable () -> Void) {
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

/// Two connected non-blocking sockets.
func socketPair() -> (Int32, Int32) {
    var ends: (Int32, Int32) = (-1, -1)
    let result = withUnsafeMutableBytes(of: &ends) { bytes in
        socketpair(
            AF_UNIX, Int32(SOCK_STREAM.rawValue | UInt32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)), 0,
            bytes.assumingMemoryBound(to: Int32.self).baseAddress)
    }
    precondition(result == 0, "socketpair: \(errno)")
    return ends
}
