import CLinux
import Glibc
import Reactor
import ReactorTestSupport
import Testing

@Suite struct EventLoopTests {
    @Test("run returns the status given to stop, and may be called again")
    func status() async {
        for wanted: Int32 in [0, 7] {
            let status = await withCheckedContinuation { continuation in
                onThread { continuation.resume(returning: EventLoop.run { EventLoop.shared.stop(status: wanted) }) }
            }
            #expect(status == wanted)
        }
    }

    @Test("a descriptor is reported while it is ready and its interest asks for it")
    func readiness() async {
        let seen: [String]? = await onReactor { run in
            let (near, far) = socketPair()
            var seen: [String] = []
            var watch: Watch?
            watch = run.loop.watch(near, .write) { interest in
                if interest.contains(.write) {
                    seen.append("write")
                    watch?.set(.read)
                    _ = write(far, "x", 1)
                }
                if interest.contains(.read) {
                    var octet: UInt8 = 0
                    let count = read(near, &octet, 1)
                    seen.append(count == 1 ? "read" : "end")
                    if count == 1 {
                        close(far)
                    } else {
                        watch?.cancel()
                        close(near)
                        run.finish(seen)
                    }
                }
            }
        }
        #expect(seen == ["write", "read", "end"])
    }

    @Test("a priority descriptor is served before the others, and again after a handler that takes long")
    func first() async {
        let seen: [String]? = await onReactor { run in
            let others = [socketPair(), socketPair(), socketPair()]
            let radio = socketPair()
            var seen: [String] = []
            func read(_ descriptor: Int32) {
                var octet: UInt8 = 0
                _ = Glibc.read(descriptor, &octet, 1)
            }
            let watches = Watches()
            for pair in others {
                watches.all.append(
                    run.loop.watch(pair.near, .read) { _ in
                        read(pair.near)
                        seen.append("other")
                        // The first of these handlers takes long, and the radio's descriptor becomes readable meanwhile.
                        if seen.count(where: { $0 == "other" }) == 1 {
                            _ = write(radio.far, "x", 1)
                            let start = run.loop.nanosecondsSinceBoot
                            while run.loop.nanosecondsSinceBoot - start < 1_500_000 {}
                        }
                        if seen.count == 5 {
                            for watch in watches.all { watch.cancel() }
                            for pair in others + [radio] {
                                close(pair.near)
                                close(pair.far)
                            }
                            run.finish(seen)
                        }
                    })
                _ = write(pair.far, "x", 1)
            }
            watches.all.append(
                run.loop.watch(radio.near, .read, isPriority: true) { _ in
                    read(radio.near)
                    seen.append("radio")
                })
            _ = write(radio.far, "x", 1)
        }
        #expect(seen == ["radio", "other", "radio", "other", "other"])
    }

    @Test("descriptors that are always ready are served first in turn")
    func turns() async {
        let seen: Set<Int>? = await onReactor { run in
            let pairs = (0..<5).map { _ in socketPair() }
            var (turn, firsts, count): (UInt64, Set<Int>, Int) = (0, [], 0)
            let watches = Watches()
            for (place, pair) in pairs.enumerated() {
                _ = write(pair.far, "x", 1)
                watches.all.append(
                    run.loop.watch(pair.near, .read) { _ in
                        if run.loop.turn != turn { firsts.insert(place) }
                        turn = run.loop.turn
                        count += 1
                        guard count == 100 else { return }
                        for watch in watches.all { watch.cancel() }
                        for pair in pairs {
                            close(pair.near)
                            close(pair.far)
                        }
                        run.finish(firsts)
                    })
            }
        }
        #expect(seen == [0, 1, 2, 3, 4])
    }

    @Test(
        "a budget is spent by octets or by time, and is full again in the next turn; the first piece is never refused")
    func budget() {
        var budget = TurnBudget()
        func allows(_ turn: UInt64, _ now: Int64, spending octets: Int = 0) -> Bool {
            budget.spend(octets)
            return budget.allows(turn: turn, at: now)
        }
        #expect(allows(1, 0))
        #expect(allows(1, TurnBudget.time - 1, spending: TurnBudget.octets - 1))
        #expect(!allows(1, TurnBudget.time))
        #expect(!allows(1, 1, spending: 1))
        #expect(allows(2, TurnBudget.time))
        #expect(!allows(2, TurnBudget.time, spending: 10 * TurnBudget.octets))
        #expect(allows(3, TurnBudget.time))
    }

