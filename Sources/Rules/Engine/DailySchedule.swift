import Almanac
import ButtonModel
import Expressions

/// The times of each day at which variables with `reset` return to their initial values and `at` triggers fire.
///
/// Only the earliest of these times sets the engine's timer, so their number costs nothing between them.
struct DailySchedule: Sendable {
    /// After the clock was set back by more than this, the stored times are not trusted any more.
    static let longestStepBack = Duration.seconds(36 * 3600)

    enum Target: Hashable, Sendable {
        /// An index in `RuleSet.variables`.
        case variable(Int)
        case trigger(RuleIndex.Match)
    }

    private struct Entry: Sendable {
        /// The key in `RuleState.dailyTimes`.
        var key: String
        var target: Target
        var times: TimesOfDay
        /// True if `handled` is stored, because what a stopped program has missed is carried out later.
        var isStored: Bool
        /// True until `handled` was stored for the first time.
        var isUnsaved = false
        /// True while `handled` is stored only because the clock was set back behind a time that was carried out, which must
        /// not be carried out again after a restart.
        var isKept = false
        /// Everything until this time was carried out, or came before the entry was declared. `nil` until the clock is known.
        var handled: UTCTime?
    }

    /// An entry whose time has come.
    struct Step: Sendable {
        var target: Target
        /// The latest time that has come; `nil` if only something must be stored.
        var due: UTCTime?
        /// The change that must be stored.
        var change: RuleStateChange?
    }

    private var entries: [Entry] = []
    private var deadlines = Deadlines<Int>()

    init() {}

    init(_ rules: PreparedRules, handled: [String: UTCTime] = [:]) {
        for (index, variable) in rules.set.variables.enumerated() {
            guard let time = variable.reset else { continue }
            add(variable.name, .variable(index), TimesOfDay([time]), isStored: true, handled[variable.name])
        }
        for timed in rules.timeTriggers {
            add(timed.key, .trigger(timed.match), timed.times, isStored: timed.isStored, handled[timed.key])
        }
    }

    private mutating func add(
        _ key: String, _ target: Target, _ times: TimesOfDay, isStored: Bool, _ handled: UTCTime?
    ) {
        // The calendar cannot calculate with a stored time at the end of its range.
        let handled = handled.map { max($0, UTCTime(milliseconds: 0)) }
        entries.append(
            Entry(
                key: key, target: target, times: times, isStored: isStored, isKept: !isStored && handled != nil,
                handled: handled))
    }

    /// The schedule after a reload. An entry whose times have changed counts as new, and has missed nothing.
    ///
    /// - Parameter moved: the present time, if the time zone or the position of the house has changed, so that `at` triggers
    ///   whose times are now others do not fire because of the reload.
    func continued(with rules: PreparedRules, movedAt moved: UTCTime?) -> DailySchedule {
        let before = Dictionary(entries.map { ($0.key, $0) }) { first, _ in first }
        var after = DailySchedule(rules)
        for index in after.entries.indices {
            let entry = after.entries[index]
            guard let old = before[entry.key], old.times == entry.times else { continue }
            after.entries[index].handled = old.handled
            after.entries[index].isKept = old.isKept && !entry.isStored
            after.entries[index].isUnsaved = old.handled != nil && entry.isStored && !old.isStored
            if case .trigger = entry.target, let moved, old.handled != nil {
                after.entries[index].handled = moved
                after.entries[index].isUnsaved = entry.isStored
            }
        }
        return after
    }

    var nextDeadline: Instant? { deadlines.earliest }
    var isEmpty: Bool { entries.isEmpty }

    /// The keys of the entries whose times are stored.
    var storedKeys: Set<String> { Set(entries.lazy.filter { $0.isStored || $0.isKept }.map(\.key)) }
    /// The keys of the entries whose times were stored.
    var handledKeys: Set<String> {
        Set(entries.lazy.filter { ($0.isStored || $0.isKept) && $0.handled != nil }.map(\.key))
    }

