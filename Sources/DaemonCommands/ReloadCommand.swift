import ArgumentParser
import CommandSupport
import CommandText
import JSON
import MQTTTopics

struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Load the rules again.",
        discussion: """
            If the rules have errors, the daemon shows the errors and keeps the old rules. The daemon also loads the \
            rules when a rules file is saved, so this command is rarely needed.

              tryck reload
              tryck reload --test
            """)

    @Flag(help: "Run the tests in the rule files first; a failed test is an error.")
    var test = false

    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let answer = try control.ask(BridgeRequestName.reloadRules, ["test": .bool(test)])
        output.write(answer) { answer in
            let count = Quantity.count(answer["rules"]?.integerValue ?? 0, "rule")
            let hasChanged = answer["changed"]?.boolValue == true
            return [
                Line("\(Output.standardOutput.style.checkMark) ", .good)
                    + (hasChanged ? "\(count) loaded" : "nothing has changed: \(count)")
            ]
        }
    }
}
