import Edges
import Hub
import Logging
import Platform
import Reactor
import RuleLoader
import Rules
import Setup
import Synchronization

// Reads and checks rule files on a helper thread, and gives the hub the result.
extension Daemon {
    func loadRules(_ id: JobID, withTests: Bool) {
        mqtt?.configurationRead()
        let source = setup.ruleSource
        let directory = setup.stateDirectory
        loop.offload {
            LoadedSet(source, withTests: withTests, keptIn: directory)
        } then: { [weak self] (loaded: LoadedSet) in
            self?.rulesLoaded(id, loaded)
        }
    }

    private func rulesLoaded(_ id: JobID, _ loaded: LoadedSet) {
        watchRuleFiles(loaded.watched)
        if !loaded.isKept {
            logger.warning("the rules could not be saved in \(setup.stateDirectory) as the last good rules")
        }
        deliver(.rulesLoaded(id, loaded.result))
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

/// The result of reading the rules on a helper thread.
private struct LoadedSet: Sendable {
    var result: RulesLoaded
    var watched: WatchedFiles
    /// True if the rules were stored as the last good ones, or did not have to be.
    var isKept: Bool

    init(_ source: RuleSource, withTests: Bool, keptIn stateDirectory: String) {
        watched = WatchedFiles(source)
        isKept = true
        do throws(FileText.Failure) {
            let reading = try source.read(withTests: withTests)
            watched.add(reading)
            result = reading.result
            if let rules = result.source {
                isKept = LastGoodRules(rules: rules, secrets: reading.secrets).write(in: stateDirectory)
            }
        } catch {
            // Without a file at the usual place there are no rules; a file that was named has to be there.
            let isAllowed = !source.isNamed && error == .notFound(source.path)
            result =
                isAllowed
                ? RulesLoaded(set: RuleSet()) : RulesLoaded(set: nil, problems: [error.problem], summary: "\(error)")
        }
    }
}