    /// Finds what was due until now, however late: while the program was stopped, the computer slept, or the clock jumped
    /// over it. Afterwards, `nextDeadline` is the next time.
    ///
    /// - Parameter onlyDue: true to examine only the entries whose deadlines have come, because the clock was not set.
    mutating func advance(to time: UTCTime, at now: Instant, in set: RuleSet, onlyDue: Bool) -> [Step] {
        var steps: [Step] = []
        var calendar = DailyCalendar(set)
        for index in onlyDue ? deadlines.due(at: now) : Array(entries.indices) {
            let entry = entries[index]
            var handled = entry.handled ?? time
            if handled > time + DailySchedule.longestStepBack { handled = time }
            // An earlier process kept the entry, so it is not known whether later times were handled. They count as handled.
            if entry.isKept, deadlines.deadline(of: index) == nil { handled = max(handled, time) }
            let due = calendar.latest(entry.times, after: handled, until: time)
            if due != nil { handled = time }
            let isKept =
                !entry.isStored && handled > time && calendar.latest(entry.times, after: time, until: handled) != nil
            var change: RuleStateChange?
            if entry.isStored {
                if handled != entry.handled || entry.isUnsaved { change = .daily(entry.key, handled) }
            } else if isKept != entry.isKept {
                change = .daily(entry.key, isKept ? handled : nil)
            }
            if due != nil || change != nil { steps.append(Step(target: entry.target, due: due, change: change)) }
            entries[index].handled = handled
            entries[index].isKept = isKept
            entries[index].isUnsaved = false
            let next = calendar.next(entry.times, after: max(handled, time))
            deadlines.set(index, at: next.map { now + .milliseconds($0.milliseconds - time.milliseconds) })
        }
        return steps
    }

    /// Stops until the clock is known again.
    mutating func pause() { deadlines = Deadlines() }

    /// Forgets what was carried out, because a test begins at another time.
    mutating func restart() {
        for index in entries.indices { entries[index].handled = nil }
    }
}

/// The moments of times of day. Equal times, of which a house with many rules has many, are computed once.
struct DailyCalendar {
    private struct Question: Hashable {
        var times: TimesOfDay
        var after: UTCTime
    }

    private let zone: TimeZone
    private let location: Location?
    private var answers: [Question: UTCTime?] = [:]

    init(_ set: RuleSet) {
        zone = set.timeZone
        location = set.coordinates
    }

    /// The first moment after another one.
    mutating func next(_ times: TimesOfDay, after moment: UTCTime) -> UTCTime? {
        let question = Question(times: times, after: moment)
        if let known = answers[question] { return known }
        let next = times.times.compactMap { $0.next(after: moment, in: zone, at: location, on: times.weekdays) }.min()
        answers[question] = next
        return next
    }

    /// The last moment after `handled` and not after `time`. Of moments that are older than `longestStepBack`, it may be any.
    mutating func latest(_ times: TimesOfDay, after handled: UTCTime, until time: UTCTime) -> UTCTime? {
        guard var latest = next(times, after: handled), latest <= time else { return nil }
        var cursor = max(latest, time - DailySchedule.longestStepBack)
        while let following = next(times, after: cursor), following <= time {
            (latest, cursor) = (following, following)
        }
        return latest
    }
}

extension RuleEngine {
    /// A trigger whose time has come.
    struct DueTrigger {
        var match: RuleIndex.Match
        var due: UTCTime
        /// Zero, unless the time was missed.
        var late: Duration
    }

    /// Resets the variables whose time has come, and plans the next time.
    ///
    /// - Parameters:
    ///   - isContinuous: false if the clock has jumped, or is only known since now. A trigger then fires only if it has `missed`.
    ///   - isStart: true if the clock is only known since now. Then a trigger that is due exactly now counts as missed, too.
    /// - Returns: the triggers whose time has come, for `fire`.
    mutating func carryOutDailyTimes(
        onlyDue: Bool = false, isContinuous: Bool = true, isStart: Bool = false, at now: Instant,
        _ effects: inout [Effect]
    ) -> [DueTrigger] {
        guard !daily.isEmpty else { return [] }
        guard world.clock != nil, world.clockIsPlausible else {
            daily.pause()
            return []
        }
        let time = world.wallClock(at: now)
        var fired: [DueTrigger] = []
        var missed: [(rule: Int, due: UTCTime)] = []
        for step in daily.advance(to: time, at: now, in: set, onlyDue: onlyDue) {
            if let change = step.change { effects.append(.store(change)) }
            guard let due = step.due else { continue }
            switch step.target {
            case .variable(let variable):
                guard set.variables.indices.contains(variable) else { continue }
                // The initial value always fits the variable.
                try? world.assign(set.variables[variable].initial, to: variable)
            case .trigger(let match):
                if let late = lateness(of: match, due, time, isContinuous: isContinuous, isStart: isStart) {
                    fired.append(DueTrigger(match: match, due: due, late: late))
                } else {
                    missed.append((match.rule, due))
                }
            }
        }
        report(missed, &effects)
        carryOutChanges(at: now, &effects)
        return fired
    }

