import ButtonModel

/// Counts the presses of own buttons that never arrived, from gaps in the counters of the buttons.
///
/// A button without a link keeps few events, and drops the oldest ones for new ones. It does not report the loss, but its counter
/// shows it: each press advances the counter by four, 4k + 1 (down), 4k + 2 (hold), 4k + 3 (up) and 4k + 4 (no second press
/// followed), and the values of steps that did not happen are skipped. If no step of a press arrives, there is a gap between the
/// counters of two events that arrive. The count in the answer to an init request is not used, because its exact meaning is not
/// known; the next event shows the same.
///
/// - Source: protocol notes, 6.5 and 6.6.
struct MissedPresses: Sendable {
    private struct Counters {
        var bootID: UInt32
        /// The counters of the last events; `nil` until an event has shown how far the button has counted. A Duo's small button
        /// has a counter of its own.
        var big, small: UInt32?
    }

    private var counters: [ButtonID: Counters] = [:]
    /// The number of presses of each button that never arrived, since the start of the program; only numbers above 0.
    private var missed: [ButtonID: Tally] = [:]

    init(_ stored: [StoredButton]) {
        for button in stored where button.source == nil && button.cursor.bootID != 0 {
            // A counter of 0 may mean that no event was received, so presses before the next event cannot be counted.
            let cursor = button.cursor
            counters[button.id] = Counters(
                bootID: cursor.bootID, big: cursor.eventCount > 0 ? cursor.eventCount : nil,
                small: cursor.smallEventCount > 0 ? cursor.smallEventCount : nil)
        }
    }

    /// How many presses of the button never arrived, since the start of the program.
    func count(of button: ButtonID) -> Int64 { missed[button]?.value ?? 0 }

    /// A session has begun in which the button has another boot id than before.
    ///
    /// - Parameter former: what was known of its events before.
    mutating func rebooted(_ button: ButtonID, from former: EventCursor?, to cursor: EventCursor) {
        // A button that reboots counts from 0, so all presses since then are counted. They are not counted for a button that was
        // not known before, or that has begun with another number: those presses were made before this program served the button.
        let isKnown = former.map { $0.bootID != 0 } ?? false
        counters[button] = Counters(
            bootID: cursor.bootID, big: isKnown && cursor.eventCount == 0 ? 0 : nil,
            small: isKnown && cursor.smallEventCount == 0 ? 0 : nil)
    }

    /// The button was paired again, or is not known any more.
    mutating func forget(_ button: ButtonID) {
        counters[button] = nil
        missed[button] = nil
    }

    /// New events of one button have arrived, in order.
    ///
    /// - Returns: how many presses before or between these events never arrived.
    mutating func received(_ events: [ButtonEvent]) -> Int {
        guard let button = events.first?.button else { return 0 }
        var known = counters[button] ?? Counters(bootID: events[0].bootID)
        var count = 0
        for event in events {
            if known.bootID != event.bootID { known = Counters(bootID: event.bootID) }
            let last = event.part == .small ? known.small : known.big
            if let last { count += Self.presses(between: last, and: event.counter) }
            let latest = max(last ?? 0, event.counter)
            if event.part == .small { known.small = latest } else { known.big = latest }
        }
        counters[button] = known
        if count > 0 { missed[button] = Tally(clamping: self.count(of: button) + Int64(count)) }
        return count
    }

    /// The number of presses whose counters all lie between these two.
    static func presses(between last: UInt32, and next: UInt32) -> Int {
        func press(of counter: UInt32) -> Int { (Int(counter) + 3) / 4 }
        return max(0, press(of: next) - press(of: last) - 1)
    }

    #if DEBUG
        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        ///
        /// - Parameter isKnown: true for a button that is known.
        func problems(_ isKnown: (ButtonID) -> Bool) -> [String] {
            var problems: [String] = []
            if !counters.keys.allSatisfy(isKnown) { problems.append("counters of a button that is not known") }
            if missed.keys.contains(where: { counters[$0] == nil }) {
                problems.append("presses missed without a counter")
            }
            if missed.values.contains(where: { $0 <= 0 }) { problems.append("a count of no missed presses") }
            return problems
        }
    #endif
}
