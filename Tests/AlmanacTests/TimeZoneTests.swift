import Almanac
import Testing

@Suite("Time zones")
struct TimeZoneTests {
    @Test("UTC is called UTC") func utc() { #expect(TimeZone.utc.name == "UTC") }
}
