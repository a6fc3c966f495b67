package import JSON
import Rules

extension RuleTestReport {
    /// The results for programs, as `tryck test --json` prints them.
    ///
    /// - Parameter name: the file, if there are several.
    package func json(of name: String? = nil) -> JSONValue {
        let tests: [JSONValue] = results.map { result in
            .object(
                [.init("name", .string(result.name))] + result.location.members + [
                    .init("passed", .bool(result.failure == nil)),
                    .init("failure", result.failure.map(Self.json) ?? .null),
                ])
        }
        let unreached: [JSONValue] = unreached.map {
            .object([.init("what", .string($0.text))] + $0.location.members)
        }
        let results: [JSONValue.Member] = [.init("tests", .array(tests)), .init("unreached", .array(unreached))]
        return .object([name.map { .init("file", .string($0)) }].compactMap(\.self) + results)
    }

    private static func json(_ failure: RuleTestFailure) -> JSONValue {
        .object(
            failure.location.members + [
                .init("expected", strings(failure.expected.map(\.text))),
                .init("happened", strings(failure.performed.map(\.text))),
                .init("differences", strings(failure.differences)), .init("why", strings(failure.reasons)),
            ])
    }

    private static func strings(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
}
