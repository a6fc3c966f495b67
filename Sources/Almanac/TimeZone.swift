package import ButtonModel
package import Expressions

/// A time zone's rules: when its clocks were and will be set.
///
/// The interface; to be written.
package struct TimeZone: Hashable, Sendable {
    package static let utc = TimeZone()

    /// `Europe/Amsterdam`
    package var name: String { "UTC" }

    private init() {}

    /// From a compiled zone file (RFC 8536), any version; `nil` if it is none.
    package init?(named name: String, _ octets: [UInt8]) { nil }

    /// Seconds east of UTC.
    package func offset(at time: UTCTime) -> Int { 0 }

    package func localTime(at time: UTCTime) -> LocalTime { LocalTime() }

    /// The moment a local time means: none where the clock is set forward, two where it is set back, in order.
    package func moments(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) -> [UTCTime] { [] }

    /// RFC 3339 with the zone's offset and no fraction: `2026-03-29T01:30:00+01:00`.
    package func timeStamp(at time: UTCTime) -> String { "" }
}