    @Test("an event already fetched is not delivered to the next owner of the descriptor's number")
    func generations() async {
        let seen: [String]? = await onReactor { run in
            let pairs = [socketPair(), socketPair()]
            for pair in pairs { _ = write(pair.1, "x", 1) }
            var seen: [String] = []
            let watches = Watches()
            // Both are readable in one batch. Whichever comes first closes the other and takes its number over.
            for (index, pair) in pairs.enumerated() {
                watches.all.append(
                    run.loop.watch(pair.0, .read) { _ in
                        seen.append("first owner")
                        let other = pairs[1 - index].0
                        for watch in watches.all { watch.cancel() }
                        #expect(dup2(pair.0, other) == other)
                        _ = run.loop.watch(other, .write) { interest in
                            seen.append(interest.contains(.read) ? "stale" : "second owner")
                            run.finish(seen)
                        }
                    })
            }
        }
        #expect(seen == ["first owner", "second owner"])
    }

    @Test("a watch cancelled twice does not touch the watch that has its number now")
    func cancelIsIdempotent() async {
        let seen: Bool? = await onReactor { run in
            let (near, far) = socketPair()
            let old = run.loop.watch(near, .read) { _ in }
            old.cancel()
            _ = run.loop.watch(near, .read) { _ in run.finish(true) }
            old.cancel()
            old.set([])
            _ = write(far, "x", 1)
        }
        #expect(seen == true)
    }

    @Test("a descriptor number that is reused before its old watch was cancelled belongs to the new watch")
    func closedUnderneath() async {
        let seen: [String]? = await onReactor { run in
            let (near, far) = socketPair()
            var seen: [String] = []
            let old = run.loop.watch(near, .read) { _ in seen.append("old") }
            let (second, secondFar) = socketPair()
            // dup2 closes the first and gives its number to the second in one step, because other tests open descriptors, too.
            dup2(second, near)
            _ = run.loop.watch(near, .read) { _ in
                seen.append("new")
                run.finish(seen)
            }
            old.cancel()
            _ = write(secondFar, "x", 1)
            _ = far
        }
        #expect(seen == ["new"])
    }

    @Test("a hangup is reported without being requested, but not with an empty interest")
    func hangup() async {
        let reports: Int? = await onReactor { run in
            let (near, far) = socketPair()
            var reports = 0
            var watch: Watch?
            watch = run.loop.watch(near, .write) { interest in
                guard interest.hasHangup else { return }
                reports += 1
                watch?.set([])
                run.after(milliseconds: 5) { run.finish(reports) }
            }
            close(far)
        }
        #expect(reports == 1)
    }

    @Test("a descriptor that epoll refuses is reported as a hangup")
    func regularFile() async {
        let interest: IOEvents? = await onReactor { run in
            let descriptor = open("/proc/self/status", O_RDONLY | O_CLOEXEC)
            _ = run.loop.watch(descriptor, .read) { run.finish($0) }
        }
        #expect(interest == .hangup)
    }

    @Test("a signal is read on the loop")
    func signals() async {
        let signal: Int32? = await onReactor { run in
            run.loop.onSignals([SIGUSR1, SIGHUP]) { run.finish($0) }
            raise(SIGHUP)
        }
        #expect(signal == SIGHUP)
    }

    @Test("SIGPIPE is ignored")
    func brokenPipe() async {
        let failure: Int32? = await onReactor { run in
            let (near, far) = socketPair()
            close(far)
            let result = write(near, "x", 1)
            run.finish(result < 0 ? errno : 0)
        }
        #expect(failure == EPIPE)
    }

    @Test("the loop's thread sleeps while nothing happens")
    func idle() async {
        let switches: Int? = await onReactor { run in
            let before = voluntarySwitches()
            run.after(milliseconds: 200) { run.finish(voluntarySwitches() - before) }
        }
        // Waiting is itself one context switch.
        #expect((1...2).contains(switches ?? 0))
    }

    @Test("without a step of the wall clock, none is reported")
    func wallClock() async {
        // Setting the clock needs a privilege, so the test only checks that nothing is reported without a step.
        let reports: Int? = await onReactor { run in
            var reports = 0
            run.loop.onWallClockStep { reports += 1 }
            run.after(milliseconds: 5) { run.finish(reports) }
        }
        #expect(reports == 0)
    }
}

@ReactorActor private final class Watches {
    var all: [Watch] = []
}

private func voluntarySwitches() -> Int {
    var usage = rusage()
    getrusage(1, &usage)  // RUSAGE_THREAD
    return usage.ru_nvcsw
}
