import ButtonModel
import Expressions

/// A rule set with all data that is derived from it alone.
///
/// It is created outside the event loop, so that the engine need not examine thousands of rules during a reload.
package struct PreparedRules: Hashable, Sendable {
    package let set: RuleSet
    let names: RuleEngine.Names
    let triggerTable: TriggerTable
    let timeTriggers: [TimedRule]
    let stateUses: [Int: [StateUse]]
    /// The states for which `wait_for` steps wait.
    let awaitedStates: Set<Int>
    /// The buttons and rules whose ages are read by expressions.
    let agedButtons, agedRules: [Int]
    /// The facts of the rules before any run.
    let ruleFacts: [RuleFacts]
    /// True if expressions read the time or the position of the sun. Otherwise these are not computed.
    let readsTime, readsSun: Bool

    package init(_ set: RuleSet) {
        self.set = set
        names = RuleEngine.Names(set)
        triggerTable = TriggerTable(set)
        timeTriggers = TimedRule.all(in: set)
        stateUses = StateUse.all(in: set, names)
        awaitedStates = StateUse.awaited(in: set, names)
        var agedButtons: Set<Int> = []
        var agedRules: Set<Int> = []
        var (readsTime, readsSun) = (false, false)
        set.forEachRead { slot in
            switch slot {
            case .button(let index, .lastEventAge): agedButtons.insert(index)
            case .rule(let index, .lastRunAge): agedRules.insert(index)
            case .now: readsTime = true
            case .sun: readsSun = true
            case .trigger, .state, .variable, .button, .rule, .result, .input, .error, .broker, .repeat, .change: break
            }
        }
        ruleFacts = set.rules.map { rule in
            var facts = RuleFacts()
            facts.isEnabled = rule.isEnabled
            return facts
        }
        self.readsTime = readsTime
        self.readsSun = readsSun
        self.agedButtons = agedButtons.filter(set.buttons.indices.contains).sorted()
        self.agedRules = agedRules.filter(set.rules.indices.contains).sorted()
    }

    /// Compares only the sets, because all other properties are derived from them.
    package static func == (left: PreparedRules, right: PreparedRules) -> Bool { left.set == right.set }
    package func hash(into hasher: inout Hasher) { hasher.combine(set) }

    /// The ids of the rules in document order.
    package var ruleIDs: [String] { names.ruleIDs }
    /// True if there is a rule with this id.
    ///
    /// - Parameter index: the index at which the rule is searched first.
    package func has(rule: String, at index: Int) -> Bool {
        ruleIDs.indices.contains(index) && ruleIDs[index] == rule || names.rules[rule] != nil
    }
    package func has(variable: String) -> Bool { names.variables[variable] != nil }
}

extension RuleEngine.Input {
    package static func reloaded(_ set: RuleSet) -> RuleEngine.Input { .reloaded(PreparedRules(set)) }
}
