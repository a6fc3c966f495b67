import ArgumentParser
import CommandSupport
import Platform
import RuleLoader

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print a JSON Schema of the rules, for editors.",
        discussion: """
            The schema is draft-07. With --for, it contains the names of the buttons, groups, states, variables, \
            scripts and rules: editors complete these names, and underline unknown ones. The first line of a rules \
            file names the schema:

              # yaml-language-server: $schema=./rules.schema.json

            Needs no daemon. If the rules have errors, the schema contains the names that could be read, and the exit \
            status is 1. The exit status is 78 if a file cannot be read.

              tryck schema --output rules/rules.schema.json
              tryck schema --for rules/home.yaml --output rules/rules.schema.json
            """)

    @Option(name: .customLong("for"), help: ArgumentHelp("A rules file with names for the schema.", valueName: "path"))
    var path: String?

    @Option(
        help: ArgumentHelp(
            "Write the schema into this file. An existing file is replaced whole, when the schema is complete.",
            valueName: "file"))
    var output: String?

    func run() throws {
        let rules = try path.map { try FileChecker.here.readableRules($0) }
        let text = RulesSchema.text(for: rules?.set)
        if let output {
            try NewFile(output, isReplacing: true, mode: 0o666).write(Array(text.utf8))
        } else {
            Output.standardOutput.write(text: text)
        }
        guard let path, rules?.hasErrors ?? false else { return }
        Output.standardError.write(text: "\(path) has errors: the schema contains the names that could be read.\n")
        throw Failure.silent(.negativeResult)
    }
}
