import ArgumentParser
import CommandSupport
import JSON

extension ButtonCommand {
    struct Connect: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "connect",
            abstract: "Look for the button again, after a disconnect.",
            usage: "tryck button <name> connect [--control-socket <path>]",
            discussion: """
                A button is connected when it is pressed, or when it comes back into reach.

                  tryck button kitchen connect
                """)

        @ParentCommand var button: ButtonCommand
        @OptionGroup var control: ControlOptions

        func run() throws {
            let answer = try control.ask("button/connect", ["id": .string(button.name)])
            let name = answer.text("button")
            Output.standardOutput.write(line: "\(name) may connect again. Press it to connect at once.")
        }
    }

    struct Disconnect: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "disconnect",
            abstract: "Let the button be, until a connect.",
            usage: "tryck button <name> disconnect [--control-socket <path>]",
            discussion: """
                The pairing is kept, also over restarts; presses stay on the button meanwhile.

                  tryck button kitchen disconnect
                """)

        @ParentCommand var button: ButtonCommand
        @OptionGroup var control: ControlOptions

        func run() throws {
            let answer = try control.ask("button/disconnect", ["id": .string(button.name)])
            let name = answer.text("button")
            Output.standardOutput.write(
                line: "\(name) stays disconnected. To connect it again: tryck button \(button.name) connect")
        }
    }
}
