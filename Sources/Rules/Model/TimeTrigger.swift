package import Expressions

/// Times of day, on all days or only on some.
package struct TimesOfDay: Hashable, Sendable {
    package var times: [TimeOfDay]
    /// The local days on which the times come; if empty, every day.
    package var weekdays: Set<LocalTime.Weekday>

    package init(_ times: [TimeOfDay], on weekdays: Set<LocalTime.Weekday> = []) {
        self.times = times
        self.weekdays = weekdays
    }
}

/// An `at` trigger: it fires at local times of day.
package struct TimeTrigger: Hashable, Sendable {
    /// The longest `offset` of a sun event, in both directions, and the longest `missed`.
    package static let longestOffset = Duration.seconds(12 * 3600)
    /// A trigger that fires at most this late is in time, because a computer may be busy.
    static let promptness = Duration.seconds(10)
    /// The value of `trigger.event`.
    package static let eventName = "at"

    package var times: TimesOfDay
    /// How late it may fire if the program was stopped at the time, or if the clock jumped over it.
    package var missed: Duration

    package init(_ times: [TimeOfDay], on weekdays: Set<LocalTime.Weekday> = [], missed: Duration = .zero) {
        self.times = TimesOfDay(times, on: weekdays)
        self.missed = missed
    }
}

/// The `at` triggers of a set, found once for each set.
struct TimedRule: Sendable {
    var match: RuleIndex.Match
    var times: TimesOfDay
    /// The key in `RuleState.dailyTimes`, such as `pill/21:00 mon tue`. It contains the times, because a trigger whose times
    /// were changed has missed nothing.
    var key: String
    var isStored: Bool

    static func all(in set: RuleSet) -> [TimedRule] {
        var found: [TimedRule] = []
        for (rule, declared) in set.rules.enumerated() {
            for (index, trigger) in declared.triggers.enumerated() {
                guard case .times(let timed) = trigger.origin else { continue }
                let days = LocalTime.Weekday.allCases.filter(timed.times.weekdays.contains).map(\.rawValue)
                let words = timed.times.times.map(\.text) + days
                found.append(
                    TimedRule(
                        match: RuleIndex.Match(rule: rule, trigger: index), times: timed.times,
                        key: "\(declared.id)/\(words.joined(separator: " "))", isStored: timed.missed > .zero))
            }
        }
        return found
    }
}
