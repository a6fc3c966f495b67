/// A local time, with the time zone and daylight saving time already applied.
package struct LocalTime: Hashable, Sendable {
    package enum Weekday: String, CaseIterable, Hashable, Sendable { case mon, tue, wed, thu, fri, sat, sun }

    package var year = 1970
    package var month = 1
    package var day = 1
    package var weekday = Weekday.thu
    /// The hour, 0…23.
    package var hour = 0
    package var minute = 0
    package var second = 0
    /// Seconds since 1970-01-01T00:00:00Z.
    package var unix: Int64 = 0

    package init() {}
}

extension LocalTime {
    func value(of field: NowField) -> Value {
        switch field {
        case .hour: .integer(Int64(hour))
        case .minute: .integer(Int64(minute))
        case .second: .integer(Int64(second))
        case .weekday: .string(weekday.rawValue)
        case .date: .string("\(LocalTime.digits(year, 4))-\(LocalTime.digits(month, 2))-\(LocalTime.digits(day, 2))")
        case .time:
            .string("\(LocalTime.digits(hour, 2)):\(LocalTime.digits(minute, 2)):\(LocalTime.digits(second, 2))")
        case .unix: .integer(unix)
        }
    }

    private static func digits(_ value: Int, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}

/// The times of the sun on one local day, and its current elevation.
package struct SunFacts: Hashable, Sendable {
    /// A day near the poles on which the sun does not cross the horizon.
    package enum PolarDay: Hashable, Sendable { case neverRises, neverSets }

    package var isUp = false
    /// The elevation in degrees.
    package var elevation = 0.0
    /// The times in seconds after local midnight. If `polar` is given, all four are solar noon or solar midnight.
    package var dawn = 0
    package var sunrise = 0
    package var sunset = 0
    package var dusk = 0
    package var polar: PolarDay?

    package init() {}

    func value(of field: SunField) -> Value {
        switch field {
        case .isUp: .boolean(isUp)
        case .elevation: .number(elevation.isFinite ? elevation : 0)
        }
    }
}
