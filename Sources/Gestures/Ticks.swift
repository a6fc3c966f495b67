import ButtonModel

/// A moment or a time span on a button's clock, in ticks of 1/32768 s.
///
/// Moments are relative to the start of a train; spans are not negative. Both saturate, because a button's clock may
/// report any value, and sums must not overflow.
typealias Ticks = Int64

extension Ticks {
    /// The longest span, to which longer spans are clamped: about 388 days.
    static let longest: Ticks = 1 << 40

    /// The span from one clock reading to a later reading; 0 if the clock ran backwards.
    init(from earlier: UInt64, to later: UInt64) {
        self = later > earlier ? Ticks(clamping: Swift.min(later - earlier, UInt64(Ticks.longest))) : 0
    }

    /// Converts a duration to whole ticks, rounded down or up; a negative duration becomes 0.
    init(_ duration: Duration, roundedUp: Bool = false) {
        guard duration != .zero else {
            self = 0
            return
        }
        let limit: Int64 = 33_554_432_000_000_000  // longest, in nanoseconds
        let nanoseconds = Swift.max(0, Swift.min(duration.nanoseconds, limit))
        // 10⁹ / 32768 is 1953125 / 64. Seconds are converted separately, so that the multiplications cannot overflow.
        let seconds = nanoseconds / 1_000_000_000
        let scaled = (nanoseconds % 1_000_000_000) * 64
        self = seconds * 32_768 + (roundedUp ? scaled + 1_953_124 : scaled) / 1_953_125
    }

    var duration: Duration { .nanoseconds(nanoseconds(roundedUp: false)) }

    /// Converts to whole nanoseconds, rounded towards zero or up.
    func nanoseconds(roundedUp: Bool) -> Int64 {
        let span = Swift.max(-Ticks.longest, Swift.min(self, Ticks.longest))
        let (seconds, rest) = span.quotientAndRemainder(dividingBy: 32_768)
        return seconds * 1_000_000_000 + (rest * 1_953_125 + (rest > 0 && roundedUp ? 63 : 0)) / 64
    }
}

extension Instant {
    /// - Parameter roundedUp: must be true for timers, so that they do not fire before the button's clock reaches the
    ///   time.
    func advanced(by span: Ticks, roundedUp: Bool = false) -> Instant {
        Instant(nanoseconds: nanoseconds.addingSaturating(span.nanoseconds(roundedUp: roundedUp)))
    }
}
