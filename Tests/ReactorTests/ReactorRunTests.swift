import CLinux
import Reactor
import ReactorTestSupport
import Testing

@Suite("A test's turn on the loop")
struct ReactorRunTests {
    @Test("its tasks stay on the loop's thread, also without actor isolation and while they wait")
    func threads() async {
        let isOnLoop: [Bool]? = await onReactor { run in
            let loop = linux_thread()
            run.task {
                let beside = await threadBeside() == loop
                let whileWaiting: Bool = await withCheckedContinuation { continuation in
                    let isOnLoop = linux_thread() == loop
                    run.after(milliseconds: 0) { continuation.resume(returning: isOnLoop) }
                }
                run.finish([beside, whileWaiting, linux_thread() == loop])
            }
        }
        #expect(isOnLoop == [true, true, true])
    }

    @Test(
        "a test that runs on the loop is still known as the current test, so that its issues are reported with its name"
    )
    func currentTest() async throws {
        let (name, isOnLoop) = try await withReactor {
            let loop = linux_thread()
            let beside = await threadBeside() == loop
            await Task.yield()
            return (Test.current?.name, beside && linux_thread() == loop)
        }
        #expect(name == "currentTest()")
        #expect(isOnLoop)
    }

    @Test("a task that finishes after the limit does not end the turn of the next test")
    func lateFinish() async {
        let left = OutcomeBox<ReactorRun<Bool>>()
        let first: Bool? = await onReactor(within: 1) { run in left.value = run }
        #expect(first == nil)
        let second: String? = await onReactor { run in
            left.value?.finish(true)
            run.after(milliseconds: 0) { run.finish("its own") }
        }
        #expect(second == "its own")
    }

    @Test("advancing the clock fires exactly the timers that are due, in order")
    func wind() async {
        let fired: [String]? = await onReactor(within: 86_400_000) { run in
            var fired: [String] = []
            run.after(milliseconds: 3_600_000) { fired.append("an hour") }
            run.after(milliseconds: 7_200_000) { fired.append("two hours") }
            run.after(milliseconds: 1) {
                fired.append("at once")
                // By now the timerfd is armed for the next of them.
                run.after(milliseconds: 5) {
                    run.loop.advanceClock(nanoseconds: 3_600_000_000_000)
                    run.after(milliseconds: 1) { run.finish(fired) }
                }
            }
        }
        #expect(fired == ["at once", "an hour"])
    }
}

private func threadBeside() async -> UInt { linux_thread() }
