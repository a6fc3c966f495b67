package import Diagnostics
package import Hub
import JSON
import RuleLoader
package import RuleTesting
package import Rules
package import YAMLFiles

/// The rule set on the disk once it is loaded, with the texts of its files and the results of its tests.
package struct LoadedRules: Sendable {
    package var result: LoadResult<RuleSet>
    /// The text of each file, secrets included, by name, for reports.
    package var sources: [String: [UInt8]]
    /// The rule files, for a recording and for `LastGoodRules`.
    package var recorded: RecordedRules
    package var secrets: SourceFile?
    /// The values of `!secret` and `!env_var` in the rule files, as far as they could be read (`LoadResult.confidentialValues`).
    /// They are hidden if the set is refused.
    package var confidentialValues: ConfidentialValues
    /// The results of the tests, if they were requested and the set could be loaded.
    package var tests: RuleTestReport?

    /// The directories that were searched for patterns.
    var searched: Set<String> = []
}

extension LoadedRules {
    /// The report to the hub: the rule set, unless there are errors or failed tests.
    package var report: RuleLoadReport {
        var problems = result.diagnostics.problemList
        var summary = result.diagnostics.first { $0.severity == .error }?.line
        for test in tests?.failures ?? [] {
            problems.append(test.problem)
            if summary == nil { summary = "\(test.location): test failed: \(test.name)" }
        }
        let isGood = summary == nil
        return RuleLoadReport(
            set: isGood ? result.value : nil, source: isGood ? recorded : nil, problems: problems,
            summary: summary ?? "", failing: isGood ? nil : result.value?.fingerprint,
            refusedValues: isGood ? ConfidentialValues() : confidentialValues)
    }
}

extension RuleTestResult {
    fileprivate var problem: JSONValue {
        let location = failure?.location ?? location
        return [
            "code": "test", "severity": "error", "file": .string(location.file), "line": .integer(Int64(location.line)),
            "column": .integer(Int64(location.column)), "message": .string("test failed: \(name)"),
            "hint": failure.map { .string($0.text(of: name)) } ?? .null,
        ]
    }
}

extension Diagnostic {
    /// `rules/home.yaml:14:15: unknown button "kitchn"; did you mean "kitchen"?`
    package var line: String {
        "\(file):\(start.line):\(start.column): \(message)" + (hint.map { "; \($0)" } ?? "")
    }
}
