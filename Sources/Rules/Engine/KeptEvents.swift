import ButtonModel

/// The stored events that rules with `keep: last` have seen so far: one for each rule and button, until it is
/// certain that no later one comes.
struct KeptEvents: Sendable {
    /// A button that has sent no stored event for this long has sent them all.
    static let silence = Duration.milliseconds(500)

    struct Kept: Sendable {
        var match: RuleIndex.Match
        var event: Event
        /// Equal for what one event brought to several rules; counts up.
        var number: UInt64
    }

    private struct Waiting: Sendable {
        var deadline: Instant
        var kept: [Kept] = []
    }

    private var waiting: [ButtonID: Waiting] = [:]

    var nextDeadline: Instant? {
        waiting.isEmpty ? nil : waiting.values.lazy.map(\.deadline).min()
    }

    func isEmpty(for button: ButtonID) -> Bool { waiting.isEmpty || waiting[button] == nil }

    /// The button has sent another stored event: its silence begins anew.
    mutating func extend(_ button: ButtonID, at now: Instant) {
        if !waiting.isEmpty { waiting[button]?.deadline = now + KeptEvents.silence }
    }

    /// - Returns: the event kept before for this rule and button.
    mutating func keep(
        _ event: Event, of button: ButtonID, number: UInt64, for match: RuleIndex.Match, at now: Instant
    ) -> Kept? {
        var entry = waiting[button] ?? Waiting(deadline: now)
        entry.deadline = now + KeptEvents.silence
        defer { waiting[button] = entry }
        let earlier = entry.kept.firstIndex { $0.match.rule == match.rule }.map { entry.kept.remove(at: $0) }
        entry.kept.append(Kept(match: match, event: event, number: number))
        return earlier
    }

    /// The events of a button that are decided, for the rules that `isDecided` names, in the order in which they came.
    mutating func take(of button: ButtonID, where isDecided: (_ rule: Int) -> Bool = { _ in true }) -> [Kept] {
        guard var entry = waiting[button] else { return [] }
        let decided = entry.kept.filter { isDecided($0.match.rule) }
        entry.kept.removeAll { isDecided($0.match.rule) }
        waiting[button] = entry.kept.isEmpty ? nil : entry
        return decided
    }

    /// The events of every button whose silence has lasted long enough, the earliest silence first.
    mutating func take(silentAt now: Instant) -> [Kept] {
        let silent = waiting.filter { $0.value.deadline <= now }
            .sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
        return silent.flatMap { take(of: $0.key) }
    }

    mutating func takeAll() -> [Kept] {
        defer { waiting = [:] }
        return waiting.keys.sorted().flatMap { waiting[$0]?.kept ?? [] }
    }

    /// Rules have other places now.
    ///
    /// - Returns: what was kept for those that changed or are gone.
    mutating func move(to moves: RuleMoves) -> [Kept] {
        var dropped: [Kept] = []
        for button in waiting.keys.sorted() {
            guard var entry = waiting[button] else { continue }
            dropped += entry.kept.filter { moves[$0.match.rule] == nil }
            entry.kept = entry.kept.compactMap { kept in
                moves[kept.match.rule].map { place in
                    var kept = kept
                    kept.match.rule = place
                    return kept
                }
            }
            waiting[button] = entry.kept.isEmpty ? nil : entry
        }
        return dropped
    }
}
