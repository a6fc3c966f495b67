import ArgumentParser
import Daemon
import JSON

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Tell whether all is well.",
        discussion: """
            The daemon, its Bluetooth adapter, its broker, its rules and its buttons at a glance. The exit status is \
            0 only if all is well.

              tryck status
              tryck status --json | jq .broker
            """)

    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let status = try control.ask("status")
        if output.json {
            Output.standardOutput.write(line: status.description)
        } else {
            Output.standardOutput.write(StatusText.lines(status, style: Output.standardOutput.style))
        }
        guard status["ok"]?.boolValue == true else { throw Failure.silent(.no) }
    }
}
