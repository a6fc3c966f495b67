import ArgumentParser
import Testing

@testable import tryck

@Suite("Help")
struct HelpTests {
    static let commands: [any ParsableCommand.Type] = Tryck.configuration.subcommands

    @Test("the commands are listed in their groups")
    func root() {
        expectGolden(Tryck.helpMessage(columns: 80), "help.txt")
    }

    @Test("each command explains itself, with an example", arguments: commands.indices)
    func command(index: Int) {
        let command = HelpTests.commands[index]
        let name = command.configuration.commandName ?? ""
        let help = Tryck.helpMessage(for: command, columns: 80)
        #expect(help.contains("\n  tryck \(name)"), "an example")
        expectGolden(help, "help-\(name).txt")
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
