import ButtonModel

/// Follows a button's clock across reboots, and relates it to the host's clock.
struct ButtonClock: Sendable {
    /// The time that the button's clock showed at an event.
    struct Reading: Hashable, Sendable {
        var bootID: UInt32
        /// Ticks since the button's boot.
        var ticks: UInt64
    }

    private(set) var bootID: UInt32 = 0
    /// The button's clock at the last event, in its own ticks since boot.
    private(set) var reading: UInt64 = 0
    /// The last event's time, in ticks since the start of a train.
    private(set) var moment: Ticks = 0
    /// When the last event happened on the host's clock, computed from its arrival and age.
    private(set) var instant = Instant(nanoseconds: 0)
    /// The button's clock and the host's clock at the arrival of the last event.
    private(set) var arrival: (moment: Ticks, instant: Instant) = (0, Instant(nanoseconds: 0))

    /// Advances to the time of an event. After a reboot, the elapsed time is taken from the host's clock.
    ///
    /// - Parameter startsOver: whether this event becomes moment 0. Earlier moments must not be used any more.
    mutating func advance(to event: ButtonEvent, at now: Instant, startsOver: Bool) {
        // Fast path: the age of live events is usually zero.
        let happened = event.age == .zero ? now : now - event.age
        let passed = event.bootID == bootID ? Ticks(from: reading, to: event.ticks) : Ticks(happened - instant)
        moment = startsOver ? 0 : moment.addingSaturating(passed)
        bootID = event.bootID
        reading = event.ticks
        instant = happened
        arrival = (moment.addingSaturating(Ticks(event.age)), now)
    }

    /// The reading at the last event.
    var latest: Reading { Reading(bootID: bootID, ticks: reading) }

    /// Restores the state that an earlier process saved.
    ///
    /// - Parameter happened: when its last event happened, on the host's clock.
    mutating func restore(bootID: UInt32, reading: UInt64, moment: Ticks, at happened: Instant) {
        self.bootID = bootID
        self.reading = reading
        self.moment = moment
        instant = happened
        arrival = (moment, happened)
    }

    /// The time on the host's clock at which the button's clock reaches a moment. It is computed from the arrival of
    /// the last event: a queued event's age has already passed, and a later event may have the same radio delay.
    func instant(of moment: Ticks) -> Instant { arrival.instant.advanced(by: moment - arrival.moment, roundedUp: true) }
}
