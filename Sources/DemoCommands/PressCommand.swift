import ArgumentParser
import ButtonModel
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
            button or its model cannot do this, and 64 if there is no such press.

              tryck press kitchen double_click
              tryck press desk turn_25
            """)

    @Argument(help: "The button's name, in the simulator file or in the rules, or its serial number or address.")
    var button: String

    @Argument(help: "The press, swipe or turn: \(SimulatedAction.exampleNames).")
    var press: String

    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func validate() throws { _ = try action() }

    func run() throws {
        let models = try FlicModel.allCases.filter(action().isPossible)
        let answer = try control.ask(
            ControlRequestName.pressSimulated,
            [
                "button": .string(button), "press": .string(press),
                "models": .array(models.map { .string($0.rawValue) }),
            ])
        output.write(answer) { _ in [] }
    }

    private func action() throws -> SimulatedAction {
        guard let action = SimulatedAction(name: press) else {
            throw ValidationError(SimulatedAction.unknown(press))
        }
        return action
    }
}
