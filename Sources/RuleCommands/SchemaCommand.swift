import ArgumentParser
import CommandSupport
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

            Needs no daemon. The exit status is 1 if the rules have errors, and 78 if a file cannot be read.

              tryck schema > rules/rules.schema.json
              tryck schema --for rules/home.yaml > rules/rules.schema.json
            """)

    @Option(name: .customLong("for"), help: ArgumentHelp("A rules file with names for the schema.", valueName: "path"))
    var path: String?

    func run() throws {
        let set = try path.map { try FileChecker.here.rules($0) }
        Output.standardOutput.write(text: RulesSchema.text(for: set))
    }
}
