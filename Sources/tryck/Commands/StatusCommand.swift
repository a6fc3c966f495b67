import ArgumentParser
import CommandSupport
import JSON
import Platform

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Tell whether all is well.",
        discussion: """
            The daemon, its Bluetooth adapter, its broker, its rules and its buttons at a glance; what is wrong; and \
            the last warnings and errors, which may be over. With --json the last 20 of them, in .last_errors.

            For monitoring: the exit status is 0 if all is well, 1 if something is wrong (.faults), and 69 if no daemon \
            answers. Keys may be added to the JSON, and mean what they meant.

              tryck status
              tryck status --json | jq -r '.faults[]'
            """)

    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let status = try control.ask("status")
        if output.json {
            Output.standardOutput.write(line: status.description)
        } else {
            // Lines are not cut off at the width of the terminal, because a fault ends with how to mend it.
            var style = Output.standardOutput.style
            style.width = nil
            let lines = StatusText.lines(status, style: style)
            Output.standardOutput.write(text: lines.map { $0.rendered(style) + "\n" }.joined())
        }
        guard status["ok"]?.boolValue == true else { throw Failure.silent(.negativeResult) }
    }
}
