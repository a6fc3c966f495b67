import ArgumentParser
import CommandSupport
import Diagnostics
import JSON
import Platform
import Setup

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check rules for mistakes.",
        discussion: """
            Shows each mistake with file, line and column, and how to correct it; then, for each button, which \
            gestures are recognised, how long a click waits, and because of which rule. Needs no daemon. The exit \
            status is 0 without errors, 1 with errors, and 78 if a file cannot be read.

              tryck check rules/home.yaml
              tryck check --strict && tryck reload
              generate-rules | tryck check - --as rules/home.yaml
            """)

    @OptionGroup var rules: RulesArgument

    @Flag(help: "Exit with status 1 if there are warnings.")
    var strict = false

    @OptionGroup var output: OutputOptions

    func run() throws {
        let checked = try rules.sources.flatMap { try FileChecker.here.check($0) }
        let diagnostics = checked.flatMap(\.diagnostics)
        if output.json {
            Output.standardOutput.write(line: JSONValue.array(diagnostics.problemList).description)
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
