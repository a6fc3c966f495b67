import Glibc

/// The time of day that is printed before a line.
package enum Clock {
    package static let columns = 12

    /// The local time: `13:02:11.204`.
    package static func now() -> String {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        var parts = tm()
        localtime_r(&time.tv_sec, &parts)
        func pad(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { pad(Int($0), 2) }.joined(separator: ":") + "."
            + pad(time.tv_nsec / 1_000_000, 3)
    }
}
