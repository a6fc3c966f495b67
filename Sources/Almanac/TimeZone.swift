package import ButtonModel
package import Expressions

/// A time zone of the IANA time zone database: its offset from UTC at any time.
///
/// A zone file lists the changes of the offset up to some year, and a rule for the years after the last change. Before
/// the first change, the file's first offset applies.
package struct TimeZone: Hashable, Sendable {
    package static let utc = TimeZone(name: "UTC", file: ZoneFile(firstOffset: 0, changes: [], rule: nil))

    /// The name in the zone database, such as `Europe/Amsterdam`.
    package let name: String
    private let file: ZoneFile

    private init(name: String, file: ZoneFile) {
        self.name = name
        self.file = file
    }

    /// Reads a compiled zone file (RFC 8536) of any version; `nil` if it is invalid.
    ///
    /// Files with leap seconds (those under `right/`) are refused, because their timestamps are not UTC.
    package init?(named name: String, _ octets: [UInt8]) {
        guard let file = ZoneFile(octets) else { return nil }
        self.init(name: name, file: file)
    }

    /// The offset in seconds east of UTC.
    package func offset(at time: UTCTime) -> Int { file.offset(at: time.wholeSeconds) }

    package func localTime(at time: UTCTime) -> LocalTime {
        let seconds = time.wholeSeconds
        var local = LocalTime(secondsSinceEpoch: seconds + Int64(file.offset(at: seconds)))
        local.unix = seconds
        return local
    }

    /// The moments that a local time denotes, ascending: none if the clock skips it, two if the clock repeats it.
    ///
    /// Also none for an invalid date or time of day (30 February, 24:00), and outside the years 1…9999.
    package func moments(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) -> [UTCTime] {
        guard let date = CivilDate(year: year, month: month, day: day), (1...9999).contains(year),
            (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second)
        else { return [] }
        let local = date.daysSinceEpoch * 86_400 + Int64(hour * 3600 + minute * 60 + second)
        return file.offsets(near: local)
            .map { (offset: $0, moment: local - Int64($0)) }
            .filter { file.offset(at: $0.moment) == $0.offset }
            .map { UTCTime(milliseconds: $0.moment * 1000) }
            .sorted()
    }

    /// RFC 3339 with the zone's offset and without fraction: `2026-03-29T01:30:00+01:00`.
    ///
    /// RFC 3339 offsets have no seconds. An offset with seconds, as in local mean times before standard time, is
    /// truncated to minutes. The local time is that of the truncated offset, so that the text denotes the same moment.
    package func timeStamp(at time: UTCTime) -> String {
        let minutes = offset(at: time) / 60
        let local = LocalTime(secondsSinceEpoch: time.wholeSeconds + Int64(minutes * 60))
        let offset = Int(minutes.magnitude)
        // The text is assembled from octets because every press needs it; joining strings took as long as matching the
        // rules.
        var text: [UInt8] = []
        text.reserveCapacity(25)
        text.append(local.year, digits: 4)
        for (separator, number) in [
            ("-", local.month), ("-", local.day), ("T", local.hour), (":", local.minute), (":", local.second),
            (minutes < 0 ? "-" : "+", offset / 60), (":", offset % 60),
        ] as [(UnicodeScalar, Int)] {
            text.append(UInt8(ascii: separator))
            text.append(number, digits: 2)
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension LocalTime {
    /// The local time that a clock shows this many seconds after it showed 1970-01-01 00:00. `unix` is not set.
    init(secondsSinceEpoch seconds: Int64) {
        self.init()
        let (days, inDay) = seconds.dividedRoundingDown(by: 86_400)
        let date = CivilDate(daysSinceEpoch: days)
        (year, month, day, weekday) = (date.year, date.month, date.day, date.weekday)
        (hour, minute, second) = (Int(inDay / 3600), Int(inDay / 60 % 60), Int(inDay % 60))
    }

    var secondOfDay: Int { hour * 3600 + minute * 60 + second }
}

extension UTCTime {
    /// Seconds since 1970-01-01T00:00:00Z, rounded down.
    var wholeSeconds: Int64 { milliseconds.dividedRoundingDown(by: 1000).quotient }
}

extension [UInt8] {
    /// Appends a number with leading zeros, as two or four digits. A number that does not fit, or is negative, is
    /// appended as it is.
    fileprivate mutating func append(_ number: Int, digits: Int) {
        let limit = digits == 2 ? 100 : 10_000
        guard (0..<limit).contains(number) else { return append(contentsOf: String(number).utf8) }
        var scale = limit / 10
        while scale > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / scale % 10))
            scale /= 10
        }
    }
}
