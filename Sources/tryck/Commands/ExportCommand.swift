import ArgumentParser
import CommandSupport
import Edges
import Hub
import Platform

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Save the pairings, for a box that has to be replaced.",
        discussion: """
            Writes all buttons with their keys, names and settings into a file that only its owner can read, encrypted \
            with a passphrase. Another box that imports it knows them without pairing; do not let both run. Rules and \
            configuration are files already: copy those too. The daemon must not run meanwhile, and its state is only for \
            root and its own user to read. The exit status is 1 when no button is paired, 69 while a daemon runs.

              systemctl stop tryck
              tryck export buttons.tryck
              systemctl start tryck
            """)

    @Argument(help: "The file to write.", completion: .file())
    var file: String

    @OptionGroup var passphrase: PassphraseOptions

    @Flag(help: "Do not encrypt it. Whoever reads the file has the keys of the buttons.")
    var clear = false

    @Flag(help: "Replace the file when it is there already.")
    var force = false

    @OptionGroup var places: PlaceOptions

    func validate() throws {
        guard file != "-" else { throw ValidationError("Keys go into a file: name one.") }
        guard !clear || passphrase.passphraseFile == nil else {
            throw ValidationError("What is written with --clear has no passphrase: say one of the two.")
        }
    }

    func run() throws {
        let directory = try places.idleStateDirectory()
        let target = try NewFile(file, isReplacing: force)
        let stored = try PlaceOptions.use { () throws(StoreFailure) in try IdleStore.load(directory) }
        guard !stored.buttons.isEmpty else {
            throw Failure(
                .negativeResult, "No button is paired, so there is nothing to export. Pair one with: tryck pair")
        }
        try target.write(octets(of: ExportedState(stored)))
        if clear { ExportFile.warn(of: file) }
        Output.standardOutput.write(
            line: Quantity.count(Int64(stored.buttons.count), "button") + " in \(file)"
                + (clear ? "." : ", encrypted. Without the passphrase it is of no use."))
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
