import ArgumentParser

/// Where a passphrase comes from: never from an argument, which everybody on the machine can see.
struct PassphraseOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file with the passphrase as its first line, which nobody else can read. Otherwise it is asked for.",
            valueName: "file"),
        completion: .file())
    var passphraseFile: String?

    /// - Parameter isNew: nothing is encrypted with it yet.
    func read(isNew: Bool) throws(Failure) -> Passphrase {
        guard let passphraseFile else { return try PassphrasePrompt().ask(isNew: isNew) }
        return try Passphrase(file: passphraseFile, isNew: isNew)
    }
}
