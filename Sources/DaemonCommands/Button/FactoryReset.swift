import ArgumentParser
import CommandSupport
import CommandText
import JSON
import MQTTTopics

extension ButtonCommand {
    struct FactoryReset: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "factory-reset",
            abstract: "Delete all pairings on the button.",
            usage: "tryck button <name> factory-reset --yes [--json] [--control-socket <path>]",
            discussion: """
                The button also forgets phones and hubs. To use it again, it must be paired. The button must be \
                connected.

                  tryck button kitchen factory-reset --yes
                """)

        @ParentCommand var button: ButtonCommand
        @Flag(help: "Confirm the reset, which cannot be undone.") var yes = false
        @OptionGroup var control: ControlOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard yes else {
                throw ValidationError(
                    "The reset deletes all pairings on the button. To confirm it, add --yes.")
            }
        }

        func run() throws {
            let answer = try control.ask(
                ButtonRequestName.factoryReset, ["id": .string(button.name), "confirm": true])
            output.write(answer) {
                [Line("\($0.text("button")) is being reset. To use it again, hold it down for 7 seconds: tryck pair")]
            }
        }
    }
}
