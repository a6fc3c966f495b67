import ArgumentParser
import JSON

extension ButtonCommand {
    struct LED: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "led",
            abstract: "Let the button's light pulse, where a button can be told to.",
            usage: "tryck button <name> led [--control-socket <path>]",
            discussion: """
                A Flic 2 cannot: its light shows what the button does, and nothing else.

                  tryck button kitchen led
                """)

        @ParentCommand var button: ButtonCommand
        @OptionGroup var control: ControlOptions

        func run() throws {
            _ = try control.ask("button/led", ["id": .string(button.name)])
        }
    }
}
