/// A time in RFC 3339 format, such as `2026-03-29T01:30:00+01:00`.
enum TimeStamp {
    /// Seconds since 1970-01-01T00:00:00Z, without a fraction; `nil` if the text is no time.
    ///
    /// - Source: RFC 3339, section 5.6.
    static func seconds(_ text: String) -> Int64? {
        var octets = Array(text.utf8)[...]
        func digit(_ octet: UInt8) -> Int64? { (0x30...0x39).contains(octet) ? Int64(octet) - 0x30 : nil }
        func number(_ count: Int) -> Int64? {
            guard octets.count >= count else { return nil }
            var value: Int64 = 0
            for octet in octets.prefix(count) {
                guard let digit = digit(octet) else { return nil }
                value = value * 10 + digit
            }
            octets = octets.dropFirst(count)
            return value
        }
        func take(_ allowed: String) -> UInt8? {
            guard let first = octets.first, allowed.utf8.contains(first) else { return nil }
            octets = octets.dropFirst()
            return first
        }
        guard let year = number(4), take("-") != nil, let month = number(2), take("-") != nil, let day = number(2),
            take("Tt ") != nil, let hour = number(2), take(":") != nil, let minute = number(2), take(":") != nil,
            let second = number(2), (1...12).contains(month), (1...daysOf(month, year)).contains(day), hour < 24,
            minute < 60, second <= 60
        else { return nil }
        if take(".") != nil {
            guard number(1) != nil else { return nil }
            while let first = octets.first, digit(first) != nil { octets = octets.dropFirst() }
        }
        var offset: Int64 = 0
        switch take("Zz+-") {
        case nil: return nil
        case 0x2B?, 0x2D?:
            let isNegative = text.utf8.dropLast(octets.count).last == 0x2D
            guard let hours = number(2), take(":") != nil, let minutes = number(2), hours < 24, minutes < 60 else {
                return nil
            }
            offset = (hours * 3600 + minutes * 60) * (isNegative ? -1 : 1)
        case .some: break
        }
        guard octets.isEmpty else { return nil }
        return days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
    }

    private static func daysOf(_ month: Int64, _ year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The days from 1970-01-01 to a date of the Gregorian calendar, counted with years that begin in March.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
