import ButtonModel

/// The stored events that rules with `keep: last` have seen so far: one for each rule and button, until it is
/// certain that no later one comes.
struct KeptEvents: Sendable {
    /// A button that has sent no stored event for this long has sent them all.
    static let silence = Duration.milliseconds(500)

    struct Kept: Sendable {
        var rule: Int
        var occurrence: Occurrence
    }

    private struct Waiting: Sendable {
        var deadline: Instant
        /// In the order in which the rules saw their first.
        var kept: [Kept] = []
    }

    private var waiting: [ButtonID: Waiting] = [:]

    var nextDeadline: Instant? { waiting.values.lazy.map(\.deadline).min() }

    /// The button has sent another stored event: its silence begins anew.
    mutating func extend(_ button: ButtonID, at now: Instant) {
        waiting[button]?.deadline = now + KeptEvents.silence
    }

    /// - Returns: the event kept before for this rule and button.
    mutating func keep(_ occurrence: Occurrence, for rule: Int, at now: Instant) -> Occurrence? {
        var entry = waiting[occurrence.button] ?? Waiting(deadline: now)
        entry.deadline = now + KeptEvents.silence
        defer { waiting[occurrence.button] = entry }
        guard let place = entry.kept.firstIndex(where: { $0.rule == rule }) else {
            entry.kept.append(Kept(rule: rule, occurrence: occurrence))
            return nil
        }
        defer { entry.kept[place].occurrence = occurrence }
        return entry.kept[place].occurrence
    }

    /// The events of a button that are decided, for the rules that `isDecided` names.
    mutating func take(of button: ButtonID, where isDecided: (_ rule: Int) -> Bool = { _ in true }) -> [Kept] {
        guard var entry = waiting[button] else { return [] }
        let decided = entry.kept.filter { isDecided($0.rule) }
        entry.kept.removeAll { isDecided($0.rule) }
        waiting[button] = entry.kept.isEmpty ? nil : entry
        return decided
    }

    /// The events of every button whose silence has lasted long enough, the earliest silence first.
    mutating func take(silentAt now: Instant) -> [Kept] {
        let silent = waiting.filter { $0.value.deadline <= now }
            .sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
        return silent.flatMap { take(of: $0.key) }
    }
}
