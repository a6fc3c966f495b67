import ArgumentParser
import CommandSupport
import RuleLoader

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print what an editor needs to check and complete rules.",
        discussion: """
            A JSON Schema, draft-07. With --for it knows the buttons, groups, states, variables, scripts and rules of \
            these files: editors complete them, and underline unknown ones. The first line of a rules file names it:

              # yaml-language-server: $schema=./rules.schema.json

            Needs no daemon. The exit status is 1 when the rules have errors, 78 when a file cannot be read.

              tryck schema > rules/rules.schema.json
              tryck schema --for rules/home.yaml > rules/rules.schema.json
            """)

    @Option(name: .customLong("for"), help: ArgumentHelp("The rules whose names it is to know.", valueName: "path"))
    var path: String?

    func run() throws {
        let set = try path.map { try FileChecker.here.rules($0) }
        Output.standardOutput.write(text: RulesSchema.text(for: set))
    }
}
