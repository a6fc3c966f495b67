package import JSON
import Rules

extension RuleTestReport {
    /// The results for programs, as `tryck test --json` prints them.
    ///
    /// - Parameter name: the file, if there are several.
    package func json(of name: String? = nil) -> JSONValue {
        let tests: [JSONValue] = results.map { result in
            [
                "name": .string(result.name), "place": .string(result.location.description),
                "passed": .bool(result.failure == nil),
                "failure": result.failure.map { failure in
                    [
                        "place": .string(failure.location.description),
                        "expected": Self.strings(failure.expected.map(\.text)),
                        "happened": Self.strings(failure.performed.map(\.text)),
                        "differences": Self.strings(failure.differences), "why": Self.strings(failure.reasons),
                    ]
                } ?? .null,
            ]
        }
        let unreached: [JSONValue] = unreached.map {
            ["what": .string($0.text), "place": .string($0.location.description)]
        }
        let results: [JSONValue.Member] = [.init("tests", .array(tests)), .init("unreached", .array(unreached))]
        return .object([name.map { .init("file", .string($0)) }].compactMap(\.self) + results)
    }

    private static func strings(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
}
