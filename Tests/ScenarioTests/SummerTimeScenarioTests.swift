import ButtonModel
import Foundation
import Hub
import RuleLoader
import Testing

/// The nights in which the clock changes, as the daemon lives through them: the wall clock comes from outside, timers are of the
/// monotonic clock, and the times that have fired are read from the store after a restart.
@Suite("Nights in which summer time begins or ends")
struct SummerTimeScenarioTests {
    /// 21:00 in Stockholm on the evening before summer time begins, 2026-03-28T20:00:00Z.
    private static let march = UTCTime(milliseconds: 1_774_728_000_000)
    /// 22:00 in Stockholm on the evening before summer time ends, 2026-10-24T20:00:00Z.
    private static let october = UTCTime(milliseconds: 1_792_872_000_000)

    /// Stockholm and Oslo have the same summer time.
    private static let rules: HouseRules = {
        let zone = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "AlmanacTests/Zones/Europe-Oslo")
        return HouseRules(
            """
            version: 1
            location: {timezone: Europe/Stockholm}
            variables: {count: {initial: 0, reset: "02:30"}}
            rules:
              - id: night
                triggers: {at: "02:30"}
                actions: {publish: {topic: night, payload: "{{ trigger.at }}"}}
              - id: kept
                triggers: {at: "02:30", missed: 2h}
                actions: {publish: {topic: kept, payload: "{{ trigger.at }} late {{ trigger.late }}"}}
              - id: morning
                triggers: {at: "07:00", weekday: [sat, sun]}
                actions: {publish: {topic: morning, payload: "{{ trigger.at }}"}}
            """,
            in: LoadInputs(timeZones: ["Europe/Stockholm": [UInt8]((try? Data(contentsOf: zone)) ?? Data())]))
    }()

    /// A house that has run for a second since this time.
    private static func house(at time: UTCTime) -> Household {
        var house = Household([], rules: rules)
        house.setClock(to: time)
        house.crash()
        house.wait(.seconds(1))
        house.ask(#"{"request":"variables/set","data":{"name":"count","value":7}}"#)
        house.forgetWhatHappened()
        return house
    }

    /// Lets the house run until a time after `evening`.
    private static func wait(_ house: inout Household, until hours: Int, _ minutes: Int, after evening: UTCTime) {
        let end = evening + .seconds(hours * 3600 + minutes * 60)
        house.wait(end.duration(since: house.clock))
    }

    /// The day after the change has its usual times.
    ///
    /// - Parameter hours: from `evening` to 07:00 of that day.
    private static func expectNextDay(
        _ house: inout Household, after evening: UTCTime, hours: Int, morning: String, night: String
    ) {
        wait(&house, until: hours - 1, 59, after: evening)
        #expect(house.payloads(on: "morning") == [])
        wait(&house, until: hours, 1, after: evening)
        #expect(house.payloads(on: "morning") == [morning])
        // 02:29 and 02:31 of the next night.
        wait(&house, until: hours + 19, 29, after: evening)
        #expect(house.payloads(on: "night").count == 1)
        wait(&house, until: hours + 19, 31, after: evening)
        #expect(house.payloads(on: "night").last == night)
        #expect(house.payloads(on: "night").count == 2)
        #expect(house.payloads(on: "kept").count == 2)
    }

    @Test("when summer time begins, 02:30 comes at 03:00, once, and 07:00 comes an hour earlier than the day before")
    func begins() {
        var house = Self.house(at: Self.march)
        // 01:59 in Stockholm; a minute later it is 03:00.
        Self.wait(&house, until: 4, 59, after: Self.march)
        #expect(house.payloads(on: "night") == [] && house.payloads(on: "kept") == [])
        #expect(house.retained["tryck/variables/count"] == "7")
        Self.wait(&house, until: 5, 1, after: Self.march)
        #expect(house.payloads(on: "night") == ["2026-03-29T03:00:00+02:00"])
        #expect(house.payloads(on: "kept") == ["2026-03-29T03:00:00+02:00 late 0s"])
        #expect(house.retained["tryck/variables/count"] == "0")
        Self.expectNextDay(
            &house, after: Self.march, hours: 9, morning: "2026-03-29T07:00:00+02:00",
            night: "2026-03-30T02:30:00+02:00")
    }

    @Test(
        "when summer time ends, 02:30 comes twice and fires once, the first time, also with a restart in between",
        arguments: [false, true])
    func ends(restarts: Bool) {
        var house = Self.house(at: Self.october)
        Self.wait(&house, until: 4, 29, after: Self.october)
        #expect(house.payloads(on: "night") == [])
        Self.wait(&house, until: 4, 31, after: Self.october)
        #expect(house.payloads(on: "night") == ["2026-10-25T02:30:00+02:00"])
        #expect(house.payloads(on: "kept") == ["2026-10-25T02:30:00+02:00 late 0s"])
        #expect(house.retained["tryck/variables/count"] == "0")
        house.ask(#"{"request":"variables/set","data":{"name":"count","value":8}}"#)
        // 02:10 of the second pass.
        Self.wait(&house, until: 5, 10, after: Self.october)
        if restarts { house.crash(for: .seconds(60)) }
        // The second 02:30 is over.
        Self.wait(&house, until: 6, 0, after: Self.october)
        #expect(house.payloads(on: "night").count == 1)
        #expect(house.payloads(on: "kept").count == 1)
        #expect(house.retained["tryck/variables/count"] == "8")
        Self.expectNextDay(
            &house, after: Self.october, hours: 10, morning: "2026-10-25T07:00:00+01:00",
            night: "2026-10-26T02:30:00+01:00")
    }

    /// A time during which the daemon does not run, in minutes after the evening, and what fires when it runs again.
    struct Gap: Sendable, CustomTestStringConvertible {
        var evening: UTCTime
        var from, to: Int
        var kept: [String]
        var testDescription: String { "\(evening): \(from) to \(to)" }
    }

    private static let gaps: [Gap] = [
        // From 01:30 to 03:30, half an hour after the clock has passed the time.
        Gap(evening: march, from: 270, to: 330, kept: ["2026-03-29T03:00:00+02:00 late 30m"]),
        // To 04:59:30 and to 05:01, with the limit at 05:00.
        Gap(evening: march, from: 270, to: 419, kept: ["2026-03-29T03:00:00+02:00 late 1h59m"]),
        Gap(evening: march, from: 270, to: 421, kept: []),
        // From 02:00 to 02:15 of the second pass, and to 03:15.
        Gap(evening: october, from: 240, to: 315, kept: ["2026-10-25T02:30:00+02:00 late 45m"]),
        Gap(evening: october, from: 240, to: 375, kept: ["2026-10-25T02:30:00+02:00 late 1h45m"]),
        // From 02:00 to 03:31: the second 02:30 would be in time.
        Gap(evening: october, from: 240, to: 391, kept: []),
        // From 02:00 of the second pass to 03:00: the first 02:30 has fired.
        Gap(evening: october, from: 300, to: 360, kept: ["2026-10-25T02:30:00+02:00 late 0s"]),
    ]

    @Test(
        "a time that was missed while the daemon did not run in the night of the change fires once, if it has missed",
        arguments: gaps)
    func missed(gap: Gap) {
        var house = Self.house(at: gap.evening)
        Self.wait(&house, until: 0, gap.from, after: gap.evening)
        house.crash(for: .seconds((gap.to - gap.from) * 60))
        house.wait(.seconds(1))
        #expect(house.payloads(on: "kept") == gap.kept)
        #expect(house.retained["tryck/variables/count"] == "0")
        // Until 06:00 of the longer night.
        Self.wait(&house, until: 9, 0, after: gap.evening)
        #expect(house.payloads(on: "kept") == gap.kept)
        #expect(house.payloads(on: "night").count == (gap.from == 300 ? 1 : 0))
        Self.wait(&house, until: 30, 0, after: gap.evening)
        #expect(house.payloads(on: "kept").count == gap.kept.count + 1)
        #expect(house.payloads(on: "night").count == (gap.from == 300 ? 2 : 1))
    }
}
