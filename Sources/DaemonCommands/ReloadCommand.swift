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
            If the rules have errors, the daemon keeps the old rules, and this command shows the errors and ends with \
            status 1; tryck check also shows the lines of the files. The daemon also loads the rules when a rules file \
            is saved, so this command is rarely needed.

              tryck reload
              tryck reload --test
            """)

    @Flag(help: "Run the tests in the rule files first; a failed test is an error.")
    var test = false

    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let answer: JSONValue
        do throws(Failure) {
            answer = try control.ask(BridgeRequestName.reloadRules, ["test": .bool(test)])
        } catch {
            var failure = error
            if !failure.problems.isEmpty {
                failure.report = ProblemText.report(failure.problems, because: failure.sentence)
            }
            throw failure
        }
        output.write(answer) { answer in
            let count = Quantity.count(answer["rules"]?.integerValue ?? 0, "rule")
            let hasChanged = answer["changed"]?.boolValue == true
            let line =
                Line("\(Output.standardOutput.style.checkMark) ", .good)
                + (hasChanged ? "\(count) loaded" : "nothing has changed: \(count)")
            // Somebody who expects a change may have edited the other file.
            return hasChanged
                ? [line] : [line, Line("  tryck.yaml is not read again: restart the daemon for changes there", .faint)]
        }
    }
}
