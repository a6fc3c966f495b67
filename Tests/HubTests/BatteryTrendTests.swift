import ButtonModel
import JSON
import Testing

@testable import Hub

@Suite("The voltages of a battery over time")
struct BatteryTrendTests {
    private static let week: Int64 = 604_800_000

    /// A trend with a measurement in each of these weeks: the number of the week is also the voltage.
    private static func trend(_ weeks: some Sequence<Int64>) -> BatteryTrend {
        var trend = BatteryTrend()
        for number in weeks { _ = trend.add(millivolts: Int(number), at: UTCTime(milliseconds: number * week)) }
        return trend
    }

    @Test("only the first measurement of a week counts")
    func firstOfWeek() {
        var trend = BatteryTrend()
        let week = Self.week
        let isKept = [(3000, 10 * week), (2900, 11 * week - 1), (2800, 11 * week)].map {
            trend.add(millivolts: $0.0, at: UTCTime(milliseconds: $0.1))
        }
        #expect(isKept == [true, false, true])
        #expect(trend.json == ["10": 3000, "11": 2800])
    }

    @Test("what is older than two years is dropped")
    func twoYears() {
        let trend = Self.trend(100...300)
        #expect(trend.answer["mv"]?.arrayValue?.count == 104)
        #expect(trend.answer["mv"]?.arrayValue?.first == 197)
        #expect(Self.trend([100, 300]).json == ["300": 300])
    }

    @Test("weeks that are still to come are removed, because the clock was wrong")
    func wrongClock() {
        #expect(Self.trend([100, 900, 101]).json == ["101": 101])
        #expect(Self.trend([100, 103, 101, 104]).json == ["100": 100, "101": 101, "104": 104])
    }

    @Test("a time before 1970 and an impossible voltage change nothing")
    func nonsense() {
        var trend = Self.trend([100])
        for (number, millivolts) in [(-1, 3000), (101, -1), (101, 70_000)] as [(Int64, Int)] {
            let isKept = trend.add(millivolts: millivolts, at: UTCTime(milliseconds: number * Self.week))
            #expect(!isKept)
        }
        #expect(trend == Self.trend([100]))
    }

    @Test("a stored trend is read again")
    func roundTrip() {
        for trend in [BatteryTrend(), Self.trend([7]), Self.trend(200..<304)] {
            #expect(BatteryTrend(trend.json) == trend)
        }
    }

    @Test(
        "what cannot have been stored is not read",
        arguments: [
            "[]", #"{"x":1}"#, #"{"-1":1}"#, #"{"1":-1}"#, #"{"1":70000}"#, #"{"1":"3000"}"#, #"{"1":1,"106":1}"#,
            #"{"9223372036854775807":1}"#,
        ])
    func refused(text: String) throws {
        let value = try JSONValue(parsing: Array(text.utf8))
        #expect(BatteryTrend(value) == nil)
    }
}
