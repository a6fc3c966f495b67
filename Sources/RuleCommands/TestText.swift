import CommandSupport
import CommandText
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
}
