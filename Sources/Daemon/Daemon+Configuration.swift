import Hub
import Logging
import Reactor
import RuleLoader
import Rules

// `tryck.yaml` read again. Of it `log` takes effect at once; the rest was settled at the start, and waits for the next.
extension Daemon {
    /// Then the rules, so that what is said of them is said as the configuration wants it.
    func reloadConfiguration() {
        configurationReads += 1
        let (read, files, path) = (configurationReads, setup.ruleSource.files, setup.configurationPath)
        loop.offload { () -> Result<ConfigurationFiles.Found, Setup.Failure> in
            do throws(Setup.Failure) {
                return .success(try files.configuration(at: path))
            } catch {
                return .failure(error)
            }
        } then: { [weak self] result in
            // Of two that run at once the last to begin is the one to believe.
            guard let self, read == configurationReads else { return }
            switch result {
            case .success(let found): take(found)
            case .failure(let failure):
                logger.error("the configuration has errors, and nothing of it is taken over: \(failure.text)")
            }
            deliver(.reloadRules)
        }
    }

    private func take(_ found: ConfigurationFiles.Found) {
        for notice in found.notices { logger.warning("\(notice)") }
        let configuration = found.configuration
        let changed = configuration.keys(changedSince: setup.configuration)
        setup.configuration.logLevel = configuration.logLevel
        setup.configuration.logFormat = configuration.logFormat
        // What somebody asked for at run time stays until another level is written into the file.
        if changed.contains("log.level") {
            if setup.isLogLevelFixed {
                logger.warning("log.level changed, and --log-level has the last word")
            } else {
                deliver(.logLevel(LogLevel(configuration.logLevel)))
            }
        }
        if changed.contains("log.format") {
            output.format = LogFormat(configuration.logFormat, environment: setup.ruleSource.files.environment)
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

extension LogLevel {
    init(_ level: Configuration.LogLevel) {
        self =
            switch level {
            case .debug: .debug
            case .info: .info
            case .warning: .warning
            case .error: .error
            }
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
