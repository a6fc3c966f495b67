import Almanac
import ButtonModel
import Expressions
import Gestures
import TestSupport
import Testing

@testable import Rules

@Suite("Conditions on the time of day")
struct ConditionTests {
    /// The value of the condition on this window on that day of January 2026; the 15th is a Thursday.
    static func verdict(
        _ after: String?, _ before: String?, weekdays: Set<LocalTime.Weekday> = [], day: Int = 15, at time: String,
        location: Location? = nil
    ) throws -> (holds: Bool, reason: String) {
        var set = RuleSet()
        set.coordinates = location
        let window = TimeCondition(
            after: try after.map { try TimeOfDay($0) }, before: try before.map { try TimeOfDay($0) }, weekdays: weekdays
        )
        set.rules = [Rule(id: "rule", triggers: [], conditions: [Condition(.time(window))], steps: [])]
        var world = World(set)
        let now = Instant(nanoseconds: 0)
        let clock = try TimeOfDay(time)
        let utc =
            UTCTime(milliseconds: House.noon.milliseconds + Int64(day - 15) * 86_400_000 - 43_200_000)
            + .milliseconds(clock.millisecondOfDay(SunFacts()))
        world.clock = (utc, now)
        var environment = world.environment(for: TriggerFacts(), time: utc, at: now)
        let verdict = world.evaluate(on: Condition(.time(window)), in: &environment, time: utc)
        #expect(!verdict.isError)
        return (verdict.holds, verdict.reason)
    }

    @Test("a time window contains its after time, not its before time, and may span midnight")
    func windows() throws {
        typealias Row = (after: String?, before: String?, time: String, holds: Bool)
        let rows: [Row] = [
            ("08:00", "10:00", "08:00", true), ("08:00", "10:00", "09:59:59", true), ("08:00", "10:00", "10:00", false),
            ("08:00", "10:00", "07:59:59", false), ("21:30", "04:00", "21:30", true),
            ("21:30", "04:00", "03:59:59", true),
            ("21:30", "04:00", "04:00", false), ("21:30", "04:00", "12:00", false), ("18:00", nil, "23:59:59", true),
            ("18:00", nil, "17:59:59", false), ("00:00", nil, "00:00", true), (nil, "07:00", "00:00", true),
            (nil, "07:00", "07:00", false), (nil, nil, "12:00", true),
        ]
        for row in rows {
            let verdict = try ConditionTests.verdict(row.after, row.before, at: row.time)
            #expect(verdict.holds == row.holds, "\(row)")
        }
    }

    @Test("a verdict on a time condition names the time and the window")
    func reasons() throws {
        #expect(try ConditionTests.verdict("21:30", "04:00", at: "12:00").reason == "time: 12:00 is not in 21:30…04:00")
        #expect(try ConditionTests.verdict("18:00", nil, at: "18:00:05").reason == "time: 18:00:05 is in 18:00…24:00")
    }

    @Test("a weekday in a time condition is the day on which the window began")
    func weekdays() throws {
        let friday = 16, saturday = 17
        func holds(_ day: Int, _ time: String, _ after: String? = "22:00", _ before: String? = "02:00") throws -> Bool {
            try ConditionTests.verdict(after, before, weekdays: [.fri], day: day, at: time).holds
        }
        #expect(try holds(friday, "22:30"))
        #expect(try holds(saturday, "01:00"))
        #expect(try !holds(friday, "01:00"))
        #expect(try !holds(saturday, "22:30"))
        #expect(try holds(friday, "01:00", nil, "02:00"))
        #expect(try holds(friday, "12:00", nil, nil))
        #expect(try !holds(saturday, "00:00", nil, nil))
        #expect(
            try ConditionTests.verdict("22:00", "02:00", weekdays: [.fri, .mon], day: friday, at: "01:00").reason
                == "time: 01:00 is in 22:00…02:00, but that began on thu, not mon, fri")
    }

    @Test("sun times are those of the local day, and on a day without a sunrise it is night all day")
    func sun() throws {
        let amsterdam = Location(latitude: 52.37, longitude: 4.9)
        let night = try ConditionTests.verdict("sunset - 30m", "sunrise", at: "22:15", location: amsterdam)
        #expect(night.holds)
        #expect(night.reason.hasPrefix("time: 22:15 is in 15:2"))
        #expect(try !ConditionTests.verdict("sunset", "sunrise", at: "12:00", location: amsterdam).holds)
        let tromsø = Location(latitude: 69.65, longitude: 18.96)
        let dark = try ConditionTests.verdict("sunset", "sunrise", day: 1, at: "12:00", location: tromsø)
        #expect(dark.holds)
        #expect(dark.reason.hasSuffix("the sun does not rise that day"))
    }

    @Test("with an implausible clock every time condition is false and says why")
    func unbelievable() throws {
        let day = Condition(.time(TimeCondition(after: try TimeOfDay("00:00"))))
        var talk = House.talk(
            .on(.click, id: "time", if: [day], do: .say("time")),
            .on(.click, id: "in_time", if: [try .that("in_time('00:00', '23:59:59')")], do: .say("in_time")),
            .on(.click, id: "not", if: [try .that("now.hour < 24")], do: .say("not")))
        talk.given(.wallClock(UTCTime(milliseconds: 5000), isBelievable: false))
        #expect(
            talk.click().prefix(3) == [
                "stopped time, dropped_conditions: time: false, the clock is earlier than this program",
                "stopped in_time, dropped_conditions: in_time('00:00', '23:59:59') is false (now.time = \"00:00:05\", "
                    + "in_time is false, the clock is earlier than this program)",
                "started 1 not",
            ])
        talk.given(.wallClock(House.noon, isBelievable: true))
        #expect(talk.click().prefix(2) == ["started 2 time", "started 3 in_time"])
    }

    @Test("before the time is known every time condition is false")
    func unknown() throws {
        let day = Condition(.time(TimeCondition(after: try TimeOfDay("00:00"))))
        var talk = Transcript(RuleEngine(House.set([.on(.click, of: .any, if: [day], do: .say("time"))])))
        #expect(talk.click() == ["stopped rule, dropped_conditions: time: false, the time is not known yet"])
    }
}
