import ArgumentParser

/// A word of a command line that stands where a subcommand is expected, and is none.
///
/// The argument parser would report the word as an unexpected argument. It would even report an option behind the word
/// instead, because the command before the word does not have that option.
struct UnknownCommand: Hashable, Sendable {
    /// The whole command, as it was written: `tryck rule lamp trade`.
    var written: String
    var word: String
    /// The names of the commands that may stand in place of the word.
    var names: [String]
    /// The command before the word, without its arguments: `tryck rule`.
    var parent: String

    /// Looks for such a word.
    ///
    /// A command with subcommands takes one argument before them, as in `tryck rule ID run`; the root takes none. Only the
    /// words before the first option are looked at, because a word behind an option may be the option's value.
    ///
    /// - Parameters:
    ///   - arguments: those of the process, without its name.
    ///   - root: the command that was started.
    static func find(in arguments: [String], of root: any ParsableCommand.Type) -> UnknownCommand? {
        if arguments.first == "help" { return find(behindHelp: arguments.dropFirst(), of: root) }
        var words = arguments.prefix { !$0.hasPrefix("-") }
        var subcommands = root.configuration.subcommands
        var parent = root.configuration.commandName ?? "tryck"
        var written = parent
        while let word = words.popFirst(), !subcommands.isEmpty, word != "help" {
            written += " \(word)"
            guard let next = subcommands.first(where: { $0.configuration.commandName == word }) else {
                let names = subcommands.compactMap { $0.configuration.commandName }
                return UnknownCommand(written: written, word: word, names: names, parent: parent)
            }
            subcommands = next.configuration.subcommands
            parent += " \(word)"
            if !subcommands.isEmpty, let argument = words.popFirst() { written += " \(argument)" }
        }
        return nil
    }

    /// Looks for such a word behind `help`, where the names of commands follow each other without arguments. The argument parser
    /// would show the help of the command before the word, as if nothing were wrong.
    private static func find(
        behindHelp arguments: ArraySlice<String>, of root: any ParsableCommand.Type
    ) -> UnknownCommand? {
        var subcommands = root.configuration.subcommands
        var parent = root.configuration.commandName ?? "tryck"
        for word in arguments.prefix(while: { !$0.hasPrefix("-") }) where word != "help" {
            guard let next = subcommands.first(where: { $0.configuration.commandName == word }) else {
                let names = subcommands.compactMap { $0.configuration.commandName }
                return UnknownCommand(written: "\(parent) \(word)", word: word, names: names, parent: parent)
            }
            subcommands = next.configuration.subcommands
            parent += " \(word)"
        }
        return nil
    }

    /// Sentences for users that say what is wrong, and what to do next.
    var sentences: String {
        "There is no command \"\(written)\"." + DidYouMean.sentence(word, among: names) + " See \(parent) --help."
    }
}
