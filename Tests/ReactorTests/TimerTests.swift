import Reactor
import ReactorTestSupport
import TestSupport
import Testing

@Suite struct TimerTests {
    @Test("timers fire in the order of their deadlines, equal ones in the order they were set")
    func order() async {
        let fired: [String]? = await onReactor { run in
            let start = run.loop.nanosecondsSinceBoot
            var fired: [String] = []
            var timers: [Timer] = []
            for (name, delay) in [("c", 4_000_000), ("a", 2_000_000), ("d", 4_000_000), ("b", 3_000_000)]
                as [(String, Int64)]
            {
                let timer = run.loop.timer {
                    fired.append(name)
                    if fired.count == 4 { run.finish(fired) }
                }
                timer.set(at: start + delay)
                timers.append(timer)
            }
        }
        #expect(fired == ["a", "b", "c", "d"])
    }

    @Test("a timer does not fire before its deadline")
    func punctuality() async {
        let late: Int64? = await onReactor { run in
            let deadline = run.loop.nanosecondsSinceBoot + 3_000_000
            let timer = run.loop.timer { run.finish(run.loop.nanosecondsSinceBoot - deadline) }
            timer.set(at: deadline)
        }
        #expect(late.map { $0 >= 0 } == true)
    }

    @Test("setting a timer again replaces its deadline")
    func replacement() async {
        let fired: Int? = await onReactor { run in
            let start = run.loop.nanosecondsSinceBoot
            var fired = 0
            let timer = run.loop.timer { fired += 1 }
            timer.set(at: start + 3_600_000_000_000)
            timer.set(at: start + 2_000_000)
            timer.set(at: start + 1_000_000)
            let later = run.loop.timer { run.finish(fired) }
            later.set(at: start + 4_000_000)
        }
        #expect(fired == 1)
    }

    @Test("a timer that sets itself in the past fires once in each turn and does not starve others")
    func past() async {
        let fired: [String]? = await onReactor { run in
            let (near, far) = socketPair()
            var fired: [String] = []
            var timer: Timer?
            timer = run.loop.timer {
                fired.append("timer")
                if fired.count < 1_000 { timer?.set(at: -1) }
            }
            timer?.set(at: -1)
            _ = run.loop.watch(near, .write) { _ in
                fired.append("descriptor")
                if fired.count > 4 { run.finish(Array(fired.prefix(4))) }
            }
            _ = far
        }
        #expect(fired?.sorted() == ["descriptor", "descriptor", "timer", "timer"])
    }

    @Test("a timer cancelled by another that is due at the same time does not fire")
    func cancelWhileDue() async {
        let fired: [String]? = await onReactor { run in
            var fired: [String] = []
            let second = run.loop.timer { fired.append("second") }
            let third = run.loop.timer { run.finish(fired) }
            let first = run.loop.timer {
                fired.append("first")
                second.cancel()
                third.set(at: 2)
            }
            first.set(at: 1)
            second.set(at: 1)
        }
        #expect(fired == ["first"])
    }

    @Test("any mixture of setting, moving and cancelling keeps the order", arguments: 1...20 as ClosedRange<UInt64>)
    func heap(seed: UInt64) async {
        let isSorted: Bool? = await onReactor { run in
            var random = SeededGenerator(seed: seed)
            // All of them lie in the past, so that one turn takes the whole heap.
            var deadlines: [Int: Int64] = [:]
            var fired: [Int] = []
            let timers = (0..<64).map { index in run.loop.timer { fired.append(index) } }
            for _ in 0..<500 {
                let index = Int.random(in: 0..<64, using: &random)
                if Int.random(in: 0..<4, using: &random) == 0 {
                    timers[index].cancel()
                    deadlines[index] = nil
                } else {
                    let deadline = Int64.random(in: -100...100, using: &random)
                    timers[index].set(at: deadline)
                    deadlines[index] = deadline
                }
            }
            let last = run.loop.timer {
                run.finish(
                    Set(fired) == Set(deadlines.keys) && fired.count == deadlines.count
                        && zip(fired, fired.dropFirst()).allSatisfy { (deadlines[$0] ?? 0) <= (deadlines[$1] ?? 0) })
            }
            last.set(at: 1_000)
        }
        #expect(isSorted == true)
    }
}
