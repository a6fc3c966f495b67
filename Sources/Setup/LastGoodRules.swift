import ButtonModel
import Glibc
package import Hub
import Platform
package import RuleLoader

/// The latest rule set without errors, kept in the state directory for starts at which the rule files have errors. The
/// secrets that it used are kept in a separate file. Only the daemon's user can read the files.
package struct LastGoodRules: Sendable {
    package var rules: RecordedRules
    package var secrets: SourceFile?
    /// When the set was kept; the current time for a set that is not written yet.
    var keptAt: UTCTime

    package init(rules: RecordedRules, secrets: SourceFile?) {
        self.rules = rules
        self.secrets = secrets
        keptAt = SystemEnvironment.wallClock
    }

    /// Reads the kept set; `nil` if there is none, or it cannot be read.
    package init?(in stateDirectory: String) {
        guard let file = try? FileText(reading: ConfigurationFiles.lastGoodRules(in: stateDirectory)),
            let rules = RecordedRules(fileContents: file.octets)
        else { return nil }
        self.rules = rules
        keptAt = file.modifiedAt
        let path = ConfigurationFiles.lastGoodSecrets(in: stateDirectory)
        secrets = (try? FileText(reading: path)).map { SourceFile(name: path, text: $0.octets) }
    }

    /// - Returns: whether both files were written.
    package func write(in stateDirectory: String) -> Bool {
        let path = ConfigurationFiles.lastGoodSecrets(in: stateDirectory)
        let areSecretsKept =
            if let secrets { FileText.write(secrets.text, to: path) } else { unlink(path) == 0 || errno == ENOENT }
        return areSecretsKept
            && FileText.write(rules.fileContents, to: ConfigurationFiles.lastGoodRules(in: stateDirectory))
    }
}
