import ArgumentParser
import CommandSupport
import Edges
import Hub
import JSON
import Platform

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Restore pairings from a file.",
        discussion: """
            Reads a file of tryck export; the buttons then work on this machine without pairing. A button that is \
            known already is not changed, unless you use --replace. If no button was known, Home Assistant finds its \
            previous devices. Stop the daemon first, and never start the daemon of the other machine again. The exit \
            status is 1 if the passphrase is wrong or the file is damaged, in which case nothing is changed, and 69 if \
            a daemon is running.

              systemctl stop tryck
              tryck import buttons.tryck
              systemctl start tryck
            """)

    @Argument(help: "The file of tryck export.", completion: .file())
    var file: String

    @OptionGroup var passphrase: PassphraseOptions

    @Flag(help: "Replace buttons that are known already.")
    var replace = false

    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let directory = try paths.idleStateDirectory()
        let exported = try exported()
        let entropy = SystemEnvironment.randomOctets(2).reduce(0 as UInt16) { $0 << 8 | UInt16($1) }
        let plan = try PathOptions.use { () throws(StoreFailure) in
            try OfflineStore.change(directory, runtimeDirectories: paths.runtimeDirectories, entropy: entropy) {
                stored in
                ImportPlan(exported, into: stored, isReplacing: replace)
            }
        }
        if output.json {
            Output.standardOutput.write(line: ImportText.json(plan).description)
        } else {
            Output.standardOutput.write(ImportText.lines(plan))
        }
    }

    private func exported() throws(Failure) -> ExportedState {
        let text: FileText
        do throws(FileText.Failure) {
            text = try FileText(reading: file)
        } catch {
            throw Failure(.configuration, "\(error). Name a file of tryck export.")
        }
        let export = try named { () throws(ExportFailure) in try ExportFile(decoding: text.octets) }
        guard !export.isClear || passphrase.passphraseFile == nil else {
            throw Failure(.usage, "\(file) is not encrypted. To import it, omit --passphrase-file.")
        }
        if export.isClear { ExportFile.warn(of: file) }
        let passphrase = export.isClear ? nil : try passphrase.read(isNew: false)
        return try named { () throws(ExportFailure) in try export.state(passphrase) }
    }

    private func named<Result>(_ body: () throws(ExportFailure) -> Result) throws(Failure) -> Result {
        do throws(ExportFailure) {
            return try body()
        } catch {
            throw Failure(.negativeResult, "\(file) \(error).")
        }
    }
}
