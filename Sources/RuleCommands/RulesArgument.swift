import ArgumentParser

/// Where rules are read from.
package enum RuleSource: Hashable, Sendable {
    case file(String)
    /// Rules from standard input, with their name in messages. An `include` is relative to the directory of that name.
    case standardInput(name: String)
}

/// The rules that a command reads without a daemon.
struct RulesArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            """
            Rules files, or a tryck.yaml, which is checked with its rules. A - is standard input. The default is the \
            tryck.yaml that a daemon would use.
            """, valueName: "path"))
    var paths: [String] = []

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "The path of standard input in messages, from whose directory files are included.", valueName: "path"))
    var name: String?

    /// The sources to read, in the order of the arguments; `nil` stands for the default.
    var sources: [RuleSource?] {
        paths.isEmpty ? [nil] : paths.map { $0 == "-" ? .standardInput(name: name ?? "-") : .file($0) }
    }

    func validate() throws {
        let count = paths.count { $0 == "-" }
        guard count < 2 else { throw ValidationError("Standard input can be read only once.") }
        guard name == nil || count == 1 else {
            throw ValidationError("--as is the path of standard input; the path of the rules has to be -.")
        }
    }
}
