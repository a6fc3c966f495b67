import CLinux
import Glibc
import Reactor
import ReactorTestSupport
import Testing

@Suite struct ReactorActorTests {
    @Test("offloaded work runs on another thread, and its result arrives on the loop")
    func offload() async {
        let threads: [UInt]? = await onReactor { run in
            let here = linux_thread()
            run.loop.offload {
                linux_thread()
            } then: { helper in
                run.finish([here, helper, linux_thread()])
            }
        }
        #expect(threads?.count == 3)
        #expect(threads?[0] == threads?[2])
        #expect(threads?[0] != threads?[1])
    }

    /// Tells when it is destroyed.
    private final class Captured: Sendable {
        private let ended: @Sendable () -> Void

        init(_ ended: @escaping @Sendable () -> Void) { self.ended = ended }

        deinit { ended() }
    }

    @Test("what the work captured is released before its result arrives, and what its callback captured on the loop")
    func release() async {
        for _ in 0..<300 {
            let (ofWork, ofCallback) = (OutcomeBox<UInt>(), OutcomeBox<UInt>())
            let found: [Bool]? = await onReactor { run in
                let first = Captured { ofWork.value = linux_thread() }
                let second = Captured { ofCallback.value = linux_thread() }
                run.loop.offload {
                    withExtendedLifetime(first) {}
                } then: {
                    withExtendedLifetime(second) {}
                    let isReleased = ofWork.value != nil
                    run.loop.onNextTurn { run.finish([isReleased, ofCallback.value == linux_thread()]) }
                }
            }
            #expect(found == [true, true])
            guard found == [true, true] else { return }
        }
    }

    @Test("what a callback captured outlives the work, even if the run ends before the work does")
    func callbackOfEndedRun() async {
        let (released, wasReleased) = (OutcomeBox<UInt>(), OutcomeBox<Bool>())
        let (gate, end) = (socketPair(), socketPair())
        linux_set_blocking(gate.near, 1)
        let isEnded: Bool? = await onReactor { run in
            let captured = Captured {
                released.value = linux_thread()
                _ = write(end.far, "x", 1)
            }
            run.loop.offload {
                var octet: UInt8 = 0
                _ = read(gate.near, &octet, 1)
                wasReleased.value = released.value != nil
            } then: {
                withExtendedLifetime(captured) {}
            }
            run.finish(true)
        }
        #expect(isEnded == true)
        let found: [Bool]? = await onReactor { run in
            let here = linux_thread()
            _ = run.loop.watch(end.near, .read) { _ in
                run.finish([wasReleased.value == false, released.value == here])
            }
            _ = write(gate.far, "x", 1)
        }
        #expect(found == [true, true])
    }

    @Test("the result of work that outlives its run is discarded")
    func orphan() async {
        let gate = OutcomeBox<Bool>()
        let outcome: String? = await onReactor { run in
            let (near, far) = socketPair()
            linux_set_blocking(near, 1)
            run.loop.offload {
                var octet: UInt8 = 0
                _ = read(near, &octet, 1)
            } then: {
                gate.value = true
            }
            run.finish("ended")
            _ = write(far, "x", 1)
        }
        #expect(outcome == "ended")
        // The next run would find the result in the inbox.
        let next: Bool? = await onReactor { run in
            run.after(milliseconds: 20) { run.finish(gate.value ?? false) }
        }
        #expect(next == false)
    }

    @Test("a task enters the loop's thread with await")
    func tasks() async {
        let isSame: Bool? = await onReactor { run in
            let here = linux_thread()
            Task.detached(executorPreference: ThreadExecutor()) {
                let there = await threadOfReactor()
                await run.finish(here == there)
            }
        }
        #expect(isSame == true)
    }

    @Test("a callback of a C library may assume the isolation")
    func assumeIsolated() async {
        let value: Int? = await onReactor { run in
            let callback: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
                guard let context else { return }
                let run = Unmanaged<ReactorRun<Int>>.fromOpaque(context).takeUnretainedValue()
                ReactorActor.assumeIsolated { run.finish(42) }
            }
            callback(Unmanaged.passUnretained(run).toOpaque())
        }
        #expect(value == 42)
    }
}

@ReactorActor private func threadOfReactor() -> UInt { linux_thread() }
