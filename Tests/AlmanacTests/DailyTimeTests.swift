import Almanac
import ButtonModel
import Expressions
import Testing

@Suite("Times of day, one day after another")
struct DailyTimeTests {
    private func start(_ text: String, in zone: TimeZone) throws -> UTCTime {
        let numbers = text.split { "- :".contains($0) }.compactMap { Int($0) }
        let moments = zone.moments(
            year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4],
            second: numbers[5])
        return try #require(moments.first)
    }

    /// The next three moments of a time of day in Amsterdam.
    private func next(_ text: String, after moment: String, at location: Location? = nil) throws -> [String] {
        let zone = try Resources.zone("Europe/Amsterdam")
        let time = try TimeOfDay(text)
        var moments: [String] = []
        var last = try start(moment, in: zone)
        while moments.count < 3, let found = time.next(after: last, in: zone, at: location) {
            moments.append(found.description)
            last = found
        }
        return moments
    }

    @Test("the moment itself does not count, and the next one is a day later")
    func days() throws {
        let expected = ["2026-01-15T23:00:00.000Z", "2026-01-16T23:00:00.000Z", "2026-01-17T23:00:00.000Z"]
        #expect(try next("00:00", after: "2026-01-15 23:59:59") == expected)
        #expect(try next("00:00", after: "2026-01-15 00:00:00") == expected)
        #expect(try next("23:59:59", after: "2025-12-31 23:59:58").first == "2025-12-31T22:59:59.000Z")
    }

    @Test("a time that summer time leaves out comes when the clock has passed it, and one that is repeated comes once")
    func summerTime() throws {
        #expect(
            try next("02:30", after: "2026-03-28 12:00:00") == [
                "2026-03-29T01:00:00.000Z", "2026-03-30T00:30:00.000Z", "2026-03-31T00:30:00.000Z",
            ])
        #expect(
            try next("02:30", after: "2026-10-24 12:00:00") == [
                "2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z", "2026-10-27T01:30:00.000Z",
            ])
    }

    @Test("a sun event comes at its own time each day, also with an offset that reaches into the next day")
    func sun() throws {
        let home = Location(latitude: 52.37, longitude: 4.9)
        let sunsets = try next("sunset", after: "2026-06-21 12:00:00", at: home)
        #expect(sunsets.map { $0.prefix(15) } == ["2026-06-21T20:0", "2026-06-22T20:0", "2026-06-23T20:0"])
        let late = try next("sunset + 8h", after: "2026-06-22 00:10:00", at: home)
        #expect(late.first?.prefix(15) == "2026-06-22T04:0")
        #expect(try next("sunset", after: "2026-06-21 12:00:00") == [])
    }

    @Test("days without a sunrise have none")
    func polar() throws {
        let tromso = Location(latitude: 69.65, longitude: 18.96)
        let zone = try Resources.zone("Europe/Amsterdam")
        let start = try start("2025-12-01 12:00:00", in: zone)
        let next = try #require(try TimeOfDay("sunrise").next(after: start, in: zone, at: tromso))
        #expect(next.description.prefix(7) == "2026-01")
    }
}
