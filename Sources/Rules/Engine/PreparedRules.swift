import ButtonModel
import Expressions

/// A set, with everything that can be worked out from it alone.
///
/// It is made where there is time, beside the loop: an engine that is given one does not look at each of ten thousand
/// rules.
package struct PreparedRules: Hashable, Sendable {
    package let set: RuleSet
    let names: RuleEngine.Names
    let interests: Interests
    /// The buttons and rules whose ages some expression reads.
    let agedButtons, agedRules: [Int]
    /// Whether some expression asks what time it is, or where the sun stands: neither is worked out for nobody.
    let readsTime, readsSun: Bool

    package init(_ set: RuleSet) {
        self.set = set
        names = RuleEngine.Names(set)
        interests = Interests(set)
        var agedButtons: Set<Int> = []
        var agedRules: Set<Int> = []
        var (readsTime, readsSun) = (false, false)
        set.forEachRead { slot in
            switch slot {
            case .button(let index, .lastEventAge): agedButtons.insert(index)
            case .rule(let index, .lastRunAge): agedRules.insert(index)
            case .now: readsTime = true
            case .sun: readsSun = true
            case .trigger, .state, .variable, .button, .rule, .result, .input, .error, .broker, .repeat: break
            }
        }
        self.readsTime = readsTime
        self.readsSun = readsSun
        self.agedButtons = agedButtons.filter(set.buttons.indices.contains).sorted()
        self.agedRules = agedRules.filter(set.rules.indices.contains).sorted()
    }

    /// All else follows from the set.
    package static func == (left: PreparedRules, right: PreparedRules) -> Bool { left.set == right.set }
    package func hash(into hasher: inout Hasher) { hasher.combine(set) }

    /// The ids of the rules, in their order.
    package var ruleIDs: [String] { names.ruleIDs }
    /// - Parameter place: where it probably is.
    package func has(rule: String, at place: Int) -> Bool {
        ruleIDs.indices.contains(place) && ruleIDs[place] == rule || names.rules[rule] != nil
    }
    package func has(variable: String) -> Bool { names.variables[variable] != nil }
}

extension RuleEngine.Input {
    package static func reloaded(_ set: RuleSet) -> RuleEngine.Input { .reloaded(PreparedRules(set)) }
}
