import ArgumentParser
import CommandSupport
import JSON
import Platform
import RuleTesting
import Rules

struct TestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Run the tests in the rule files.",
        discussion: """
            Each test runs the daemon's rule engine on a simulated clock, without buttons, broker or programs. Shows \
            for a failed test what was expected, what happened, and why; then the rules, branches and steps that no \
            test reaches. The exit status is 0 if all tests pass, 1 if one fails or the rules have errors, and 78 if a \
            file cannot be read. With --json and several files, each file has a line.

              tryck test rules/home.yaml
              tryck test --strict
              tryck test --filter midnight
              tryck test rules/recipes/*.yaml
            """)

    @OptionGroup var rules: RulesArgument

    @Option(
        help: ArgumentHelp(
            "Run only the tests whose names contain this text. The exit status is 1 if there are none.",
            valueName: "text"))
    var filter: String?

    @Flag(help: "Exit with status 1 if there are warnings, or rules that no test reaches.")
    var strict = false

    @OptionGroup var output: OutputOptions

    func run() throws {
        let checker = FileChecker.here
        var files: [(name: String, report: RuleTestReport)] = []
        var hasWarnings = false
        for source in rules.sources {
            let checked = try checker.check(source)
            var set = try FileChecker.rules(in: checked)
            if let filter { set.tests = set.tests.filter { $0.name.contains(filter) } }
            var report = RuleTestRunner.run(set)
            // The rules that the omitted tests reach are not known, so none is reported as unreached.
            if filter != nil { report.unreached = [] }
            hasWarnings = hasWarnings || !report.unreached.isEmpty || checked.contains { !$0.diagnostics.isEmpty }
            files.append((checked.last?.name ?? "", report))
        }
        if let filter, files.allSatisfy(\.report.results.isEmpty) {
            throw Failure(.negativeResult, "No test has \"\(filter)\" in its name.")
        }
        for (name, report) in files { show(report, of: files.count > 1 ? name : nil) }
        guard files.allSatisfy(\.report.failures.isEmpty), !strict || !hasWarnings else {
            throw Failure.silent(.negativeResult)
        }
    }

    /// - Parameter name: the file, if there are several.
    private func show(_ report: RuleTestReport, of name: String?) {
        let output = Output.standardOutput
        guard !self.output.json else {
            output.write(line: report.json(of: name).description)
            return
        }
        if let name { output.write(Line("\(name):", .strong)) }
        output.write(TestText.lines(report, style: output.style))
    }
}
