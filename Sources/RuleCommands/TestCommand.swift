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
            """)

    @Argument(help: RulesArgument.help)
    var path: String?

    @Flag(help: "Exit with status 1 if there are warnings, or rules that no test reaches.")
    var strict = false

    @OptionGroup var output: OutputOptions

    func run() throws {
        let checker = FileChecker.here
        let set = try checker.rules(path)
        let report = RuleTestRunner.run(set)
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
