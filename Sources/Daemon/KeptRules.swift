import ButtonModel
import Glibc
import Hub
import RuleLoader

/// A set without errors, kept in the state directory for a start with bad files: as it was written, and apart from it the
/// secrets it was read with. Both files are for the daemon's own user only.
struct KeptRules: Sendable {
    var rules: RecordedRules
    var secrets: SourceFile?
    /// Since when it is kept; now, for one that is not yet.
    var keptAt: UTCTime

    init(rules: RecordedRules, secrets: SourceFile?) {
        self.rules = rules
        self.secrets = secrets
        keptAt = Surroundings.wallClock
    }

    /// `nil` where nothing is kept that can be read.
    init?(in stateDirectory: String) {
        guard let file = try? FileText(reading: ConfigurationFiles.lastGoodRules(in: stateDirectory)),
            let rules = RecordedRules(kept: file.octets)
        else { return nil }
        self.rules = rules
        keptAt = file.modifiedAt
        let path = ConfigurationFiles.lastGoodSecrets(in: stateDirectory)
        secrets = (try? FileText(reading: path)).map { SourceFile(name: path, text: $0.octets) }
    }

    /// False when that did not work.
    func write(in stateDirectory: String) -> Bool {
        let path = ConfigurationFiles.lastGoodSecrets(in: stateDirectory)
        let areSecretsKept =
            if let secrets { FileText.write(secrets.text, to: path) } else { unlink(path) == 0 || errno == ENOENT }
        return areSecretsKept
            && FileText.write(rules.kept, to: ConfigurationFiles.lastGoodRules(in: stateDirectory))
    }
}
