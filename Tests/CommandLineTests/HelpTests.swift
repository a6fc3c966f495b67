import ArgumentParser
import JSON
import Testing

@testable import CommandSupport
@testable import DaemonCommands
@testable import tryck
@testable import tryck_bench

@Suite("Help")
struct HelpTests {
    struct Command: Sendable, CustomTestStringConvertible {
        var type: any ParsableCommand.Type
        /// With the commands above it.
        var name: String

        var testDescription: String { name }

        var isGroup: Bool { !type.configuration.subcommands.isEmpty }

        /// Whether a line of the text is an example of this command, with any arguments between its words.
        func hasExample(in help: String) -> Bool {
            help.split(separator: "\n").contains { line in
                guard line.hasPrefix("  tryck") else { return false }
                var words = line.split(separator: " ")[...]
                return name.split(separator: " ").allSatisfy { word in
                    words = words.drop { $0 != word }
                    return words.popFirst() != nil
                }
            }
        }

        static func below(_ type: any ParsableCommand.Type, _ name: String) -> [Command] {
            type.configuration.subcommands.filter { $0.configuration.shouldDisplay }.flatMap { type in
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
        let file = command.name.split(separator: " ").dropFirst().joined(separator: "-")
        expectHelp(of: command, below: Tryck.self, "help-\(file).txt")
    }

    @Test("each benchmark explains itself, with an example", arguments: Command.below(BenchCommand.self, "tryck-bench"))
    func benchmark(command: Command) {
        let file = command.name.split(separator: " ").dropFirst().joined(separator: "-")
        expectHelp(of: command, below: BenchCommand.self, "help-bench-\(file).txt")
    }

    @Test("the benchmarks are listed")
    func benchmarks() {
        expectGolden(BenchCommand.helpMessage(columns: 80), "help-bench.txt")
    }

    private func expectHelp(of command: Command, below root: any ParsableCommand.Type, _ file: String) {
        let help = root.helpMessage(for: command.type, columns: 80)
        #expect(command.isGroup || command.hasExample(in: help), "an example")
        expectGolden(help, file)
    }

    @Test(
        "wrong arguments are usage errors that name the way out",
        arguments: [
            (["pair", "--time", "0"], "--time takes 1 to 3600 seconds."),
            (["demo", "--json"], "--json needs --press"),
            (["fly"], "Unexpected argument 'fly'"),
            (["variable", "volume", "set", "--sjon"], "Unknown option '--sjon'"),
            (["variable", "volume", "set", "3", "4"], "Give one value"),
            (["export", "-"], "Name a file: keys are not written to standard output."),
            (["export", "a", "--clear", "--passphrase-file", "b"], "--clear and --passphrase-file"),
            (["button"], "Missing expected argument '<name>'"),
            (["button", "kitchen", "fly"], "Unexpected argument 'fly'"),
        ])
    func usage(arguments: [String], sentence: String) {
        let error = #expect(throws: (any Error).self) { _ = try Tryck.parseAsRoot(arguments) }
        guard let error else { return }
        #expect(Tryck.exitCode(for: error).rawValue == 64)
        #expect(Tryck.fullMessage(for: error).contains(sentence))
    }

    @Test("a variable takes a negative number, and options keep their meaning", arguments: ["-3", "-0.5", "night"])
    func negative(value: String) throws {
        let command = try Tryck.parseAsRoot(["variable", "volume", "set", value, "--json"])
        let set = try #require(command as? VariableCommand.Set)
        #expect(set.values == [value] && set.output.json && set.variable.name == "volume")
    }

    @Test("the button to forget is named before what is done to it")
    func forget() throws {
        let command = try #require(try Tryck.parseAsRoot(["button", "kitchen", "forget"]) as? ButtonCommand.Forget)
        #expect(command.button.name == "kitchen")
        #expect(
            ButtonCommand.Forget.sentence(["id": "80e4da000001", "button": "kitchen"])
                == "kitchen is forgotten. To use it again: tryck pair")
    }

    @Test("a button that the rules name keeps this name here, and the answer says who uses the new one")
    func rename() {
        #expect(
            ButtonCommand.Rename.sentence(["from": "hall", "to": "porch", "rule_name": .null]) == "hall is now porch.")
        #expect(
            ButtonCommand.Rename.sentence(["from": "kitchen", "to": "by the stove", "rule_name": "kitchen"])
                == #"Home Assistant and messages call it "by the stove" now. Here it stays kitchen, its name in the rules."#
        )
    }

    @Test("a latency mode that does not exist is refused with those that do")
    func latencyMode() {
        let error = #expect(throws: (any Error).self) {
            _ = try Tryck.parseAsRoot(["button", "kitchen", "set", "--latency-mode", "lo"])
        }
        if let error { #expect(Tryck.fullMessage(for: error).contains("--latency-mode takes low, normal or high.")) }
    }

    @Test("run hands its options to the daemon")
    func run() throws {
        let arguments = ["--config", "a.yaml", "--log-level", "debug", "--record", "session.jsonl"]
        #expect(try RunCommand.parse(arguments).arguments == arguments)
    }
}
