import ArgumentParser
import CommandSupport
import CommandText
import JSON
import MQTTTopics

extension ButtonCommand {
    struct Rename: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rename",
            abstract: "Change the name of the button in Tryck.",
            usage: "tryck button <name> rename <new name> [--json] [--control-socket <path>]",
            discussion: """
                If the rules declare a name for the button, that name is shown. The name stored on the button is its \
                nickname: see tryck button <name> set --nickname.

                  tryck button BA00-A00001 rename kitchen
                  tryck button kitchen rename ""          removes the name
                """)

        @ParentCommand var button: ButtonCommand
        @Argument(help: ArgumentHelp("The new name, at most 64 characters.", valueName: "new name")) var to: String
        @OptionGroup var control: ControlOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let answer = try control.ask(
                ButtonRequestName.rename, ["id": .string(button.name), "to": .string(to)])
            output.write(answer) { [Line(Self.sentence($0))] + ButtonText.note($0) }
        }

        /// - Parameter answer: the `data` of the answer.
        static func sentence(_ answer: JSONValue) -> String {
            let name = answer.text("to")
            guard let ruleName = answer["rule_name"]?.stringValue, ruleName != name else {
                return "\(answer.text("from")) is now \(name)."
            }
            return
                "Home Assistant and messages call it \"\(name)\" now. Here it stays \(ruleName), its name in the rules."
        }
    }
}
