/// A moment on the monotonic clock that counts suspended time (CLOCK_BOOTTIME).
///
/// Machines never read it; it comes in with every input.
public struct Instant: Hashable, Comparable, Sendable {
    /// Nanoseconds since the system started.
    public var nanoseconds: Int64

    @inlinable
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    public init(sinceBoot duration: Duration) { nanoseconds = duration.nanoseconds }

    @inlinable
    public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    public static func + (instant: Instant, duration: Duration) -> Instant {
        Instant(nanoseconds: instant.nanoseconds.addingSaturating(duration.nanoseconds))
    }

    public static func - (instant: Instant, duration: Duration) -> Instant {
        Instant(nanoseconds: instant.nanoseconds.addingSaturating(-duration.nanoseconds))
    }

    public static func - (later: Instant, earlier: Instant) -> Duration {
        .nanoseconds(later.nanoseconds.addingSaturating(-max(-.max, earlier.nanoseconds)))
    }
}

extension Duration {
    /// Whole nanoseconds; ±292 years, beyond that the nearest bound.
    public var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? -.max : .max }
        // Never `.min`, which has no opposite.
        return max(-.max, scaled.addingSaturating(attoseconds / 1_000_000_000))
    }

    /// Whole milliseconds, towards zero.
    public var milliseconds: Int64 { nanoseconds / 1_000_000 }
}

extension Int64 {
    /// The sum, or the nearest bound where it does not fit.
    public func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other < 0 ? -.max : .max
    }
}
