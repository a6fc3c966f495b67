package import ArgumentParser

/// The commands that read rule files and need no daemon.
package enum RuleCommands {
    package static let check: any ParsableCommand.Type = CheckCommand.self
    package static let test: any ParsableCommand.Type = TestCommand.self
    package static let explain: any ParsableCommand.Type = ExplainCommand.self
    package static let schema: any ParsableCommand.Type = SchemaCommand.self
}
