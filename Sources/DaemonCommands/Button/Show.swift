import ArgumentParser
import CommandSupport
import JSON
import MQTTTopics
import Platform

extension ButtonCommand {
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show the details of the button.",
            usage: "tryck button <name> [show] [--json] [--control-socket <path>]",
            discussion: """
                  tryck button kitchen
                  tryck button kitchen show --json | jq .battery
                """)

        @ParentCommand var button: ButtonCommand
        @OptionGroup var control: ControlOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let answer = try control.ask(ButtonRequestName.describe, ["id": .string(button.name)])
            output.write(answer) { ButtonText.lines($0, at: SystemEnvironment.wallClock) }
        }
    }
}
