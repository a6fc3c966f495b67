import ButtonModel
import Testing

@testable import Hub

extension Hub {
    /// As `handleCompletely`, and records each invariant that the hub then violates as an issue.
    mutating func handleChecked(
        _ input: Input, at now: Instant, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [Effect] {
        let effects = handleCompletely(input, at: now)
        for problem in problems(at: now) { Issue.record("\(problem)", sourceLocation: sourceLocation) }
        return effects
    }
}
