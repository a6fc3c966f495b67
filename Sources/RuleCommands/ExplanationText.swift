import CommandSupport
import Rules

/// The output of `tryck explain`.
///
///     ✓ hall_click         rules/home.yaml:64:5  runs
///         conditions: none
///         actions[0].choose: branch 1 true: states.lux < 20 is true (states.lux = 3)
///     ✗ goodnight          rules/home.yaml:92:5  dropped_conditions
///         not variables.guest is false (variables.guest = true)
enum ExplanationText {
    /// The maximum number of rules whose next time is shown.
    private static let maximumNextTimes = 20

    /// - Parameter cause: the noun for what is explained.
    static func lines(_ explanation: Explanation, of cause: String = "event", style: Style) -> [Line] {
        let width = explanation.verdicts.map(\.rule.columns).max() ?? 0
        var lines: [Line] = []
        for verdict in explanation.verdicts {
            let runs = verdict.stoppedBy == nil
            lines.append(
                Line("\(runs ? style.checkMark : style.cross) ", runs ? .good : .bad)
                    + (verdict.rule.padded(to: width + 2), .strong) + ("\(verdict.location)  ", .faint)
                    + (verdict.stoppedBy?.rawValue ?? "runs"))
            lines += verdict.reasons.map { Line("    \($0)", .faint) }
            lines += verdict.steps.map { Line("    \($0)") }
        }
        if lines.isEmpty { lines.append(Line("no rule has a trigger for this \(cause)")) }
        for next in explanation.nextTimes.prefix(maximumNextTimes) {
            lines.append(Line("  \(next.rule) comes next at \(next.at)", .faint))
        }
        let more = explanation.nextTimes.count - maximumNextTimes
        if more > 0 { lines.append(Line("  and \(more) more", .faint)) }
        for rule in explanation.notConsidered {
            lines.append(Line("  \(rule) is a fallback and is not considered, because another rule runs", .faint))
        }
        return lines
    }
}
