import ArgumentParser
import CommandSupport
import JSON

extension ButtonCommand {
    struct FactoryReset: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "factory-reset",
            abstract: "Let the button forget everybody it is paired with.",
            usage: "tryck button <name> factory-reset --yes [--control-socket <path>]",
            discussion: """
                Phones and hubs are forgotten as well, and so are we: afterwards it has to be paired again. The button \
                must be connected.

                  tryck button kitchen factory-reset --yes
                """)

        @ParentCommand var button: ButtonCommand
        @Flag(help: "Yes, forget everybody. This cannot be taken back.") var yes = false
        @OptionGroup var control: ControlOptions

        func validate() throws {
            guard yes else {
                throw ValidationError(
                    "The button will forget everybody it is paired with. If you want that, add --yes.")
            }
        }

        func run() throws {
            let answer = try control.ask("button/factory_reset", ["id": .string(button.name), "confirm": true])
            Output.standardOutput.write(
                line: "\(answer.text("button")) is being reset. To use it again, hold it down for 7 seconds: tryck pair"
            )
        }
    }
}
