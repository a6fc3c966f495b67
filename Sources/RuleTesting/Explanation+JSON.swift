package import JSON
package import Rules

extension Explanation {
    /// The explanation for programs, as `tryck explain --json` prints it.
    package var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init(
                "rules",
                .array(
                    verdicts.map { verdict in
                        .object(
                            [
                                .init("id", .string(verdict.rule)), .init("runs", .bool(verdict.stoppedBy == nil)),
                                .init("stopped_by", verdict.stoppedBy.map { .string($0.rawValue) } ?? .null),
                                .init("reasons", .array(verdict.reasons.map { .string($0) })),
                                .init("steps", .array(verdict.steps.map { .string($0) })),
                            ] + verdict.location.members)
                    })),
            .init("not_considered", .array(notConsidered.map { .string($0) })),
        ]
        if !nextTimes.isEmpty {
            members.append(
                .init("next", .array(nextTimes.map { ["id": .string($0.rule), "at": .string($0.at)] })))
        }
        return .object(members)
    }
}
