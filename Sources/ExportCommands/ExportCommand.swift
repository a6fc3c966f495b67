import ArgumentParser
import CommandSupport
import CommandText
import Edges
import Hub
import JSON
import Platform

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Save the pairings to a file.",
        discussion: """
            Writes all buttons with their keys, names and settings to a file that only its owner can read, encrypted \
            with a passphrase. Another machine can import the file and use the buttons without pairing; never run both \
            machines. Also copy the rules and the configuration, which are not in the file. Stop the daemon first, and \
            run the command as root or as the user of the daemon. The exit status is 1 if no button is paired, and 69 \
            if a daemon is running.

              systemctl stop tryck
              tryck export buttons.tryck
              systemctl start tryck
            """)

    @Argument(help: "The file to write.", completion: .file())
    var file: String

    @OptionGroup var passphrase: PassphraseOptions

    @Flag(help: "Do not encrypt the file. It contains the keys of the buttons.")
    var clear = false

    @Flag(help: "Overwrite an existing file.")
    var force = false

    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard file != "-" else { throw ValidationError("Name a file: keys are not written to standard output.") }
        guard !clear || passphrase.passphraseFile == nil else {
            throw ValidationError("--clear and --passphrase-file cannot be used together.")
        }
    }

    func run() throws {
        let directory = try paths.idleStateDirectory()
        let target = try NewFile(file, isReplacing: force)
        let stored = try PathOptions.use { () throws(StoreFailure) in
            try OfflineStore.load(directory, runtimeDirectories: paths.runtimeDirectories)
        }
        // Buttons of another flicd are paired with that flicd, so they are not exported.
        let exported = ExportedState(stored)
        guard !exported.buttons.isEmpty else {
            throw Failure(
                .negativeResult, "No button is paired, so there is nothing to export. Pair one with: tryck pair")
        }
        try target.write(octets(of: exported))
        if clear { ExportFile.warn(of: file) }
        let count = Int64(exported.buttons.count)
        output.write(["file": .string(file), "buttons": .integer(count), "encrypted": .bool(!clear)]) { _ in
            [
                Line(
                    Quantity.count(count, "button") + " in \(file)"
                        + (clear ? "." : ", encrypted. It cannot be read without the passphrase."))
            ]
        }
    }

    /// The octets of the file, after they were decoded once to prove that they can be.
    private func octets(of state: ExportedState) throws(Failure) -> [UInt8] {
        let passphrase = clear ? nil : try passphrase.read(isNew: true)
        let octets: [UInt8]
        let readAgain: ExportedState
        do throws(ExportFailure) {
            octets = try ExportFile.octets(of: state, passphrase)
            readAgain = try ExportFile(decoding: octets).state(passphrase)
        } catch {
            throw Failure(.negativeResult, "\(file) \(error).")
        }
        guard readAgain == state else {
            throw Failure(.internalError, "The export cannot be read back, so nothing was written. Please report this.")
        }
        return octets
    }
}
