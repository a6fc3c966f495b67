import CLinux
import Glibc
import Reactor
import ReactorTestSupport
import Testing

@Suite struct ReactorActorTests {
    @Test("work runs beside the loop, its result arrives on it")
    func offload() async {
        let threads: [UInt]? = await onReactor { run in
            let here = UInt(pthread_self())
            run.loop.offload {
                UInt(pthread_self())
            } then: { helper in
                run.finish([here, helper, UInt(pthread_self())])
            }
        }
        #expect(threads?.count == 3)
        #expect(threads?[0] == threads?[2])
        #expect(threads?[0] != threads?[1])
    }

    @Test("the result of work that outlives its run is lost")
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
            let here = UInt(pthread_self())
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

@ReactorActor private func threadOfReactor() -> UInt { UInt(pthread_self()) }
