import ArgumentParser
import CommandSupport

/// The option for a file with the passphrase. The passphrase itself is never an argument, because all users of the
/// machine can see those.
struct PassphraseOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file with the passphrase in its first line, readable only by you. By default, the command asks for the passphrase.",
            valueName: "file"),
        completion: .file())
    var passphraseFile: String?

    /// - Parameter isNew: whether an export is to be encrypted with it.
    func read(isNew: Bool) throws(Failure) -> Passphrase {
        guard let passphraseFile else { return try PassphrasePrompt().ask(isNew: isNew) }
        return try Passphrase(file: passphraseFile, isNew: isNew)
    }
}
