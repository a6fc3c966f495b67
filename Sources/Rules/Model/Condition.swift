package import Expressions

/// A condition of a rule or a branch, which must be true.
package struct Condition: Hashable, Sendable {
    package enum Test: Hashable, Sendable {
        case expression(Expression)
        case time(TimeCondition)
    }

    package var test: Test
    /// The condition as written, such as `states.lux < 20` or `time: after 21:30, before 04:00`; for traces.
    package var text: String
    package var location: SourceLocation

    package init(_ test: Test, text: String = "", location: SourceLocation = SourceLocation()) {
        self.test = test
        self.text = text
        self.location = location
    }
}

/// A `time:` condition: a window of the day, and the weekdays on which it may begin.
package struct TimeCondition: Hashable, Sendable {
    /// If `nil`, the start of the day.
    package var after: TimeOfDay?
    /// If `nil`, the end of the day.
    package var before: TimeOfDay?
    /// The weekdays on which the window may begin; if empty, every day.
    package var weekdays: Set<LocalTime.Weekday>

    package init(after: TimeOfDay? = nil, before: TimeOfDay? = nil, weekdays: Set<LocalTime.Weekday> = []) {
        self.after = after
        self.before = before
        self.weekdays = weekdays
    }
}
