import ArgumentParser
import CommandSupport
import JSON
import MQTTTopics
import Platform

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
        let buttons = try control.ask(ControlRequestName.buttons)
        output.write(buttons) { ButtonTable.lines($0.arrayValue ?? [], at: SystemEnvironment.wallClock) }
    }
}
