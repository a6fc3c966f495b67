package import ButtonModel

/// The presses on one radio during the last day, and how many of them found all links in use, so that they waited for one.
package struct Crowding: Hashable, Sendable {
    package struct Day: Hashable, Sendable {
        package var presses = 0
        /// Presses that were made while the radio had no link free for their button.
        package var late = 0
        /// The button with the most of these.
        package var button: ButtonID?
    }

    private struct Hour: Hashable, Sendable {
        var number: Int64
        var presses = 0
        var late: [ButtonID: Int] = [:]
    }

    private static let hoursOfDay: Int64 = 24

    /// The hours in which there were presses, in order; at most 24.
    private var hours: [Hour] = []
    private var fullFrom: Instant?
    /// When the radio was full before.
    private var lastFull: ClosedRange<Instant>?

    mutating func becameFull(at now: Instant) { fullFrom = fullFrom ?? now }

    mutating func becameFree(at now: Instant) {
        if let fullFrom { lastFull = fullFrom...max(fullFrom, now) }
        fullFrom = nil
    }

    /// Counts a press that has just arrived.
    ///
    /// - Parameter age: zero if it arrived over a link that the button had when it was pressed.
    mutating func pressed(_ button: ButtonID, age: Duration, at now: Instant) {
        let number = Self.hour(of: now)
        if hours.last?.number != number {
            hours.removeAll { $0.number <= number - Self.hoursOfDay }
            hours.append(Hour(number: number))
        }
        hours[hours.count - 1].presses += 1
        let pressedAt = now - age
        // The button got its link when the radio had become free. If the radio is full now, it may be because of this link.
        guard age > .zero, let lastFull, lastFull.upperBound >= pressedAt else { return }
        hours[hours.count - 1].late[button, default: 0] += 1
    }

    func day(at now: Instant) -> Day {
        var day = Day()
        var late: [ButtonID: Int] = [:]
        for hour in hours where hour.number > Self.hour(of: now) - Self.hoursOfDay {
            day.presses += hour.presses
            late.merge(hour.late, uniquingKeysWith: +)
        }
        day.late = late.values.reduce(0, +)
        day.button = late.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
        return day
    }

    private static func hour(of now: Instant) -> Int64 { now.nanoseconds / 3_600_000_000_000 }
}
