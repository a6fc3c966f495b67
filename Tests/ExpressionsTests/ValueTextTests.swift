import Expressions
import JSON
import TestSupport
import Testing

@Suite("Values as text")
struct ValueTextTests {
    @Test(
        "a number has the shortest text that reads back the same, without an exponent below 1e21",
        arguments: [
            (0, "0"), (-0.0, "0"), (1, "1"), (-1, "-1"), (0.1, "0.1"), (1.5, "1.5"), (100, "100"), (1e-7, "0.0000001"),
            (1.25e-5, "0.0000125"), (0.1 + 0.2, "0.30000000000000004"), (1e15, "1000000000000000"),
            (1e16, "10000000000000000"), (123_456_789_012_345_680, "123456789012345680"),
            (1e20, "100000000000000000000"), (999_999_999_999_999_868_928, "999999999999999900000"), (1e21, "1e+21"),
            (-1.5e21, "-1.5e+21"), (1.7976931348623157e308, "1.7976931348623157e+308"),
            (9_007_199_254_740_992, "9007199254740992"),
            (1.0 / 3, "0.3333333333333333"), (.leastNonzeroMagnitude, "0." + String(repeating: "0", count: 323) + "5"),
        ] as [(Double, String)])
    func numbers(number: Double, text: String) {
        #expect(Value.number(number).text == text)
    }

    @Test("the text of any number reads back the same", arguments: 0..<20)
    func readsBack(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let number = Double(bitPattern: random.next())
            guard number.isFinite else { continue }
            let text = try #require(Value.number(number).text)
            #expect(Double(text) == number)
            #expect(text.contains("e") == (number.magnitude >= 1e21))
        }
    }

    @Test(
        "a duration is written with as few units as possible",
        arguments: [
            (0, "0s"), (1, "1ms"), (999, "999ms"), (1000, "1s"), (90_000, "1m30s"), (3_600_000, "1h"),
            (86_400_000, "1d"),
            (90_061_001, "1d1h1m1s1ms"), (-1500, "-1s500ms"), (.max, "106751991167d7h12m55s807ms"),
            (.min, "-106751991167d7h12m55s808ms"),
        ] as [(Int64, String)])
    func durations(milliseconds: Int64, text: String) {
        #expect(Value.duration(milliseconds: milliseconds).text == text)
    }

    @Test("the text of a duration is read back the same", arguments: 0..<10)
    func durationsReadBack(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let milliseconds = Int64.random(
                in: 0...DurationText.longestMilliseconds >> Int64.random(in: 0...40, using: &random), using: &random)
            let text = DurationText.text(milliseconds: milliseconds)
            #expect(try DurationText.milliseconds(text) == milliseconds)
        }
    }

    @Test("a hundred years is the longest duration that can be written")
    func longest() throws {
        let longest = DurationText.text(milliseconds: DurationText.longestMilliseconds)
        #expect(try DurationText.milliseconds(longest) == DurationText.longestMilliseconds)
        #expect(throws: DurationText.Fault.self) {
            try DurationText.milliseconds(longest + "1ms")
        }
        #expect(throws: DurationText.Fault.self) { try DurationText.milliseconds("") }
    }

    @Test("an unknown value and a list have no text")
    func none() {
        #expect(Value.unknown.text == nil)
        #expect(Value.list([.integer(1)]).text == nil)
    }

    @Test("JSON is written by type; zero has no sign, and durations are text")
    func json() {
        let value = Value.list([
            .boolean(true), .integer(.min), .number(-0.0), .number(2.5), .string("a\"\n"),
            .duration(milliseconds: 90_000),
            .unknown,
        ])
        #expect(value.json.description == #"[true,-9223372036854775808,0,2.5,"a\"\n","1m30s",null]"#)
    }

    @Test("fractions of a millisecond are cut off a duration")
    func wholeMilliseconds() {
        #expect(Value(.microseconds(1999)) == .duration(milliseconds: 1))
        #expect(Value(.seconds(90)).durationValue == .seconds(90))
    }
}
