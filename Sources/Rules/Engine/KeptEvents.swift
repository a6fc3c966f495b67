import ButtonModel
import Gestures

/// The queue of `keep: last`: the last stored event for each rule and button. It is decided when the button has sent
/// its last stored event or a live event, or has sent no stored event for `GestureRecogniser.storedEventGap`.
struct KeptEvents: Sendable {
    struct Kept: Sendable {
        var match: RuleIndex.Match
        var event: Event
        /// A serial number, which is equal for all matches of the same event.
        var number: UInt64
        /// When the event was kept.
        var keptAt: Instant
    }

    private struct Waiting: Sendable {
        var deadline: Instant
        var kept: [Kept] = []
    }

    private var waiting: [ButtonID: Waiting] = [:]

    var nextDeadline: Instant? {
        waiting.isEmpty ? nil : waiting.values.lazy.map(\.deadline).min()
    }

    /// The events of each button.
    var all: [ButtonID: [Kept]] { waiting.mapValues(\.kept) }

    func isEmpty(for button: ButtonID) -> Bool { waiting.isEmpty || waiting[button] == nil }

    /// Restarts the time without events, after the button has sent another stored event.
    mutating func extend(_ button: ButtonID, at now: Instant) {
        if !waiting.isEmpty { waiting[button]?.deadline = now + GestureRecogniser.storedEventGap }
    }

    /// - Returns: the earlier event for this rule and button, which is now superseded.
    mutating func keep(
        _ event: Event, of button: ButtonID, number: UInt64, for match: RuleIndex.Match, at now: Instant
    ) -> Kept? {
        var entry = waiting[button] ?? Waiting(deadline: now)
        entry.deadline = now + GestureRecogniser.storedEventGap
        defer { waiting[button] = entry }
        let earlier = entry.kept.firstIndex { $0.match.rule == match.rule }.map { entry.kept.remove(at: $0) }
        entry.kept.append(Kept(match: match, event: event, number: number, keptAt: now))
        return earlier
    }

    /// Removes and returns a button's events for the rules that `isDecided` accepts, in the order in which they came.
    mutating func take(of button: ButtonID, where isDecided: (_ rule: Int) -> Bool = { _ in true }) -> [Kept] {
        take(of: button) { isDecided($0.match.rule) }
    }

    /// Removes and returns a button's events that were kept at this time or later.
    mutating func take(of button: ButtonID, since start: Instant) -> [Kept] {
        take(of: button) { $0.keptAt >= start }
    }

    private mutating func take(of button: ButtonID, _ isTaken: (Kept) -> Bool) -> [Kept] {
        guard var entry = waiting[button] else { return [] }
        let decided = entry.kept.filter(isTaken)
        entry.kept.removeAll(where: isTaken)
        waiting[button] = entry.kept.isEmpty ? nil : entry
        return decided
    }

    /// Removes and returns the events of all buttons whose time without events is over, ordered by that time.
    mutating func take(silentAt now: Instant) -> [Kept] {
        let silent = waiting.filter { $0.value.deadline <= now }
            .sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
        return silent.flatMap { take(of: $0.key) }
    }

    mutating func takeAll() -> [Kept] {
        defer { waiting = [:] }
        return waiting.keys.sorted().flatMap { waiting[$0]?.kept ?? [] }
    }

    /// Updates the indices of rules after a reload.
    ///
    /// - Returns: the events for rules that were changed or removed.
    mutating func move(to moves: RuleIndexMap) -> [Kept] {
        var dropped: [Kept] = []
        for button in waiting.keys.sorted() {
            guard var entry = waiting[button] else { continue }
            dropped += entry.kept.filter { moves[$0.match.rule] == nil }
            entry.kept = entry.kept.compactMap { kept in
                moves[kept.match.rule].map { rule in
                    var kept = kept
                    kept.match.rule = rule
                    return kept
                }
            }
            waiting[button] = entry.kept.isEmpty ? nil : entry
        }
        return dropped
    }
}
