import Almanac
import ButtonModel
import Expressions
import Testing

@Suite("Time zones")
struct TimeZoneTests {
    @Test("offsets are those of the reference, before the first change, around changes and in the years of the TZ rule")
    func offsets() throws {
        let rows = try Resources.offsets()
        #expect(Set(rows.map(\.zone)).count == 32)
        for (name, rows) in Dictionary(grouping: rows, by: \.zone) {
            let zone = try Resources.zone(name)
            for row in rows {
                #expect(zone.offset(at: UTCTime(seconds: row.moment)) == row.offset, "\(name) at \(row.moment)")
            }
        }
    }

    @Test("a local time stands for exactly the moments at which the zone's clock shows it")
    func roundTrip() throws {
        for (name, rows) in Dictionary(grouping: try Resources.offsets(), by: \.zone) {
            let zone = try Resources.zone(name)
            for row in rows {
                let time = UTCTime(seconds: row.moment)
                let moments = zone.moments(of: zone.localTime(at: time))
                #expect(moments.contains(time), "\(name) at \(row.moment)")
                #expect(moments.count <= 2 && moments == moments.sorted())
                for moment in moments {
                    var local = zone.localTime(at: moment)
                    local.unix = row.moment
                    #expect(local == zone.localTime(at: time), "\(name) at \(row.moment)")
                }
            }
        }
    }

    @Test("a local time that the clock skips has no moment, and a local time that the clock repeats has two")
    func summerTime() throws {
        let amsterdam = try Resources.zone("Europe/Amsterdam")
        #expect(amsterdam.moments("2026-03-29 01:59:59") == ["2026-03-29T00:59:59.000Z"])
        #expect(amsterdam.moments("2026-03-29 02:00:00") == [])
        #expect(amsterdam.moments("2026-03-29 02:59:59") == [])
        #expect(amsterdam.moments("2026-03-29 03:00:00") == ["2026-03-29T01:00:00.000Z"])
        #expect(amsterdam.moments("2026-10-25 01:59:59") == ["2026-10-24T23:59:59.000Z"])
        #expect(amsterdam.moments("2026-10-25 02:00:00") == ["2026-10-25T00:00:00.000Z", "2026-10-25T01:00:00.000Z"])
        #expect(amsterdam.moments("2026-10-25 02:59:59") == ["2026-10-25T00:59:59.000Z", "2026-10-25T01:59:59.000Z"])
        #expect(amsterdam.moments("2026-10-25 03:00:00") == ["2026-10-25T02:00:00.000Z"])
        // The TZ rule at the end of the file gives this change: the file's own list of changes ends in 2037.
        #expect(amsterdam.moments("2045-03-26 02:30:00") == [])
        #expect(amsterdam.moments("2045-10-29 02:30:00") == ["2045-10-29T00:30:00.000Z", "2045-10-29T01:30:00.000Z"])
    }

    @Test("summer time may be half an hour, and a zone may leave out a whole day")
    func oddOnes() throws {
        let lordHowe = try Resources.zone("Australia/Lord_Howe")
        #expect(lordHowe.moments("2026-10-04 02:15:00") == [])
        #expect(lordHowe.moments("2026-04-05 01:45:00") == ["2026-04-04T14:45:00.000Z", "2026-04-04T15:15:00.000Z"])
        let apia = try Resources.zone("Pacific/Apia")
        #expect(apia.moments("2011-12-29 23:59:59") == ["2011-12-30T09:59:59.000Z"])
        #expect(apia.moments("2011-12-30 12:00:00") == [])
        #expect(apia.moments("2011-12-31 00:00:00") == ["2011-12-30T10:00:00.000Z"])
    }

    @Test(
        "text that is no date or no time of day has no moment",
        arguments: [
            "2026-02-29 12:00:00", "1900-02-29 12:00:00", "2026-04-31 12:00:00", "2026-00-10 12:00:00",
            "2026-13-01 12:00:00", "2026-01-00 12:00:00", "2026-01-10 24:00:00", "2026-01-10 12:60:00",
            "2026-01-10 12:00:60", "0-01-01 00:00:00", "10000-01-01 00:00:00", "9223372036854775807-01-01 00:00:00",
        ])
    func noDate(text: String) {
        #expect(TimeZone.utc.moments(text) == [])
    }

    @Test("29 February is a date in every fourth year, 2000 included")
    func leapDays() {
        #expect(TimeZone.utc.moments("2028-02-29 12:00:00") == ["2028-02-29T12:00:00.000Z"])
        #expect(TimeZone.utc.moments("2000-02-29 12:00:00") == ["2000-02-29T12:00:00.000Z"])
    }

    @Test("local times have a weekday, and moments before 1970 have negative seconds")
    func localTime() throws {
        let local = try Resources.zone("Europe/Amsterdam").localTime(at: UTCTime(milliseconds: 1_774_747_800_999))
        #expect((local.year, local.month, local.day) == (2026, 3, 29))
        #expect((local.hour, local.minute, local.second) == (3, 30, 0))
        #expect(local.weekday == .sun)
        #expect(local.unix == 1_774_747_800)

        let before = TimeZone.utc.localTime(at: UTCTime(milliseconds: -1))
        #expect((before.year, before.month, before.day) == (1969, 12, 31))
        #expect((before.hour, before.minute, before.second) == (23, 59, 59))
        #expect(before.weekday == .wed)
        #expect(before.unix == -1)
    }

    @Test("a time stamp ends with the zone's offset")
    func timeStamps() throws {
        let time = UTCTime(milliseconds: 1_774_747_800_999)
        #expect(TimeZone.utc.timeStamp(at: time) == "2026-03-29T01:30:00+00:00")
        #expect(try Resources.zone("Europe/Amsterdam").timeStamp(at: time) == "2026-03-29T03:30:00+02:00")
        #expect(try Resources.zone("America/St_Johns").timeStamp(at: time) == "2026-03-28T23:00:00-02:30")
        #expect(try Resources.zone("Asia/Kathmandu").timeStamp(at: time) == "2026-03-29T07:15:00+05:45")
    }

    @Test("an offset with seconds is written in time stamps without its seconds")
    func secondsInOffset() throws {
        // Until 1972 Monrovia's clock was 44 minutes and 30 seconds behind UTC.
        let stamp = try Resources.zone("Africa/Monrovia").timeStamp(at: UTCTime(seconds: 0))
        #expect(stamp == "1969-12-31T23:16:00-00:44")
    }

    @Test(
        "the earliest and the latest moment have a local time",
        arguments: [Int64.min, Int64.max, Int64.min + 1, -62_167_219_200_000])
    func endsOfTime(milliseconds: Int64) throws {
        let time = UTCTime(milliseconds: milliseconds)
        for name in ["Europe/Amsterdam", "Asia/Gaza", "UTC"] {
            let zone = try Resources.zone(name)
            let local = zone.localTime(at: time)
            #expect((1...12).contains(local.month) && (1...31).contains(local.day))
            #expect(!zone.timeStamp(at: time).isEmpty)
        }
    }
}

extension TimeZone {
    fileprivate func moments(of local: LocalTime) -> [UTCTime] {
        moments(
            year: local.year, month: local.month, day: local.day, hour: local.hour, minute: local.minute,
            second: local.second)
    }

    /// Reads a local time such as `2026-03-29 02:30:00`.
    fileprivate func moments(_ text: String) -> [String] {
        let numbers = text.split { "- :".contains($0) }.compactMap { Int($0) }
        return moments(
            year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4],
            second: numbers[5]
        ).map(\.description)
    }
}
