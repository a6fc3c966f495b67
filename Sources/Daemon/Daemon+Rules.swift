import Hub
import Logging
import Reactor
import RuleLoader
import Rules

// Rule files are read and checked beside the loop; the hub is given what came of it.
extension Daemon {
    func loadRules(_ id: UInt64, withTests: Bool) {
        let source = setup.ruleSource
        loop.offload {
            LoadedSet(source, withTests: withTests)
        } then: { [weak self] (loaded: LoadedSet) in
            self?.rulesLoaded(id, loaded)
        }
    }

    private func rulesLoaded(_ id: UInt64, _ loaded: LoadedSet) {
        watchRuleFiles(loaded.watched)
        if let source = loaded.result.source, !keep(source, in: setup.stateDirectory) {
            logger.warning("the rules could not be kept in \(setup.stateDirectory) for a start with bad ones")
        }
        deliver(.rulesLoaded(id, loaded.result))
    }
}

/// What a helper thread brings back.
private struct LoadedSet: Sendable {
    var result: RulesLoaded
    var watched: WatchedFiles

    init(_ source: RuleSource, withTests: Bool) {
        watched = WatchedFiles(source)
        do throws(FileText.Failure) {
            let reading = try source.read(withTests: withTests)
            watched.add(reading)
            result = reading.result
        } catch {
            // Without a file at the usual place there are no rules; a file that was named has to be there.
            let isAllowed = !source.isNamed && error == .notFound(source.path)
            result =
                isAllowed
                ? RulesLoaded(set: RuleSet()) : RulesLoaded(set: nil, problems: [error.problem], summary: "\(error)")
        }
    }
}

/// Keeps a set without errors for a start with bad ones. False when that did not work.
func keep(_ rules: RecordedRules, in stateDirectory: String) -> Bool {
    FileText.write(rules.kept, to: ConfigurationFiles.lastGoodRules(in: stateDirectory))
}
