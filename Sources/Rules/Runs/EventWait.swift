import Almanac
import ButtonModel
import Expressions

/// The wait of a run in a `wait_for` step, and what has been seen since the step began.
struct EventWait: Hashable, Sendable {
    /// The most counts that are decoded. A step has no more triggers and states than fit into a file.
    static let maximumCounts = 10_000

    /// A `state` trigger with `for` whose value has come and has not lasted long enough yet.
    struct Count: Hashable, Sendable {
        /// An index in `WaitForStep.triggers`.
        var trigger: Int
        /// The name of the state, which a reload keeps.
        var state: String
        /// The value before the change; `nil` if the count began in an earlier process.
        var old: Value?
        /// The value with which the count began.
        var first: Value
        /// When the value has lasted long enough; `nil` after a restart, until the state is known.
        var until: Instant?
    }

    /// The next time of an `at` trigger.
    struct Time: Hashable, Sendable {
        /// An index in `WaitForStep.triggers`.
        var trigger: Int
        var due: UTCTime
        var at: Instant
    }

    /// Only what happens after this counts.
    var since: Instant
    var until: Instant
    /// Times of day up to this one are over: when the step began. `nil` until the clock is known.
    var handled: UTCTime?
    /// `nil` if no `at` trigger is among the triggers, or while the clock is not known.
    var next: Time?
    var counts: [Count] = []
    /// When the times were found last. What was due before is due at this moment.
    private var plannedAt: Instant

    init(since: Instant, until: Instant) {
        self.since = since
        self.until = until
        plannedAt = since
    }

    /// The first moment at which something happens.
    var deadline: Instant {
        var deadline = until
        if let next { deadline = min(deadline, next.at) }
        for case let end? in counts.map(\.until) { deadline = min(deadline, end) }
        return max(deadline, plannedAt)
    }

    /// The time of day that has come before the time of the step was over; `nil` if there is none.
    func dueTime(at now: Instant) -> Time? {
        guard let next, next.at <= now, next.at <= until else { return nil }
        return dueCount(at: next.at - .nanoseconds(1)) == nil ? next : nil
    }

    /// The value that has lasted long enough first, before the time of the step was over; `nil` if there is none.
    func dueCount(at now: Instant) -> Count? {
        counts.filter { count in count.until.map { $0 <= now && $0 <= until } ?? false }
            .min { ($0.until ?? until) < ($1.until ?? until) }
    }

    /// Finds the next time of the `at` triggers. After the clock was set forward over a time, it has passed already.
    mutating func plan(_ triggers: [Trigger], in world: World, at now: Instant) {
        next = nil
        plannedAt = now
        guard triggers.contains(where: \.isOfTime), world.plausibleClock != nil else { return }
        let time = world.wallClock(at: now)
        var handled = handled ?? time
        if handled > time + DailySchedule.longestStepBack { handled = time }
        self.handled = handled
        var calendar = DailyCalendar(world.set)
        for (index, trigger) in triggers.enumerated() {
            guard case .times(let timed) = trigger.origin, let due = calendar.next(timed.times, after: handled),
                next.map({ due < $0.due }) ?? true
            else { continue }
            next = Time(trigger: index, due: due, at: now + .milliseconds(due.milliseconds - time.milliseconds))
        }
    }
}

extension Trigger {
    var isOfTime: Bool { if case .times = origin { true } else { false } }
}
