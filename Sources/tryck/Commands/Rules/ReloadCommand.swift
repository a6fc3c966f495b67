import ArgumentParser
import CommandSupport
import JSON

struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Have the daemon read its rules again.",
        discussion: """
            All of them or nothing: rules with errors change nothing, the old ones go on, and the errors are shown. \
            Whoever saves a rules file has no need of this: the daemon notices.

              tryck reload
              tryck reload --test
            """)

    @Flag(help: "Run the tests that stand in the rules first; one that fails is an error.")
    var test = false

    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let answer = try control.ask("rules/reload", ["test": .bool(test)])
        if output.json {
            Output.standardOutput.write(line: answer.description)
        } else {
            let count = Quantity.count(answer["rules"]?.integerValue ?? 0, "rule")
            let hasChanged = answer["changed"]?.boolValue == true
            Output.standardOutput.write(
                Line("\(Output.standardOutput.style.checkMark) ", .good)
                    + (hasChanged ? "\(count) loaded" : "nothing has changed: \(count)"))
        }
    }
}
