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
            file cannot be read.

              tryck test rules/home.yaml
              tryck test --strict
              tryck test --filter midnight
            """)

    @Argument(help: RulesArgument.help)
    var path: String?

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
        var set = try checker.rules(path)
        if let filter {
            set.tests = set.tests.filter { $0.name.contains(filter) }
            guard !set.tests.isEmpty else { throw Failure(.negativeResult, "No test has \"\(filter)\" in its name.") }
        }
        var report = RuleTestRunner.run(set)
        // What the other tests reach is not known.
        if filter != nil { report.unreached = [] }
        if output.json {
            Output.standardOutput.write(line: TestText.json(report).description)
        } else {
            Output.standardOutput.write(TestText.lines(report, style: Output.standardOutput.style))
        }
        var hasWarnings = false
        if strict {
            hasWarnings = try !report.unreached.isEmpty || checker.check(path).contains { !$0.diagnostics.isEmpty }
        }
        guard report.failures.isEmpty, !hasWarnings else { throw Failure.silent(.negativeResult) }
    }
}
