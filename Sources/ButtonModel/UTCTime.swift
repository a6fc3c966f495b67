/// A point in time of the wall clock, UTC.
public struct UTCTime: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    public static func < (left: UTCTime, right: UTCTime) -> Bool { left.milliseconds < right.milliseconds }

    public static func + (time: UTCTime, duration: Duration) -> UTCTime {
        UTCTime(milliseconds: time.milliseconds.addingSaturating(duration.milliseconds))
    }

    public static func - (time: UTCTime, duration: Duration) -> UTCTime {
        UTCTime(milliseconds: time.milliseconds.addingSaturating(-duration.milliseconds))
    }

    /// The time of an instant, if this is the time of the instant `reference`. The result is that of
    /// `self + (instant - reference)`, without the 128-bit arithmetic of a `Duration`, which the path of a press spares.
    public func advanced(from reference: Instant, to instant: Instant) -> UTCTime {
        UTCTime(milliseconds: milliseconds.addingSaturating(instant.nanoseconds(since: reference) / 1_000_000))
    }

    /// The time from an earlier time to this one, negative if that is later. Clamped to ±`Int64.max` milliseconds.
    package func duration(since earlier: UTCTime) -> Duration {
        // `.min` is excluded because negating it would overflow.
        .milliseconds(milliseconds.addingSaturating(-max(-.max, earlier.milliseconds)))
    }

    /// RFC 3339 with milliseconds: `2026-11-21T02:30:00.123Z`.
    public var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(24)
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends `description` as UTF-8.
    public func append(to text: inout [UInt8]) {
        let dayLength: Int64 = 86_400_000
        let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: dayLength)
        let day = remainder < 0 ? quotient - 1 : quotient
        let inDay = remainder < 0 ? remainder + dayLength : remainder
        let (year, month, dayOfMonth) = UTCTime.civil(fromDaysSinceEpoch: day)
        func pair(_ value: Int64, then separator: UnicodeScalar) {
            text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 10))
            text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))
            text.append(UInt8(ascii: separator))
        }
        if year < 0 { text.append(UInt8(ascii: "-")) }
        text.append(contentsOf: String(abs(year) / 1000).utf8)
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: abs(year) / 100 % 10))
        pair(abs(year) % 100, then: "-")
        pair(month, then: "-")
        pair(dayOfMonth, then: "T")
        pair(inDay / 3_600_000, then: ":")
        pair(inDay / 60_000 % 60, then: ":")
        pair(inDay / 1000 % 60, then: ".")
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: inDay / 100 % 10))
        pair(inDay % 100, then: "Z")
    }

    /// Converts days since 1970-01-01 to a date of the proleptic Gregorian calendar. The calculation counts years from
    /// March, so that the leap day comes last.
    package static func civil(fromDaysSinceEpoch days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
