import ArgumentParser
import CommandSupport
import JSON
import MQTTTopics
import Platform
import Simulator

struct PressCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "press",
        abstract: "Press a simulated button of the daemon.",
        discussion: """
            For a daemon with the transport simulated:FILE. A button is called by its name in that file, or as in the \
            rules and in other commands: by its name, serial number or address. The exit status is 1 if there is no such \
            button, and 64 if there is no such press.

              tryck press kitchen double_click
              tryck press desk turn_25
            """)

    @Argument(help: "The button's name, in the simulator file or in the rules, or its serial number or address.")
    var button: String

    @Argument(help: "The press, swipe or turn: \(SimulatedAction.exampleNames).")
    var press: String

    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard SimulatedAction(name: press) != nil else {
            throw ValidationError(SimulatedAction.unknown(press))
        }
    }

    func run() throws {
        let answer = try control.ask(
            ControlRequestName.pressSimulated, ["button": .string(button), "press": .string(press)])
        output.write(answer) { _ in [] }
    }
}
