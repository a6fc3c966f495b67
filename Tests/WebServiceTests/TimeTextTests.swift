import ButtonModel
import Testing

@testable import WebService

@Suite("Times in queries")
struct TimeTextTests {
    @Test(
        "a time is read as it is written",
        arguments: [
            "2026-11-21T02:30:00.123Z", "1970-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z",
            "2024-02-29T12:00:00.500Z",
        ])
    func times(text: String) { #expect(TimeText.time(text)?.description == text) }

    @Test("a fraction may be missing, or be longer than a millisecond")
    func fractions() {
        #expect(TimeText.time("1970-01-01T00:00:01Z") == UTCTime(milliseconds: 1000))
        #expect(TimeText.time("1970-01-01T00:00:01.5Z") == UTCTime(milliseconds: 1500))
        #expect(TimeText.time("1970-01-01T00:00:01.123999Z") == UTCTime(milliseconds: 1123))
    }

    @Test(
        "what is no time is none",
        arguments: [
            "", "Z", "2026-11-21", "2026-11-21T02:30:00", "2026-11-21 02:30:00Z", "2026-13-21T02:30:00Z",
            "2026-11-21T24:30:00Z", "2026-11-21T02:30:00.Z", "2026-11-21T02:30:00.xZ", "2026-11-21T02:30:00+01:00",
            "+026-11-21T02:30:00Z", "1969-12-31T23:59:59Z", "2026-11-21T02:30:00ZZ",
        ])
    func refused(text: String) { #expect(TimeText.time(text) == nil) }
}
