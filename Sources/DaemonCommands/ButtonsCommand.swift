import ArgumentParser
import ButtonModel
import CommandSupport
import Glibc
import JSON

struct ButtonsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "buttons",
        abstract: "List the paired buttons.",
        discussion: """
            Shows name, state, battery, signal strength, time when last seen, and recognised gestures.

              tryck buttons
              tryck buttons --json | jq -r '.[].serial'
            """)

    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let buttons = try control.ask("buttons")
        if output.json {
            Output.standardOutput.write(line: buttons.description)
        } else {
            let now = UTCTime(milliseconds: Int64(time(nil)) * 1000)
            Output.standardOutput.write(ButtonTable.lines(buttons.arrayValue ?? [], at: now))
        }
    }
}
