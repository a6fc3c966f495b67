import ButtonModel

/// The wall clock, if it can be believed.
struct BelievableClock: Sendable {
    /// `nil` until the clock is set.
    var clock: (utc: UTCTime, at: Instant)?
    /// When this version was built.
    var builtAt: UTCTime

    /// The wall time of an instant; `nil` while the clock is not set, and for a time before this version was built.
    func callAsFunction(_ instant: Instant) -> UTCTime? {
        guard let clock else { return nil }
        let time = clock.utc.advanced(from: clock.at, to: instant)
        return time >= builtAt ? time : nil
    }
}
