import Edges
import Hub
import Logging
import Reactor
import Rules
import Settings
import Setup

// Reloading `tryck.yaml`. Only `log` takes effect at once; all other keys require a restart.
extension Daemon {
    /// Reloads the configuration, and then the rules, so that messages about the rules have the new log level and
    /// format.
    func reloadConfiguration() {
        configurationReads += 1
        let (read, files, path) = (configurationReads, setup.rulesOnDisk.files, setup.configurationPath)
        loop.offload { () -> Result<ConfigurationFiles.LoadedConfiguration, Setup.Failure> in
            do throws(Setup.Failure) {
                return .success(try files.configuration(at: path))
            } catch {
                return .failure(error)
            }
        } then: { [weak self] result in
            // If several reads run at once, only the latest is used.
            guard let self, read == configurationReads else { return }
            switch result {
            case .success(let found): take(found)
            case .failure(let failure):
                logger.error("the configuration has errors and is not applied: \(failure.text)")
            }
            deliver(.reloadRules)
        }
    }

    private func take(_ found: ConfigurationFiles.LoadedConfiguration) {
        for notice in found.notices { logger.warning("\(notice)") }
        let configuration = found.configuration
        let changed = configuration.keys(changedSince: setup.configuration)
        setup.configuration.logLevel = configuration.logLevel
        setup.configuration.logFormat = configuration.logFormat
        // A level that was set at run time stays in effect until `log.level` changes in the file.
        if changed.contains("log.level") {
            if setup.isLogLevelFromCommandLine {
                logger.warning("log.level changed, but --log-level has priority")
            } else {
                deliver(.logLevel(configuration.logLevel))
            }
        }
        if changed.contains("log.format") {
            output.format = LogFormat(configuration.logFormat, environment: setup.rulesOnDisk.files.environment)
        }
        let waiting = changed.filter { !$0.hasPrefix("log.") }
        guard !waiting.isEmpty else { return }
        logger.warning(
            """
            \(found.path ?? "the configuration"): \(waiting.joined(separator: ", ")) changed; \
            restart tryckd to use \(waiting.count == 1 ? "it" : "them")
            """)
    }
}

extension LogFormat {
    init(_ format: Configuration.LogFormat, environment: [String: String]) {
        self =
            switch format {
            case .json: .json
            case .text: LogOutput.isJournal(stream: environment["JOURNAL_STREAM"]) ? .journal : .text
            }
    }
}
