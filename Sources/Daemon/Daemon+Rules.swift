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
            do throws(FileText.Failure) {
                return try source.read(withTests: withTests).result
            } catch {
                // Without a file at the usual place there are no rules; a file that was named has to be there.
                guard source.isNamed || error != .notFound(source.path) else { return RulesLoaded(set: RuleSet()) }
                return RulesLoaded(set: nil, summary: "\(error)")
            }
        } then: { [weak self] (loaded: RulesLoaded) in
            self?.rulesLoaded(id, loaded)
        }
    }

    private func rulesLoaded(_ id: UInt64, _ loaded: RulesLoaded) {
        if loaded.set != nil, let source = loaded.source, !keep(source, in: setup.stateDirectory) {
            logger.warning("the rules could not be kept in \(setup.stateDirectory) for a start with bad ones")
        }
        deliver(.rulesLoaded(id, loaded))
    }
}

/// Keeps a set without errors for a start with bad ones. False when that did not work.
func keep(_ rules: RecordedRules, in stateDirectory: String) -> Bool {
    FileText.write(rules.kept, to: ConfigurationFiles.lastGoodRules(in: stateDirectory))
}
