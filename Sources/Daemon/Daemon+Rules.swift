import Hub
import Logging
import Reactor
import RuleLoader
import Rules
import Synchronization

// Rule files are read and checked beside the loop; the hub is given what came of it.
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
            logger.warning("the rules could not be kept in \(setup.stateDirectory) for a start with bad ones")
        }
        deliver(.rulesLoaded(id, loaded.result))
    }

    /// Lets go of it on a helper thread, once nobody here holds it any more.
    func discard(_ rules: PreparedRules) {
        let box = Discarded(rules)
        loop.soon { [loop] in
            loop.offload {
                box.empty()
            } then: {
            }
        }
    }
}

/// Rules that nobody needs, on their way to the thread that frees them.
private final class Discarded: Sendable {
    private let rules: Mutex<PreparedRules?>

    init(_ rules: PreparedRules) { self.rules = Mutex(rules) }

    func empty() {
        let last = rules.withLock { $0.take() }
        _ = consume last
    }
}

/// What a helper thread brings back.
private struct LoadedSet: Sendable {
    var result: RulesLoaded
    var watched: WatchedFiles
    /// For a day when those on disk are bad; there may be nothing to keep.
    var isKept: Bool

    init(_ source: RuleSource, withTests: Bool, keptIn stateDirectory: String) {
        watched = WatchedFiles(source)
        isKept = true
        do throws(FileText.Failure) {
            let reading = try source.read(withTests: withTests)
            watched.add(reading)
            result = reading.result
            if let rules = result.source {
                isKept = KeptRules(rules: rules, secrets: reading.secrets).write(in: stateDirectory)
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
