import ArgumentParser
import CommandSupport
import CommandText
import JSON
import MQTTTopics

extension ButtonCommand {
    struct Forget: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "forget",
            abstract: "Delete the pairing of the button.",
            usage: "tryck button <name> forget [--json] [--control-socket <path>]",
            discussion: """
                All stored data of the button is deleted, and its presses have no effect. To use it again, pair it.

                  tryck button kitchen forget
                  tryck button BA00-A00001 forget
                """)

        @ParentCommand var button: ButtonCommand
        @OptionGroup var control: ControlOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let answer = try control.ask(ButtonRequestName.remove, ["id": .string(button.name)])
            output.write(answer) { [Line(Self.sentence($0))] + ButtonText.note($0) }
        }

        /// - Parameter answer: the `data` of the answer.
        static func sentence(_ answer: JSONValue) -> String {
            "\(answer.text("button")) is forgotten. To use it again: tryck pair"
        }
    }
}
