import ArgumentParser
import CommandSupport
import Glibc
import Platform
import Setup

/// The root command of the command line.
struct Tryck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tryck",
        abstract: "Run rules when Flic buttons are pressed.",
        discussion: """
            To try it without a button:

              tryck demo
            """,
        version: Version.string,
        groupedSubcommands: [
            CommandGroup(name: "Start", subcommands: [RunCommand.self, DemoCommand.self]),
            CommandGroup(
                name: "Rules",
                subcommands: [
                    CheckCommand.self, TestCommand.self, ExplainCommand.self, RulesCommand.self, RuleCommand.self,
                    SchemaCommand.self, ReloadCommand.self,
                ]),
            CommandGroup(
                name: "Buttons",
                subcommands: [
                    PairCommand.self, ButtonsCommand.self, ButtonCommand.self, WatchCommand.self, ExportCommand.self,
                    ImportCommand.self,
                ]),
            CommandGroup(name: "Health", subcommands: [StatusCommand.self, DoctorCommand.self]),
            CommandGroup(name: "Laboratory", subcommands: [SimulateCommand.self, ReplayCommand.self]),
        ])
}
