import ArgumentParser
import Daemon
import Glibc

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
            CommandGroup(
                name: "Laboratory", subcommands: [SimulateCommand.self, ReplayCommand.self, BenchCommand.self]),
        ])

    /// Parses the arguments, runs the command and ends the process with its status.
    nonisolated static func runAndExit() -> Never {
        do {
            var command = try parseAsRoot()
            try command.run()
            Glibc.exit(ExitStatus.done.rawValue)
        } catch let failure as Failure {
            if !failure.sentence.isEmpty { Output.standardError.write(line: "tryck: \(failure.sentence)") }
            Glibc.exit(failure.status.rawValue)
        } catch {
            exit(withError: error)
        }
    }
}
