import ArgumentParser
import CommandSupport
import Diagnostics
import JSON
import Platform

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check rules without running them.",
        discussion: """
            Names every mistake with its file, line and column, and says how to mend it; then, for each button, how its \
            presses are read, how long a click waits, and because of which rule. Needs no daemon. The exit status is 0 \
            without errors, 1 with errors, 78 when a file cannot be read.

              tryck check rules/home.yaml
              tryck check --strict && tryck reload
            """)

    @Argument(help: RulesArgument.help)
    var path: String?

    @Flag(help: "Let warnings give exit status 1, too.")
    var strict = false

    @OptionGroup var output: OutputOptions

    func run() throws {
        let checked = try FileChecker.here.check(path)
        let diagnostics = checked.flatMap(\.diagnostics)
        if output.json {
            Output.standardOutput.write(line: JSONValue.array(diagnostics.map(\.json)).description)
        } else {
            show(checked)
        }
        guard !diagnostics.contains(where: { strict || $0.severity == .error }) else {
            throw Failure.silent(.negativeResult)
        }
    }

    private func show(_ checked: [CheckedFile]) {
        let output = Output.standardOutput
        let style = output.style
        output.write(text: CheckedFile.report(checked, style: style))
        for file in checked {
            guard let content = file.content else { continue }
            output.write(Line("\(style.checkMark) ", .good) + (file.name, .strong) + ": \(content)")
            if let set = file.set { output.write(ListeningText.lines(set)) }
        }
    }
}

/// The argument of commands that read rules without a daemon.
enum RulesArgument {
    static let help = ArgumentHelp(
        """
        A rules file, or a tryck.yaml, which is read with its rules. Otherwise the tryck.yaml a daemon started here \
        would use.
        """)
}
