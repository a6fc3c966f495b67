import ArgumentParser
import CommandSupport
import JSON
import MQTTTopics

extension ButtonCommand {
    struct LED: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "led",
            abstract: "Flash the button's LED, if its model supports that.",
            usage: "tryck button <name> led [--json] [--control-socket <path>]",
            discussion: """
                A Flic 2 does not support it.

                  tryck button kitchen led
                """)

        @ParentCommand var button: ButtonCommand
        @OptionGroup var control: ControlOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            output.write(try control.ask(ButtonRequestName.led, ["id": .string(button.name)])) { _ in [] }
        }
    }
}
