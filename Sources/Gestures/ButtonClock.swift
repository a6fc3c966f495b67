import ButtonModel

/// A button's clock, running on through its reboots, and where it stands on ours.
struct ButtonClock: Sendable {
    private(set) var bootID: UInt32 = 0
    /// The button's clock at the last event, as the button reads it.
    private(set) var reading: UInt64 = 0
    /// The moment of the last event.
    private(set) var moment: Ticks = 0
    /// When the last event happened, on our clock, as far as its own arrival and age tell.
    private(set) var instant = Instant(nanoseconds: 0)
    /// The button's clock when the last event reached us, and ours.
    private(set) var arrival: (moment: Ticks, instant: Instant) = (0, Instant(nanoseconds: 0))

    /// Follows the button's clock to this event; over a reboot, ours.
    ///
    /// - Parameter startsOver: moments count from this event. There must be none left from before.
    mutating func advance(to event: ButtonEvent, at now: Instant, startsOver: Bool) {
        // Of live ones, most of all, there is nothing to reckon.
        let happened = event.age == .zero ? now : now - event.age
        let passed = event.bootID == bootID ? Ticks(from: reading, to: event.ticks) : Ticks(happened - instant)
        moment = startsOver ? 0 : moment.addingSaturating(passed)
        bootID = event.bootID
        reading = event.ticks
        instant = happened
        arrival = (moment.addingSaturating(Ticks(event.age)), now)
    }

    /// As it stood in a former process, whose last event happened at this instant of ours.
    mutating func restore(bootID: UInt32, reading: UInt64, moment: Ticks, at happened: Instant) {
        self.bootID = bootID
        self.reading = reading
        self.moment = moment
        instant = happened
        arrival = (moment, happened)
    }

    /// When our clock reaches this moment. A span that has passed by the button's clock needs not pass again by ours,
    /// and what the radio delayed the last event it may delay the next.
    func instant(of moment: Ticks) -> Instant { arrival.instant.advanced(by: moment - arrival.moment, roundedUp: true) }
}
