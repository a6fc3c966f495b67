import ArgumentParser
import ButtonModel
import CommandSupport
import Glibc
import JSON

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
            let answer = try control.ask("button", ["id": .string(button.name)])
            if output.json {
                Output.standardOutput.write(line: answer.description)
            } else {
                let now = UTCTime(milliseconds: Int64(time(nil)) * 1000)
                Output.standardOutput.write(ButtonText.lines(answer, at: now))
            }
        }
    }
}
