import ArgumentParser
import CommandSupport
import JSON
import MQTTTopics
import Platform

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of the daemon, and its faults.",
        discussion: """
            Shows the state of the daemon, its Bluetooth adapter, broker, rules and buttons, the present faults, and \
            the last warnings and errors, which may no longer apply. With --json, .last_errors has the last 20 of them.

            For monitoring: the exit status is 0 if there is no fault, 1 if there is one (.faults), and 69 if no \
            daemon answers. Later versions may add keys to the JSON, but keep the present ones and their meaning.

              tryck status
              tryck status --json | jq -r '.faults[]'
            """)

    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let status = try control.ask(ControlRequestName.status)
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
