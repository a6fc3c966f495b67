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

    /// Tells on which thread it was destroyed.
    private final class Captured: Sendable {
        private let thread: OutcomeBox<UInt>

        init(_ thread: OutcomeBox<UInt>) { self.thread = thread }

        deinit { thread.value = linux_thread() }
    }

    @Test("what the work captured is released before its result arrives, and what its callback captured on the loop")
    func release() async {
        for _ in 0..<300 {
            let (ofWork, ofCallback) = (OutcomeBox<UInt>(), OutcomeBox<UInt>())
            let found: [Bool]? = await onReactor { run in
                let (first, second) = (Captured(ofWork), Captured(ofCallback))
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
