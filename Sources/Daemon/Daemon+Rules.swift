import Edges
import Hub
import Logging
import Platform
import Reactor
import Rules
import Setup
import Synchronization

// Reads and checks rule files on a helper thread, and gives the hub the result.
extension Daemon {
    func loadRules(_ id: JobID, withTests: Bool) {
        mqtt?.configurationRead()
        let rules = setup.rulesOnDisk
        let directory = setup.stateDirectory
        loop.offload {
            LoadOutcome(rules, withTests: withTests, keptIn: directory)
        } then: { [weak self] (loaded: LoadOutcome) in
            self?.rulesLoaded(id, loaded)
        }
    }

    private func rulesLoaded(_ id: JobID, _ loaded: LoadOutcome) {
        watchRuleFiles(loaded.watched)
        if !loaded.isKept {
            logger.warning("the rules could not be saved in \(setup.stateDirectory) as the last good rules")
        }
        deliver(.rulesLoaded(id, loaded.report))
    }

    /// Releases the rules on a helper thread, because freeing many of them takes long.
    func discard(_ rules: PreparedRules) {
        let box = Discarded(rules)
        loop.onNextTurn { [loop] in
            loop.offload {
                box.empty()
            } then: {
            }
        }
    }
}

/// Carries rules that are no longer used to the helper thread that frees them.
private final class Discarded: Sendable {
    private let rules: Mutex<PreparedRules?>

    init(_ rules: PreparedRules) { self.rules = Mutex(rules) }

    func empty() {
        let last = rules.withLock { $0.take() }
        _ = consume last
    }
}

/// The rules that a helper thread loaded: the report to the hub, and what the daemon needs of them.
private struct LoadOutcome: Sendable {
    var report: RuleLoadReport
    var watched: WatchedFiles
    /// True if the rules were stored as the last good ones, or did not have to be.
    var isKept: Bool

    init(_ rules: RulesOnDisk, withTests: Bool, keptIn stateDirectory: String) {
        watched = WatchedFiles(rules)
        isKept = true
        do throws(FileText.Failure) {
            let loaded = try rules.load(withTests: withTests)
            watched.add(loaded)
            report = loaded.report
            if let recorded = report.source {
                isKept = LastGoodRules(rules: recorded, secrets: loaded.secrets).write(in: stateDirectory)
            }
        } catch {
            // Without a file at the default path there are no rules; a file that was named has to be there.
            let isAllowed = !rules.isNamed && error == .notFound(rules.path)
            report =
                isAllowed
                ? RuleLoadReport(set: RuleSet())
                : RuleLoadReport(set: nil, problems: [error.problem], summary: "\(error)")
        }
    }
}
