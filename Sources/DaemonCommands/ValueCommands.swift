import ArgumentParser
import CommandSupport
import CommandText
import JSON
import MQTTTopics

struct VariablesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "variables",
        abstract: "List the variables of the rules, with their values.",
        discussion: """
              tryck variables
              tryck variables --json | jq -r '.[] | select(.name == "volume").value'
            """)

    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let variables = try control.ask(RuleRequestName.variables)
        output.write(variables) { ValueTable.lines($0.arrayValue ?? [], absent: "The rules have no variables.") }
    }
}

struct StatesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "states",
        abstract: "List the states of the rules, with their last values.",
        discussion: """
            A state that has no value, or an outdated one, is unknown.

              tryck states
            """)

    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let states = try control.ask(RuleRequestName.states)
        output.write(states) { ValueTable.lines($0.arrayValue ?? [], absent: "The rules have no states.") }
    }
}

struct VariableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "variable",
        abstract: "Set a variable of the rules.",
        usage: "tryck variable <name> set <value>",
        discussion: """
              tryck variable volume set 30
            """,
        subcommands: [Set.self])

    @Argument(help: "The variable's name; tryck variables lists them.", completion: NameCompletions.variables)
    var name: String

    struct Set: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Give the variable a value.",
            usage: "tryck variable <name> set <value>",
            discussion: """
                A number is limited to the variable's min and max. The exit status is 1 if the variable does not take the \
                value.

                  tryck variable scene set night
                """)

        // Without `allUnrecognized`, -3 would be read as an option.
        @Argument(
            parsing: .allUnrecognized,
            help: ArgumentHelp("The value: text, a number, true or false.", valueName: "value"))
        var values: [String]

        @ParentCommand var variable: VariableCommand
        @OptionGroup var control: ControlOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard values.count == 1 else { throw ValidationError("Give one value; a text with spaces needs quotes.") }
            guard !values[0].hasPrefix("--") else { throw ValidationError("Unknown option '\(values[0])'") }
        }

        func run() throws {
            let value = values[0]
            let variables = try control.ask(RuleRequestName.variables).arrayValue ?? []
            let declared = variables.first { $0["name"]?.stringValue == variable.name }
            let answer = try control.ask(
                RuleRequestName.setVariable,
                ["name": .string(variable.name), "value": ValueTable.value(value, ofType: declared?.text("type"))])
            output.write(answer) { [Line("\($0.text("name")) = \(ValueTable.text(of: $0))")] }
        }
    }
}

/// The output of `tryck variables` and `tryck states`, and the values that commands take.
enum ValueTable {
    static func lines(_ values: [JSONValue], absent: String) -> [Line] {
        guard !values.isEmpty else { return [Line(absent)] }
        let width = values.map { $0.text("name").columns }.max() ?? 0
        return values.map { value in
            let isKnown = value["value"] != .null
            return Line(value.text("name").padded(to: width + 2), .strong)
                + (isKnown ? text(of: value) : "unknown", isKnown ? .plain : .faint)
        }
    }

    /// The member `value`: text without quotes, anything else as JSON.
    static func text(of value: JSONValue) -> String {
        value["value"].map { $0.stringValue ?? $0.description } ?? ""
    }

    /// The value of a word on a command line: text for a variable of text, otherwise as in JSON.
    static func value(_ word: String, ofType type: String?) -> JSONValue {
        guard type != "string", let value = try? JSONValue(parsing: word) else { return .string(word) }
        return value
    }
}
