import ArgumentParser
import CommandSupport
import JSON
import Platform
import RuleTesting
import Rules

struct TestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Run the tests that stand in the rules.",
        discussion: """
            Each runs with a clock of its own, without buttons, broker or programs, on the same engine as the daemon. \
            Shows what was expected, what happened and why; then which rules, branches and steps no test came to. The \
            exit status is 0 when all pass, 1 when one fails or the rules have errors, 78 when a file cannot be read.

              tryck test rules/home.yaml
              tryck test --strict
            """)

    @Argument(help: RulesArgument.help)
    var path: String?

    @Flag(help: "Let warnings, and rules that no test came to, give exit status 1, too.")
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
