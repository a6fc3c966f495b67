import Expressions
import Rules

/// The simulated results of programs and web servers in a test.
enum SimulatedAnswer {
    /// The outcome and duration of an action, from the first result that matches it. A result may be used any number of
    /// times. Without a match, the action succeeds immediately.
    static func to(_ action: ExternalAction, _ results: [RuleTest.SimulatedResult]) -> (ActionResult, Duration) {
        var facts = ResultFacts()
        guard let (kind, subject) = action.simulation else {
            facts.isOK = true
            return (.completed(facts), .zero)
        }
        let result =
            results.first { $0.kind == kind && subject.hasPrefix($0.prefix) }
            ?? RuleTest.SimulatedResult(kind: kind, prefix: "")
        facts.stdout = result.stdout
        facts.stderr = result.stderr
        facts.body = result.body
        facts.duration = result.takes
        switch kind {
        case .run, .shell:
            facts.isOK = result.exit == 0
            facts.status = Int64(result.exit)
        case .http:
            facts.isOK = true
            facts.status = Int64(result.status)
        }
        guard facts.isOK else {
            let reason = result.stderr.prefix { !$0.isNewline }
            let message = "exit status \(result.exit)" + (reason.isEmpty ? "" : ": \(reason)")
            return (.failed(code: "R822", message: message, facts), result.takes)
        }
        return (.completed(facts), result.takes)
    }
}
