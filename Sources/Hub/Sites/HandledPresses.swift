import ButtonModel

/// The presses of sites' buttons that this process has handled, and those of which it knows that another engine has claimed them.
///
/// When a button is carried from one site to another, two kinds of presses arrive that are older than the newest handled press. The
/// button sends presses again to the second site if the first site did not confirm them to the button: they were handled. The first
/// site may send presses that it could not send earlier: they were not handled, and are too late. This type tells the two kinds
/// apart.
struct HandledPresses: Sendable {
    /// Presses with consecutive counters that one site has sent.
    private struct Run {
        var site: String
        var bootID: UInt32
        var part: ButtonPart?
        var counters: ClosedRange<UInt32>
    }

    /// A step of a press, or a turn, that happened after all others that were handled.
    private struct Newest {
        var site: String
        var at: Instant
    }

    /// The maximum number of runs of a button. A press of an older run counts as not handled.
    static let maximumRuns = 8

    private var runs: [ButtonID: [Run]] = [:]
    /// Turns have no counter, and the counters of two boots cannot be compared, so only the time tells whether these came too late.
    private var newest: [ButtonID: Newest] = [:]

    /// - Parameter event: newer than all handled presses of its button and boot.
    mutating func add(_ event: ButtonEvent, from site: String) {
        var known = runs[event.button] ?? []
        if let last = known.lastIndex(where: { $0.part == event.part }), known[last].site == site,
            known[last].bootID == event.bootID, event.counter >= known[last].counters.upperBound,
            event.counter - known[last].counters.upperBound <= 1
        {
            known[last].counters = known[last].counters.lowerBound...event.counter
        } else {
            known.append(
                Run(site: site, bootID: event.bootID, part: event.part, counters: event.counter...event.counter))
            if known.count > Self.maximumRuns { known.removeFirst() }
        }
        runs[event.button] = known
    }

    func contains(_ event: ButtonEvent) -> Bool {
        (runs[event.button] ?? []).contains {
            $0.bootID == event.bootID && $0.part == event.part && $0.counters.contains(event.counter)
        }
    }

    /// True if a later press of the same boot was handled.
    func hasLater(_ event: ButtonEvent) -> Bool {
        (runs[event.button] ?? []).contains {
            $0.bootID == event.bootID && $0.part == event.part && $0.counters.upperBound > event.counter
        }
    }

    /// A step of a press, or a turn, was handled that happened at this time.
    mutating func note(_ button: ButtonID, from site: String, happenedAt instant: Instant) {
        guard newest[button].map({ $0.at <= instant }) ?? true else { return }
        newest[button] = Newest(site: site, at: instant)
    }

    /// True if another site has sent something that was handled and happened after this time.
    func hasLater(than instant: Instant, of button: ButtonID, besides site: String) -> Bool {
        newest[button].map { $0.site != site && $0.at > instant } ?? false
    }

    /// The button was removed.
    mutating func forget(_ button: ButtonID) {
        runs[button] = nil
        newest[button] = nil
    }
}
