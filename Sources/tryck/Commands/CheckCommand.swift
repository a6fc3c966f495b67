import ArgumentParser
import Daemon
import Diagnostics
import JSON

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check rules without running them.",
        discussion: """
            Names every mistake with its file, line and column, and says how to mend it. Needs no daemon. The exit \
            status is 0 without errors, 1 with errors, 78 when a file cannot be read.

              tryck check rules/home.yaml
              tryck check --strict && systemctl reload tryck
            """)

    @Argument(
        help: ArgumentHelp(
            """
            A rules file, or a tryck.yaml, which is checked with its rules. Otherwise the tryck.yaml a daemon started \
            here would use.
            """))
    var path: String?

    @Flag(help: "Let warnings give exit status 1, too.")
    var strict = false

    @OptionGroup var output: OutputOptions

    func run() throws {
        let checker = FileChecker(
            environment: Surroundings.environment, workingDirectory: Surroundings.workingDirectory)
        let checked = try path.map { (path) throws(Failure) in try checker.check(path) } ?? checker.checkDefault()
        let diagnostics = checked.flatMap(\.diagnostics)
        if output.json {
            Output.standardOutput.write(line: JSONValue.array(diagnostics.map(\.json)).description)
        } else {
            show(checked)
        }
        guard !diagnostics.contains(where: { strict || $0.severity == .error }) else { throw Failure.silent(.no) }
    }

    private func show(_ checked: [CheckedFile]) {
        let output = Output.standardOutput
        let style = output.style
        let sources = Dictionary(checked.map { ($0.name, $0.text) }) { first, _ in first }
        let report = DiagnosticReport(checked.flatMap(\.diagnostics), sources: sources)
        output.write(text: report.text(colour: style.usesColour))
        for file in checked {
            guard let content = file.content else { continue }
            output.write(Line("\(style.checkMark) ", .good) + (file.name, .strong) + ": \(content)")
        }
    }
}
