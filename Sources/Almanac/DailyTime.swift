package import ButtonModel
package import Expressions

extension TimeOfDay {
    /// The number of days in which the next moment is searched. Near the poles, half a year has no sunrise.
    private static let longestSearch: Int64 = 400

    /// The first moment after another one at which a clock shows this time of day, or the sun has this position.
    ///
    /// A local time that the clock skips comes when the clock has passed it. A local time that the clock repeats comes once,
    /// the first time. A day that lacks a sunrise has none.
    ///
    /// - Parameters:
    ///   - location: the position for the sun. Without it, sunrise and the like never come.
    ///   - weekdays: the local days on which it comes; if empty, every day.
    /// - Returns: `nil` if there is none within 400 days.
    package func next(
        after moment: UTCTime, in zone: TimeZone, at location: Location?, on weekdays: Set<LocalTime.Weekday> = []
    ) -> UTCTime? {
        let today = zone.localTime(at: moment)
        guard let date = CivilDate(year: today.year, month: today.month, day: today.day) else { return nil }
        // An offset of a sun event may reach into the next day.
        for day in -1...TimeOfDay.longestSearch {
            let date = CivilDate(daysSinceEpoch: date.daysSinceEpoch + day)
            if let found = self.moment(on: date, in: zone, at: location), found > moment,
                weekdays.isEmpty || weekdays.contains(zone.localTime(at: found).weekday)
            {
                return found
            }
        }
        return nil
    }

    /// The moment of this time of day on the local day that contains another moment.
    package func moment(onDayOf moment: UTCTime, in zone: TimeZone) -> UTCTime? {
        let today = zone.localTime(at: moment)
        return CivilDate(year: today.year, month: today.month, day: today.day).flatMap {
            self.moment(on: $0, in: zone, at: nil)
        }
    }

    private func moment(on date: CivilDate, in zone: TimeZone, at location: Location?) -> UTCTime? {
        switch self {
        case .time(let second):
            return zone.moments(
                year: date.year, month: date.month, day: date.day, hour: second / 3600, minute: second / 60 % 60,
                second: second % 60
            ).first ?? zone.moment(afterSkipped: date.daysSinceEpoch * 86_400 + Int64(second))
        case .sun(let event, let offset):
            return location?.moment(of: event, on: date, in: zone).map { $0 + .milliseconds(offset) }
        }
    }
}

extension TimeZone {
    /// The moment at which the clock jumps over a local time.
    ///
    /// - Parameter local: the seconds of the local time since 1970-01-01 00:00.
    fileprivate func moment(afterSkipped local: Int64) -> UTCTime {
        func offset(_ seconds: Int64) -> Int64 { Int64(self.offset(at: UTCTime(milliseconds: seconds * 1000))) }
        let after = offset(local + 2 * 86_400)
        // The clock has the earlier offset at the first of these moments, and the later offset at the second.
        var (low, high) = (local - after, local - offset(local - 2 * 86_400))
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if offset(middle) == after { high = middle } else { low = middle }
        }
        return UTCTime(milliseconds: high * 1000)
    }
}
