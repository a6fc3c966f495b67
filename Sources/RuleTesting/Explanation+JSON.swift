package import JSON
package import Rules

extension Explanation {
    /// The explanation for programs, as `tryck explain --json` prints it.
    package var json: JSONValue {
        [
            "rules": .array(
                verdicts.map { verdict in
                    [
                        "id": .string(verdict.rule), "runs": .bool(verdict.stoppedBy == nil),
                        "stopped_by": verdict.stoppedBy.map { .string($0.rawValue) } ?? .null,
                        "reasons": .array(verdict.reasons.map { .string($0) }),
                        "steps": .array(verdict.steps.map { .string($0) }),
                        "place": .string(verdict.location.description),
                    ]
                }),
            "not_considered": .array(notConsidered.map { .string($0) }),
        ]
    }
}
