package import ButtonModel
import CommandSupport
import Expressions

/// Formats numbers for people.
package enum Quantity {
    /// `2.1 s`.
    package static func seconds(milliseconds: Int64) -> String {
        "\(tenths(max(0, milliseconds), per: 1000)) s"
    }

    /// `500ms`, `1s`, as rules write it.
    package static func duration(_ duration: Duration) -> String {
        DurationText.text(milliseconds: duration.milliseconds)
    }

    /// `2.95 V`.
    package static func volts(millivolts: Int64) -> String {
        let hundredths = (max(0, millivolts).addingSaturating(5)) / 10
        let fraction = String(hundredths % 100)
        return "\(hundredths / 100).\(fraction.count < 2 ? "0" : "")\(fraction) V"
    }

    /// `12 s`, `3 min`, `5 h`, `2 days`: the largest unit that fits, rounded down.
    package static func span(seconds: Int64) -> String {
        switch seconds {
        case ..<60: "\(max(0, seconds)) s"
        case ..<3600: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) days"
        }
    }

    /// `2026-11-21 13:02:11.204`: a time of the daemon, which is in UTC, in the local time zone. Other text is returned unchanged.
    package static func localTime(_ text: String) -> String {
        UTCTime(parsing: text).map { Clock.local(milliseconds: $0.milliseconds) } ?? text
    }

    /// `1 button`, `2 buttons`.
    package static func count(_ number: Int64, _ one: String, _ many: String? = nil) -> String {
        number == 1 ? "1 \(one)" : "\(number) \(many ?? one + "s")"
    }

    private static func tenths(_ number: Int64, per unit: Int64) -> String {
        "\(number / unit).\(number % unit * 10 / unit)"
    }
}

extension UTCTime {
    /// Parses `2026-11-21T02:30:00.123Z`, as the daemon writes times; `nil` for anything else.
    ///
    /// - Source: RFC 3339, 5.6, without offsets and leap seconds.
    package init?(parsing text: String) {
        let octets = Array(text.utf8)
        guard octets.count == 24, octets[10] == UInt8(ascii: "T"), octets[23] == UInt8(ascii: "Z") else { return nil }
        func number(_ range: Range<Int>) -> Int64? { Int64(String(decoding: octets[range], as: UTF8.self)) }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            let millisecond = number(20..<23), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        // Years counted from March have their leap day at the end.
        let shiftedYear = month > 2 ? year : year - 1
        let shiftedMonth = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * shiftedMonth + 2) / 5 + day - 1
        let leapDays = shiftedYear / 4 - shiftedYear / 100 + shiftedYear / 400
        let days = 365 * shiftedYear + leapDays + dayOfYear - 719_468
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second
        self.init(milliseconds: seconds * 1000 + millisecond)
    }
}
