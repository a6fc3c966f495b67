import CommandSupport
import CommandText
import JSON
import RuleTesting
import Rules

/// The output of `tryck test`.
enum TestText {
    /// The most rules, branches and steps without a test that are shown.
    static let maximumGaps = 20

    static func lines(_ report: RuleTestReport, style: Style) -> [Line] {
        var lines: [Line] = []
        for result in report.results {
            guard let failure = result.failure else {
                lines.append(Line("\(style.checkMark) ", .good) + result.name)
                continue
            }
            lines.append(Line("\(style.cross) ", .bad) + (result.name, .strong))
            lines += failure.text(of: result.name).split(separator: "\n").map { Line(String($0)) }
        }
        let failed = report.failures.count
        let passed = report.results.count - failed
        lines.append(
            failed == 0
                ? Line("\(Quantity.count(Int64(passed), "test")) passed", .good)
                : Line("\(failed) of \(Quantity.count(Int64(report.results.count), "test")) failed", .bad))
        guard !report.unreached.isEmpty else { return lines }
        lines.append(Line("not reached by any test:", .faint))
        for gap in report.unreached.prefix(maximumGaps) { lines.append(Line("  \(gap.location) ", .faint) + gap.text) }
        let rest = report.unreached.count - maximumGaps
        if rest > 0 { lines.append(Line("  and \(rest) more", .faint)) }
        return lines
    }

    /// - Parameter name: the file, if there are several.
    static func json(_ report: RuleTestReport, of name: String? = nil) -> JSONValue {
        let tests: [JSONValue] = report.results.map { result in
            [
                "name": .string(result.name), "place": .string(result.location.description),
                "passed": .bool(result.failure == nil),
                "failure": result.failure.map { failure in
                    [
                        "place": .string(failure.location.description),
                        "expected": strings(failure.expected.map(\.text)),
                        "happened": strings(failure.performed.map(\.text)),
                        "differences": strings(failure.differences), "why": strings(failure.reasons),
                    ]
                } ?? .null,
            ]
        }
        let unreached: [JSONValue] = report.unreached.map {
            ["what": .string($0.text), "place": .string($0.location.description)]
        }
        let results: [JSONValue.Member] = [.init("tests", .array(tests)), .init("unreached", .array(unreached))]
        return .object([name.map { .init("file", .string($0)) }].compactMap(\.self) + results)
    }

    private static func strings(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
}
