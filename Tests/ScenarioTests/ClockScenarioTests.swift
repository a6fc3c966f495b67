import ButtonModel
import Hub
import JSON
import Rules
import Simulator
import Testing

@Suite("A clock that is wrong, or is set while the daemon runs")
struct ClockScenarioTests {
    /// 2026-11-18 11:06:40, when a household begins.
    private static let start: Int64 = 1_795_000_000_000
    /// The differences by which the clock is set, in seconds; the last one sets it to 1970.
    private static let jumps: [Int64] = [
        3600, -3600, 86_400 * 3653, -86_400 * 3653, 20 - ClockScenarioTests.start / 1000,
    ]

    private static let rules: HouseRules = """
        version: 1
        defaults: {queued: {max_age: 2m}}
        rules:
          - {id: click, triggers: {button: any, event: click}, actions: {publish: {topic: click}}}
          - {id: hold, triggers: {button: any, event: hold}, actions: {publish: {topic: hold}}}
          - {id: release, triggers: {button: any, event: hold_release}, actions: {publish: {topic: release}}}
          - id: slow
            triggers: {button: any, event: double_click}
            actions: [{publish: {topic: one}}, {delay: 5s}, {publish: {topic: two}}]
          - id: night
            triggers: {button: any, event: down}
            conditions: [{time: {after: 22:00, before: 06:00}}]
            actions: {publish: {topic: night}}
        """

    private static func house() -> Household {
        var house = Household([Household.kitchen], rules: rules)
        house.pairAll()
        house.forgetWhatHappened()
        return house
    }

    /// The time of the clock if it had not been set, in milliseconds.
    private static func clock(_ house: Household) -> Int64 {
        start + (house.now - Instant(sinceBoot: .seconds(1000))).milliseconds
    }

    private static func jump(_ house: inout Household, _ seconds: Int64) {
        house.tell(.wallClock(UTCTime(milliseconds: clock(house) + seconds * 1000)))
    }

    @Test("setting the clock does not change the time until a delay, a hold or another timer ends", arguments: jumps)
    func timers(seconds: Int64) {
        var house = Self.house()
        house.press("kitchen", .doubleClick)
        house.wait(.seconds(3))
        Self.jump(&house, seconds)
        house.wait(.seconds(1))
        #expect(house.payloads(on: "one").count == 1 && house.payloads(on: "two").isEmpty)
        house.wait(.seconds(3))
        #expect(house.payloads(on: "two").count == 1)

        house.press("kitchen", .hold)
        house.wait(.milliseconds(500))
        Self.jump(&house, -seconds)
        #expect(house.payloads(on: "hold").isEmpty)
        house.wait(.milliseconds(700))
        #expect(house.payloads(on: "hold").count == 1 && house.payloads(on: "release").isEmpty)
        house.wait(.seconds(2))
        #expect(house.payloads(on: "release").count == 1)
    }

    @Test("the age of a stored press is the button's measurement, whatever the clock shows", arguments: jumps)
    func ages(seconds: Int64) {
        var house = Self.house()
        for (time, count) in [(30, 1), (600, 0)] as [(Int64, Int)] {
            house.forgetWhatHappened()
            house.reach("kitchen", false)
            house.wait(.seconds(60))
            house.press("kitchen", .click)
            house.wait(.seconds(time / 2))
            Self.jump(&house, seconds)
            house.wait(.seconds(time / 2))
            house.reach("kitchen", true)
            house.wait(.seconds(40))
            #expect(house.payloads(on: "click").count == count, "\(time) s")
        }
    }

    @Test("the log has the times of rules that a set clock has passed over")
    func missedTimes() {
        let rules: HouseRules = """
            version: 1
            location: {latitude: 52.09, longitude: 5.12, timezone: UTC}
            rules: [{id: noon, triggers: {at: "12:00"}, actions: {log: noon}}]
            """
        var house = Household([Household.kitchen], rules: rules)
        house.wait(.seconds(5))
        Self.jump(&house, 3600)
        #expect(house.logged.contains { $0.hasPrefix("rule noon has missed ") }, "\(house.logged)")
    }

    @Test("a condition on the time uses the clock as it is set now, and setting the clock starts no rule")
    func timeOfDay() {
        var house = Self.house()
        for hour in [23, 12, 5, 7] as [Int64] {
            house.forgetWhatHappened()
            // From 11:06:40 of the first day.
            Self.jump(&house, hour * 3600 - 11 * 3600)
            house.wait(.seconds(30))
            #expect(house.payloads(on: "night").isEmpty)
            house.press("kitchen", .click)
            house.wait(.seconds(2))
            #expect(house.payloads(on: "night").count == (hour == 23 || hour == 5 ? 1 : 0), "\(hour) h")
            #expect(house.payloads(on: "click").count == 1)
        }
    }

    @Test(
        "with a clock that starts in 1970, buttons pair and work, and their times are corrected when the clock is set"
    )
    func noClock() {
        var house = Household([Household.kitchen], rules: Self.rules)
        let since1970 = Self.start / 1000 - 20
        Self.jump(&house, -since1970)
        house.pairAll()
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        #expect(house.payloads(on: "click").count == 1)
        house.ask(#"{"request":"buttons"}"#)
        #expect(house.data.arrayValue?.first?["last_seen"]?.stringValue?.hasPrefix("1970-01-01T00:00:5") == true)
        house.wait(.seconds(60))
        Self.jump(&house, 0)
        house.ask(#"{"request":"buttons"}"#)
        // 31 s of pairing after the start.
        #expect(house.data.arrayValue?.first?["last_seen"]?.stringValue?.hasPrefix("2026-11-18T11:07:1") == true)
        house.crash()
        house.wait(.seconds(30))
        #expect(house.payloads(on: "click").count == 1)
    }
}
