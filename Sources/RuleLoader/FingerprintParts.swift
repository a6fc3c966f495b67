import Rules
import YAMLFiles

/// The parts of a set's fingerprint, collected while the set is read. Sets with equal fingerprints have the same
/// content.
///
/// Declarations are sorted by name, so their files and order do not matter. The order of rules and of tests does,
/// because they run in it.
struct FingerprintParts {
    var location = Fingerprint()
    var defaults = Fingerprint()
    var buttons: [(name: String, node: YAMLNode)] = []
    var groups: [(name: String, node: YAMLNode)] = []
    var states: [(name: String, node: YAMLNode)] = []
    var variables: [(name: String, node: YAMLNode)] = []
    /// The fingerprints of scripts and rules, by index in `RuleSet.scripts` and `RuleSet.rules`. They are not kept as nodes,
    /// so that the nodes of a rule can be freed as soon as the rule is read.
    var scripts: [Fingerprint] = []
    var rules: [Fingerprint] = []
    var tests = Fingerprint()
}

extension RuleSetReader {
    /// Sets the fingerprints of a set without errors and of its rules. The fingerprint of a rule includes all scripts
    /// that it calls, directly or indirectly.
    mutating func setFingerprints(_ graph: ScriptGraph) {
        var scripts = contents.scripts
        for script in graph.order {
            for called in graph.calls[script] { scripts[script].combine(scripts[called]) }
        }
        var all = Fingerprint()
        all.combine(contents.location)
        all.combine(contents.defaults)
        for named in [contents.buttons, contents.groups, contents.states, contents.variables] {
            all.combine(named)
        }
        let scriptOrder = ruleSet.scripts.indices.sorted { ruleSet.scripts[$0].name < ruleSet.scripts[$1].name }
        for script in scriptOrder {
            all.combine(ruleSet.scripts[script].name)
            all.combine(scripts[script])
        }
        for index in ruleSet.rules.indices {
            var fingerprint = contents.rules[index]
            for called in graph.calledByRules[index] { fingerprint.combine(scripts[called]) }
            ruleSet.rules[index].fingerprint = fingerprint.text
            all.combine(fingerprint)
        }
        all.combine(contents.tests)
        ruleSet.fingerprint = all.text
    }
}

extension Fingerprint {
    fileprivate mutating func combine(_ named: [(name: String, node: YAMLNode)]) {
        combine("\(named.count)")
        for (name, node) in named.sorted(by: { $0.name < $1.name }) {
            combine(name)
            combine(node)
        }
    }
}
