import ArgumentParser
import DaemonCommands
import DemoCommands
import DoctorCommands
import ExportCommands
import LanguageServerCommands
import Platform
import RadioCommands
import ReplayCommands
import RuleCommands

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
            CommandGroup(
                name: "Start",
                subcommands: [RunCommand.self, DaemonCommand.self, DaemonCommands.web, DemoCommands.demo]),
            CommandGroup(
                name: "Rules",
                subcommands: [
                    RuleCommands.check, RuleCommands.test, RuleCommands.explain, ReplayCommands.whatIf,
                    DaemonCommands.rules,
                    DaemonCommands.rule, DaemonCommands.variables, DaemonCommands.variable, DaemonCommands.states,
                    RuleCommands.schema, LanguageServerCommands.languageServer, DaemonCommands.reload,
                ]),
            CommandGroup(
                name: "Buttons",
                subcommands: [
                    DaemonCommands.pair, DaemonCommands.buttons, DaemonCommands.button, DaemonCommands.watch,
                    ReplayCommands.history,
                    ExportCommands.export, ExportCommands.import,
                ]),
            CommandGroup(name: "Radios", subcommands: [DaemonCommands.radios, RadioCommands.hci]),
            CommandGroup(name: "Health", subcommands: [DaemonCommands.status, DoctorCommands.doctor]),
            CommandGroup(
                name: "Laboratory", subcommands: [DemoCommands.press, DemoCommands.simulate, ReplayCommands.replay]),
        ])
}
