import ButtonModel

/// A moment or a span on a button's clock, in its ticks of 1/32768 s.
///
/// Moments count from the start of a train, spans are never negative. Both saturate: what a button says of its clock
/// can be wrong by any amount, and sums of it must not trap.
typealias Ticks = Int64

extension Ticks {
    /// The longest span that is told from longer ones: a year and some days.
    static let longest: Ticks = 1 << 40

    /// From one reading of a clock to a later one. A clock that ran backwards has not moved.
    init(from earlier: UInt64, to later: UInt64) {
        self = later > earlier ? Ticks(clamping: Swift.min(later - earlier, UInt64(Ticks.longest))) : 0
    }

    /// The whole ticks in a duration, or one more where it is no whole number of them.
    init(_ duration: Duration, roundedUp: Bool = false) {
        guard duration != .zero else {
            self = 0
            return
        }
        let limit: Int64 = 33_554_432_000_000_000  // longest, in nanoseconds
        let nanoseconds = Swift.max(0, Swift.min(duration.nanoseconds, limit))
        // 10⁹ / 32768 is 1953125 / 64; 2⁵⁵ nanoseconds times 64 still fit after the seconds are taken out.
        let seconds = nanoseconds / 1_000_000_000
        let scaled = (nanoseconds % 1_000_000_000) * 64
        self = seconds * 32_768 + (roundedUp ? scaled + 1_953_124 : scaled) / 1_953_125
    }

    var duration: Duration { .nanoseconds(nanoseconds(roundedUp: false)) }

    /// Whole ones, towards zero unless rounded up.
    func nanoseconds(roundedUp: Bool) -> Int64 {
        let span = Swift.max(-Ticks.longest, Swift.min(self, Ticks.longest))
        let (seconds, rest) = span.quotientAndRemainder(dividingBy: 32_768)
        return seconds * 1_000_000_000 + (rest * 1_953_125 + (rest > 0 && roundedUp ? 63 : 0)) / 64
    }
}

extension Instant {
    /// - Parameter roundedUp: so that a timer set to it does not fire before the button's clock gets there.
    func advanced(by span: Ticks, roundedUp: Bool = false) -> Instant {
        Instant(nanoseconds: nanoseconds.addingSaturating(span.nanoseconds(roundedUp: roundedUp)))
    }
}
