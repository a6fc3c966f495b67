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
            For a daemon with the transport simulated:FILE. The names of buttons are those in the file. The exit status \
            is 1 if there is no such button, and 64 if there is no such press.

              tryck press kitchen double_click
              tryck press desk turn_25
            """)

    @Argument(help: "The name of the button in the simulator file.")
    var button: String

    @Argument(help: "The press, swipe or turn: \(SimulatedAction.exampleNames).")
    var press: String

    @OptionGroup var control: ControlOptions

    func validate() throws {
        guard SimulatedAction(name: press) != nil else {
            throw ValidationError("There is no press \"\(press)\". The presses are: \(SimulatedAction.exampleNames).")
        }
    }

    func run() throws {
        _ = try control.ask(
            ControlRequestName.pressSimulated, ["button": .string(button), "press": .string(press)])
    }
}
