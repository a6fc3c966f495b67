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
                No model supports it: the LEDs of a Flic 2, a Duo and a Twist cannot be controlled, and \
                the daemon answers with the reason.

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
