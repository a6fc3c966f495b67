import ArgumentParser
import Testing

@testable import tryck

@Suite("Help")
struct HelpTests {
    struct Command: Sendable, CustomTestStringConvertible {
        var type: any ParsableCommand.Type
        /// With the commands above it.
        var name: String

        var testDescription: String { name }

        var isGroup: Bool { !type.configuration.subcommands.isEmpty }

        static func below(_ type: any ParsableCommand.Type, _ name: String) -> [Command] {
            type.configuration.subcommands.flatMap { type in
                let command = Command(type: type, name: "\(name) \(type.configuration.commandName ?? "")")
                return [command] + below(type, command.name)
            }
        }
    }

    @Test("the commands are listed in their groups")
    func root() {
        expectGolden(Tryck.helpMessage(columns: 80), "help.txt")
    }

    @Test("each command explains itself, with an example", arguments: Command.below(Tryck.self, "tryck"))
    func command(command: Command) {
        let help = Tryck.helpMessage(for: command.type, columns: 80)
        #expect(command.isGroup || help.contains("\n  \(command.name)"), "an example")
        let file = command.name.split(separator: " ").dropFirst().joined(separator: "-")
        expectGolden(help, "help-\(file).txt")
    }

    @Test(
        "wrong arguments are usage errors that name the way out",
        arguments: [
            (["pair", "--time", "0"], "--time takes 1 to 3600 seconds."),
            (["demo", "--json"], "--json needs --press"),
            (["fly"], "Unexpected argument 'fly'"),
        ])
    func usage(arguments: [String], sentence: String) {
        let error = #expect(throws: (any Error).self) { _ = try Tryck.parseAsRoot(arguments) }
        guard let error else { return }
        #expect(Tryck.exitCode(for: error).rawValue == 64)
        #expect(Tryck.fullMessage(for: error).contains(sentence))
    }

    @Test("run hands its options to the daemon")
    func run() throws {
        let command = try RunCommand.parse(["--config", "a.yaml", "--log-level", "debug"])
        #expect(command.arguments == ["--config", "a.yaml", "--log-level", "debug"])
    }
}
