import ButtonModel
import Expressions

/// A date of the proleptic Gregorian calendar.
struct CivilDate: Hashable, Sendable {
    let year, month, day: Int

    /// `nil` if the calendar has no such day, or if the year has more than nine digits.
    init?(year: Int, month: Int, day: Int) {
        guard (-999_999_999...999_999_999).contains(year), (1...12).contains(month),
            (1...CivilDate.length(ofMonth: month, in: year)).contains(day)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    init(daysSinceEpoch: Int64) {
        let civil = UTCTime.civil(fromDaysSinceEpoch: daysSinceEpoch)
        (year, month, day) = (Int(civil.year), Int(civil.month), Int(civil.day))
    }

    var daysSinceEpoch: Int64 { CivilDate.daysSinceEpoch(year: Int64(year), month: month, day: day) }

    /// 1970-01-01, day 0, was a Thursday.
    var weekday: LocalTime.Weekday {
        let sinceMonday = (daysSinceEpoch + 3).dividedRoundingDown(by: 7).remainder
        return LocalTime.Weekday.allCases[Int(sinceMonday)]
    }

    /// Converts a date to days since 1970-01-01.
    ///
    /// - Parameters:
    ///   - year: at most ±10⁹.
    ///   - month: 1…12.
    ///   - day: the day of the month; may lie outside the month.
    static func daysSinceEpoch(year: Int64, month: Int, day: Int) -> Int64 {
        // Counting years from March puts the leap day last.
        let shiftedYear = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = shiftedYear.dividedRoundingDown(by: 400)
        let monthOfYear = Int64(month <= 2 ? month + 9 : month - 3)
        let dayOfYear = (153 * monthOfYear + 2) / 5 + Int64(day) - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    static func length(ofMonth month: Int, in year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
}

extension Int64 {
    /// Divides with a quotient rounded towards negative infinity.
    ///
    /// - Parameter divisor: must be positive.
    /// - Returns: the quotient, and a remainder of 0…(divisor − 1).
    func dividedRoundingDown(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