    /// Finds the triggers whose deadline has come, and resets the variables whose deadline has come.
    mutating func carryOutDueTimes(at now: Instant, _ effects: inout [Effect]) -> [DueTrigger] {
        guard let deadline = daily.nextDeadline, deadline <= now else { return [] }
        return carryOutDailyTimes(onlyDue: true, at: now, &effects)
    }

    /// How late a trigger fires; `nil` if it does not fire any more.
    private func lateness(
        of match: RuleIndex.Match, _ due: UTCTime, _ time: UTCTime, isContinuous: Bool, isStart: Bool
    ) -> Duration? {
        let late = Duration.milliseconds(time.milliseconds.addingSaturating(-due.milliseconds))
        if isContinuous, late <= TimeTrigger.promptness { return .zero }
        let triggers = set.rules[match.rule].triggers
        guard triggers.indices.contains(match.trigger), case .times(let trigger) = triggers[match.trigger].origin
        else { return nil }
        // A clock that is set to exactly the due time has not passed it, so the trigger does not fire. A program that starts at
        // exactly that time fires a trigger with `missed`, because it could not do so before.
        guard late > .zero || isStart && trigger.missed > .zero else { return nil }
        return late <= trigger.missed ? late : nil
    }

    /// Reports times that have passed while the program was stopped or the clock jumped, with one effect.
    private func report(_ missed: [(rule: Int, due: UTCTime)], _ effects: inout [Effect]) {
        guard let first = missed.first else { return }
        effects.append(
            .timesMissed(
                MissedTimes(
                    rule: set.rules[first.rule].id, time: world.timeStamp(first.due), count: missed.count)))
    }

    /// Judges the rules of triggers whose time has come, and continues the runs that wait for one. Triggers and runs with the same
    /// time are handled as one event.
    ///
    /// - Parameter runs: the runs, by the time for which they wait.
    mutating func fire(
        _ triggers: [DueTrigger], continuing runs: [UTCTime: [AwaitingRun]] = [:], at now: Instant,
        _ effects: inout [Effect]
    ) {
        let due = Dictionary(grouping: triggers, by: \.due)
        for time in Set(due.keys).union(runs.keys).sorted() {
            var matches: [RuleIndex.Match] = []
            let together = (due[time] ?? []).sorted { RuleIndex.Match.comesFirst($0.match, $1.match) }
            for trigger in together where matches.last?.rule != trigger.match.rule { matches.append(trigger.match) }
            let event = event(due: time, late: together.first?.late ?? .zero, at: now)
            judgeAndStart(event, matches, continuing: runs[time] ?? [], at: now, &effects)
            advance(at: now, &effects)
        }
    }

    /// The event of a time of day.
    func event(due: UTCTime, late: Duration, at now: Instant) -> Event {
        var facts = TriggerFacts()
        facts.event = TimeTrigger.eventName
        facts.at = world.timeStamp(due)
        facts.occasion = .time(late: late)
        return Event(cause: RunCause(facts: facts, at: due), at: now)
    }

    /// Continues the schedule with a new set.
    ///
    /// - Parameter before: the set until now.
    mutating func reloadDailyTimes(from before: RuleSet, at now: Instant, _ effects: inout [Effect]) {
        let hasMoved = before.timeZone != set.timeZone || before.coordinates != set.coordinates
        let old = daily
        daily = old.continued(
            with: prepared, movedAt: hasMoved ? world.plausibleClock.map { _ in world.wallClock(at: now) } : nil)
        let stored = daily.storedKeys
        for key in old.handledKeys.sorted() where !stored.contains(key) {
            effects.append(.store(.daily(key, nil)))
        }
        let due = carryOutDailyTimes(at: now, &effects)
        moveAwaitedTimes(hasMoved: hasMoved, at: now, &effects)
        fire(due, continuing: runsWithDueTimes(at: now), at: now, &effects)
    }
}
