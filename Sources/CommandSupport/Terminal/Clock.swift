import Glibc

/// The time of day that is printed before a line.
package enum Clock {
    package static let columns = 12

    /// The local time: `13:02:11.204`.
    package static func now() -> String {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return local(time).time
    }

    /// The local date and time of a time since 1970: `2026-11-21 13:02:11.204`.
    package static func local(milliseconds: Int64) -> String {
        let rest = ((milliseconds % 1000) + 1000) % 1000
        let parts = local(timespec(tv_sec: Int((milliseconds - rest) / 1000), tv_nsec: Int(rest) * 1_000_000))
        return "\(parts.date) \(parts.time)"
    }

    private static func local(_ time: timespec) -> (date: String, time: String) {
        var (seconds, parts) = (time.tv_sec, tm())
        localtime_r(&seconds, &parts)
        func pad(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let date = [Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)]
        let time =
            [parts.tm_hour, parts.tm_min, parts.tm_sec].map { pad(Int($0), 2) }.joined(separator: ":") + "."
            + pad(time.tv_nsec / 1_000_000, 3)
        return (date.map { pad($0, 2) }.joined(separator: "-"), time)
    }
}
