import ButtonModel
import Testing

@testable import Rules

@Suite("The scheduler of runs")
struct RunSchedulerTests {
    private static let now = Instant(sinceBoot: .seconds(9))
    private static let cause = RunCause(at: House.noon)
    private static let group = ConcurrencyGroupID(rule: 0)

    /// A scheduler with `runs` runs of one rule, and that rule.
    private static func scheduler(_ mode: Rule.Mode, max: Int = 1, runs: Int) -> (RunScheduler, Rule) {
        let rule = Rule.on(.click, mode: mode, max: max, do: .say("hello"))
        var scheduler = RunScheduler(nextRun: RunID(rawValue: 1))
        for _ in 0..<runs { _ = scheduler.enqueue(rule, in: group, cause, isDryRun: false, at: now) }
        return (scheduler, rule)
    }

    @Test(
        "a mode admits its maximum number of runs and no more",
        arguments: [(.single, 1, 1), (.queued, 3, 3), (.parallel, 4, 4)] as [(Rule.Mode, Int, Int)])
    func busy(mode: Rule.Mode, max: Int, room: Int) {
        for runs in 0..<room {
            let (scheduler, rule) = Self.scheduler(mode, max: max, runs: runs)
            #expect(scheduler.busyReason(rule, in: Self.group) == nil)
        }
        let (scheduler, rule) = Self.scheduler(mode, max: max, runs: room)
        #expect(scheduler.busyReason(rule, in: Self.group)?.hasPrefix(mode.rawValue) == true)
    }

    @Test("a queued run starts when the one before it has ended")
    func queued() {
        var (scheduler, _) = Self.scheduler(.queued, max: 3, runs: 2)
        #expect(scheduler.takeStart()?.run.rawValue == 1)
        #expect(scheduler.takeStart() == nil)
        #expect(scheduler.count == 1)
        #expect(scheduler.withdraw(RunID(rawValue: 2), startsNext: true) == nil)
        _ = scheduler.enqueueApart(0, Self.cause, at: Instant(nanoseconds: 0))
        #expect(scheduler.takeStart()?.group == nil)
    }

    @Test("a run that was chosen to start can be withdrawn, and the next one starts instead")
    func withdraw() {
        var (scheduler, _) = Self.scheduler(.queued, max: 3, runs: 2)
        #expect(scheduler.withdraw(RunID(rawValue: 1), startsNext: true)?.run.rawValue == 1)
        #expect(scheduler.takeStart()?.run.rawValue == 2)
    }

    @Test("the queued runs of a group are dropped together")
    func dropQueued() {
        var (scheduler, _) = Self.scheduler(.queued, max: 3, runs: 3)
        #expect(scheduler.dropQueued(in: Self.group).map(\.rawValue) == [2, 3])
        #expect(scheduler.dropQueued(in: Self.group) == [])
        #expect(scheduler.count == 1)
    }

    @Test("no run starts beyond the limit for all rules")
    func limit() {
        let (scheduler, rule) = Self.scheduler(.parallel, max: 2000, runs: RunScheduler.maximumRuns)
        #expect(scheduler.busyReason != nil)
        #expect(scheduler.busyReason(rule, in: ConcurrencyGroupID(rule: 1)) == "1000 runs are in progress")
    }
}
