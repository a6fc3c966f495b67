import ButtonModel
import TestSupport
import Testing

@Suite("Instants and wall-clock times")
struct TimeTests {
    @Test(
        "the wall clock is written as RFC 3339 in UTC",
        arguments: [
            (Int64(0), "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_795_228_200_123, "2026-11-21T02:30:00.123Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"), (253_402_300_800_000, "10000-01-01T00:00:00.000Z"),
            (-62_167_219_200_001, "-0001-12-31T23:59:59.999Z"),
        ])
    func text(milliseconds: Int64, text: String) {
        #expect(UTCTime(milliseconds: milliseconds).description == text)
    }

    @Test(
        "the earliest and latest times are written without a trap",
        arguments: [Int64.max, Int64.max - 1, Int64.min + 86_400_000])
    func extremes(milliseconds: Int64) {
        #expect(UTCTime(milliseconds: milliseconds).description.hasSuffix("Z"))
    }

    @Test("sums of instants and durations stop at the largest and smallest value")
    func saturation() {
        let last = Instant(nanoseconds: .max)
        #expect(last + .seconds(1) == last)
        #expect(Instant(nanoseconds: -.max) - .seconds(1) == Instant(nanoseconds: -.max))
        #expect(last - Instant(nanoseconds: -.max) == .nanoseconds(Int64.max))
        #expect(UTCTime(milliseconds: .max) + .seconds(1) == UTCTime(milliseconds: .max))
        #expect(Duration.seconds(Int64.max).nanoseconds == .max)
        #expect(Duration.seconds(Int64.min).nanoseconds == -.max)
    }

    @Test(
        "the wall time of an instant is the known time plus the duration between both instants",
        arguments: UInt64(0)..<50)
    func advanced(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let extremes: [Int64] = [.min, -.max, -1_000_001, -1, 0, 999_999, 1_000_000, .max]
        func number() -> Int64 {
            extremes.randomElement(using: &random).flatMap { Bool.random(using: &random) ? $0 : nil }
                ?? .random(in: .min ... .max, using: &random) >> Int64.random(in: 0..<64, using: &random)
        }
        for _ in 0..<200 {
            let (time, reference, instant) = (
                UTCTime(milliseconds: number()), Instant(nanoseconds: number()), Instant(nanoseconds: number())
            )
            #expect(time.advanced(from: reference, to: instant) == time + (instant - reference))
        }
    }

    @Test(
        "a duration in nanoseconds is its seconds and the rest of it, without the part of a nanosecond",
        arguments: UInt64(0)..<50)
    func nanoseconds(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let duration = Duration(
                secondsComponent: .random(in: .min ... .max, using: &random)
                    >> Int64.random(in: 0..<64, using: &random),
                attosecondsComponent: .random(in: -999_999_999_999_999_999...999_999_999_999_999_999, using: &random))
            let (seconds, attoseconds) = duration.components
            let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
            let expected =
                overflow ? (seconds < 0 ? -.max : .max) : scaled.addingSaturating(attoseconds / 1_000_000_000)
            #expect(duration.nanoseconds == expected)
        }
    }

    @Test("adding a duration to an instant and subtracting it again gives the instant", arguments: UInt64(0)..<50)
    func arithmetic(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let start = Instant(nanoseconds: Int64.random(in: 0...1 << 60, using: &random))
        let duration = Duration.nanoseconds(Int64.random(in: 0...1 << 60, using: &random))
        #expect((start + duration) - start == duration)
        #expect((start + duration) - duration == start)
        #expect(start <= start + duration)
    }
}
