package import Rules

/// Runs the `tests:` of a rule set with a virtual clock, and without radio, broker, processes and network. The
/// recogniser, the gates, the evaluator and the scheduler are those of the daemon.
package enum RuleTestRunner {
    package static func run(_ set: RuleSet) -> RuleTestReport {
        var report = RuleTestReport()
        var coverage = Coverage()
        let started = TestRun(set)
        for test in set.tests {
            var stage = started
            report.results.append(stage.perform(test))
            coverage.note(stage.coverage)
        }
        report.unreached = coverage.gaps(in: set)
        return report
    }
}

package struct RuleTestReport: Sendable {
    package var results: [RuleTestResult] = []
    package var unreached: [Coverage.Gap] = []

    package var failures: [RuleTestResult] { results.filter { $0.failure != nil } }
}

package struct RuleTestResult: Sendable {
    package var name: String
    package var location: SourceLocation
    /// `nil` when the test passed.
    package var failure: RuleTestFailure?
}

package struct RuleTestFailure: Sendable {
    /// An effect, a variable or an outcome, and whether it differs from its counterpart.
    package struct Line: Sendable {
        package var text: String
        package var differs: Bool
    }

    /// The position of the expectation.
    package var location: SourceLocation
    package var expected: [Line]
    package var performed: [Line]
    /// How JSON that was expected differs from what happened, key by key.
    package var differences: [String]
    /// Stopped rules, failures and trace lines since the previous expectation.
    package var reasons: [String]

    /// The failure as printed, ending with a line feed. A line that differs begins with `!`.
    package func text(of name: String) -> String {
        var lines = ["\(location): test failed: \(name)"]
        func add(_ label: String, _ texts: [Line]) {
            for (index, line) in texts.enumerated() {
                lines.append((line.differs ? "! " : "  ") + (index == 0 ? label : "").padded(to: 10) + line.text)
            }
        }
        func plain(_ texts: [String]) -> [Line] { texts.map { Line(text: $0, differs: false) } }
        add("expected", expected.isEmpty ? plain(["nothing"]) : expected)
        add("happened", performed.isEmpty ? plain(["nothing"]) : performed)
        add("json", plain(differences))
        add("why", plain(reasons))
        return lines.joined(separator: "\n") + "\n"
    }
}

extension String {
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
