import ButtonModel
import Expressions

extension Step {
    /// The name in traces: the alias, or else the path.
    var name: String { alias ?? path }

    /// The result as shown in traces.
    func traceSuffix(for facts: ResultFacts) -> String {
        if case .perform(let action) = action { action.traceSuffix(for: facts) } else { "" }
    }

    /// The failure of the step if it does not accept this result of a completed action; else `nil`.
    func failure(for facts: ResultFacts) -> StepFailure? {
        if case .perform(let action) = action { action.failure(for: facts) } else { nil }
    }
}

extension Run {
    /// The maximum length of text in a trace, in octets. Longer text is omitted and not truncated, because `Redaction`
    /// would not recognise a truncated secret.
    private static let longestShown = 200

    mutating func note(_ step: Step, _ text: String, at now: Instant) {
        guard trace.lines.count < RunTrace.maximumLines else {
            trace.omitted += 1
            trace.omittedLocations.insert(step.location.description)
            return
        }
        trace.lines.append(RunTrace.Line(after: now - startedAt, step: step.name, text: text, location: step.location))
    }

    static func traceText(_ text: String) -> String {
        let length = text.utf8.count
        guard length <= longestShown else { return "(\(length) octets)" }
        // Fast path: iterating over characters would take longer than the rest of the step.
        guard text.utf8.contains(where: { $0 < 0x20 || $0 >= 0x80 }) else { return text }
        return String(text.map { $0.isNewline ? " " : $0 })
    }

    static func firstLine(of text: String) -> String { String(text.prefix { !$0.isNewline }) }
}
