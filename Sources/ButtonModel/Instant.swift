/// A point in time on CLOCK_BOOTTIME: monotonic, and counting the time that the system is suspended.
///
/// State machines do not read the clock; each of their inputs carries the current instant.
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
        .nanoseconds(later.nanoseconds(since: earlier))
    }

    /// The nanoseconds from an earlier instant to this one, negative if it is later. Clamped to ±`Int64.max`.
    package func nanoseconds(since earlier: Instant) -> Int64 {
        // `.min` is excluded because negating it would overflow.
        nanoseconds.addingSaturating(-max(-.max, earlier.nanoseconds))
    }
}

extension Duration {
    /// The duration in whole nanoseconds. Durations beyond ±292 years become ±`Int64.max`.
    public var nanoseconds: Int64 {
        // One division of a 128-bit number takes a fifth of the time of `components`. `.min` is excluded because negating it
        // would overflow.
        max(-.max, Int64(clamping: attoseconds / 1_000_000_000))
    }

    /// The duration in whole milliseconds, rounded towards zero.
    public var milliseconds: Int64 { nanoseconds / 1_000_000 }
}

extension Int64 {
    /// The sum, clamped to ±`Int64.max` on overflow.
    public func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other < 0 ? -.max : .max
    }
}
