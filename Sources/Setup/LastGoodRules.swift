import ButtonModel
import Glibc
package import Hub
import Platform
package import YAMLFiles

/// The latest rule set without errors, kept in the state directory for starts at which the rule files have errors. The
/// secrets that it used are kept in a separate file. Only the daemon's user can read the files.
package struct LastGoodRules: Sendable {
    package var rules: RecordedRules
    package var secrets: SourceFile?
    /// When the set was first kept; the current time for a set that is not written yet.
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

    /// - Returns: whether both files have the rules and secrets. A file that has them already is not synced again.
    package func write(in stateDirectory: String) -> Bool {
        let path = ConfigurationFiles.lastGoodSecrets(in: stateDirectory)
        let areSecretsKept =
            if let secrets { Self.keep(secrets.text, in: path) } else { unlink(path) == 0 || errno == ENOENT }
        return areSecretsKept
            && Self.keep(rules.fileContents, in: ConfigurationFiles.lastGoodRules(in: stateDirectory))
    }

    /// Writes a file if it has other contents. Each write waits for the disk twice, and most starts are with the same rules.
    private static func keep(_ octets: [UInt8], in path: String) -> Bool {
        if let file = try? FileText(reading: path), file.octets == octets, !file.isReadableByOthers { return true }
        return FileText.write(octets, to: path)
    }
}
