package import Expressions

/// What must hold.
package struct Condition: Hashable, Sendable {
    package enum Test: Hashable, Sendable {
        case expression(Expression)
        case time(TimeCondition)
    }

    package var test: Test
    /// As it was written: `states.lux < 20`, `time: after 21:30, before 04:00`. For traces.
    package var source: String
    package var place: Place

    package init(_ test: Test, source: String = "", place: Place = Place()) {
        self.test = test
        self.source = source
        self.place = place
    }
}

/// `time:` — a window of the day, and the days on which it begins.
package struct TimeCondition: Hashable, Sendable {
    /// `nil`: the start of the day.
    package var after: Clock?
    /// `nil`: the end of the day.
    package var before: Clock?
    /// Days on which the window began; empty: every day.
    package var weekdays: Set<LocalTime.Weekday>

    package init(after: Clock? = nil, before: Clock? = nil, weekdays: Set<LocalTime.Weekday> = []) {
        self.after = after
        self.before = before
        self.weekdays = weekdays
    }
}
