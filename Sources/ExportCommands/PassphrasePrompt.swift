import CommandSupport
import Glibc
import Platform

/// Asks for a passphrase on the terminal, without echo.
struct PassphrasePrompt: Sendable {
    /// The terminal on which it is typed.
    var input = STDIN_FILENO
    /// Where the question is printed, apart from the output of the command.
    var output = Output.standardError

    /// - Parameter isNew: whether to ask twice, because mistakes in typing cannot be seen.
    /// - Throws: `Failure`: 64 without a terminal, 1 when the two differ or Ctrl-C is typed.
    func ask(isNew: Bool) throws(Failure) -> Passphrase {
        // Both questions share a raw terminal, because it discards what was typed ahead when it ends.
        guard let terminal = RawTerminal.take(input) else {
            throw Failure(
                .usage,
                "There is no terminal to ask for the passphrase. Write it into a file that only you can read, and "
                    + "specify the file with --passphrase-file.")
        }
        defer { withExtendedLifetime(terminal) {} }
        let first = try line("Passphrase: ")
        if isNew, try line("Repeat it: ") != first {
            throw Failure(.negativeResult, "The passphrases differ. Nothing was written.")
        }
        return try Passphrase(first, isNew: isNew)
    }

    private func line(_ question: String) throws(Failure) -> [UInt8] {
        output.write(text: question)
        defer { output.write(text: "\n") }
        var line = PassphraseLine()
        var octet: UInt8 = 0
        while true {
            let count = read(input, &octet, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { throw .silent(.negativeResult) }
            switch line.take(octet) {
            case .more: continue
            case .entered(let octets): return octets
            case .cancelled: throw .silent(.negativeResult)
            }
        }
    }
}
