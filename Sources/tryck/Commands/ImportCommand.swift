import ArgumentParser
import CommandSupport
import Edges
import Hub
import JSON
import Platform

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Take over the pairings of another box.",
        discussion: """
            Reads what tryck export wrote; the buttons then work here without pairing. A button that is known here \
            already stays as it is, unless you say --replace. Where no button was known, Home Assistant finds the \
            devices it had. The daemon must not run meanwhile, and that of the other box not any more. The exit status is 1 when \
            the passphrase is wrong or the file damaged, and nothing was changed; 69 while a daemon runs.

              systemctl stop tryck
              tryck import buttons.tryck
              systemctl start tryck
            """)

    @Argument(help: "What tryck export wrote.", completion: .file())
    var file: String

    @OptionGroup var passphrase: PassphraseOptions

    @Flag(help: "Have buttons that are known here already as they are in the file.")
    var replace = false

    @OptionGroup var places: PlaceOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let directory = try places.idleStateDirectory()
        let exported = try exported()
        let entropy = SystemEnvironment.randomOctets(2).reduce(0 as UInt16) { $0 << 8 | UInt16($1) }
        let plan = try PlaceOptions.use { () throws(StoreFailure) in
            try IdleStore.change(directory, entropy: entropy) { stored in
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
            throw Failure(.usage, "\(error). Name what tryck export wrote.")
        }
        let export = try named { () throws(ExportFailure) in try ExportFile(decoding: text.octets) }
        guard !export.isClear || passphrase.passphraseFile == nil else {
            throw Failure(.usage, "\(file) is not encrypted. To import it nevertheless, leave --passphrase-file away.")
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
