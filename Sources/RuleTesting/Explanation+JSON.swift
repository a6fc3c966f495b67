package import JSON
package import Rules

extension Explanation {
    /// The explanation for programs, as `tryck explain --json` prints it.
    package var json: JSONValue {
        [
            "rules": .array(
                verdicts.map { verdict in
                    .object(
                        [
                            .init("id", .string(verdict.rule)), .init("runs", .bool(verdict.stoppedBy == nil)),
                            .init("stopped_by", verdict.stoppedBy.map { .string($0.rawValue) } ?? .null),
                            .init("reasons", .array(verdict.reasons.map { .string($0) })),
                            .init("steps", .array(verdict.steps.map { .string($0) })),
                        ] + verdict.location.members)
                }),
            "not_considered": .array(notConsidered.map { .string($0) }),
        ]
    }
}
