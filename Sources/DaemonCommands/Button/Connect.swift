import ArgumentParser
import CommandSupport
import CommandText
import JSON
import MQTTTopics

extension ButtonCommand {
    struct Connect: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "connect",
            abstract: "Allow the button to connect again after a disconnect.",
            usage: "tryck button <name> connect [--json] [--control-socket <path>]",
            discussion: """
                The button connects when it is pressed, or when it comes back into range.

                  tryck button kitchen connect
                """)

        @ParentCommand var button: ButtonCommand
        @OptionGroup var control: ControlOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let answer = try control.ask(ButtonRequestName.connect, ["id": .string(button.name)])
            output.write(answer) { [Line("\($0.text("button")) may connect again. Press it to connect at once.")] }
        }
    }

    struct Disconnect: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "disconnect",
            abstract: "Keep the button disconnected until connect.",
            usage: "tryck button <name> disconnect [--json] [--control-socket <path>]",
            discussion: """
                The pairing is kept, and the button stores its presses. The setting is kept over restarts.

                  tryck button kitchen disconnect
                """)

        @ParentCommand var button: ButtonCommand
        @OptionGroup var control: ControlOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let answer = try control.ask(ButtonRequestName.disconnect, ["id": .string(button.name)])
            output.write(answer) {
                let name = $0.text("button")
                return [Line("\(name) stays disconnected. To connect it again: tryck button \(button.name) connect")]
            }
        }
    }
}
