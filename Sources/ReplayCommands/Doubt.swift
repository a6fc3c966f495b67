import Rules

/// Which rules of a replay depend on the results of programs and web requests that are unknown.
///
/// A run depends on such a result once its program or request has ended. A variable that it sets afterwards does as well, and so
/// does each run that reads the variable, until a run that depends on nothing unknown sets it. A `cycle` step whose turn came
/// in such a run goes on from an unknown place, so all later runs of its rule depend on the result.
struct Doubt: Sendable {
    private struct Use {
        var variables: Set<String>
        var hasCycle: Bool
    }

    /// What each rule reads, by its id.
    private var uses: [String: Use] = [:]
    private var variables: Set<String> = []
    private var cycles: Set<String> = []

    /// The rules that are loaded from now on.
    mutating func load(_ set: RuleSet) {
        uses = [:]
        for rule in set.rules {
            uses[rule.id] = Use(variables: set.variables(readBy: rule), hasCycle: set.hasCycle(rule))
        }
    }

    /// The variables and cycles have known values again.
    mutating func clear() { (variables, cycles) = ([], []) }

    /// True if what a rule does now depends on an unknown result of an earlier run.
    func concerns(_ rule: String) -> Bool {
        guard !variables.isEmpty || !cycles.isEmpty else { return false }
        return cycles.contains(rule) || uses[rule].map { !$0.variables.isDisjoint(with: variables) } ?? false
    }

    /// - Parameter isUncertain: true if the run that has set the variable depends on an unknown result.
    mutating func set(_ variable: String, isUncertain: Bool) {
        if isUncertain { variables.insert(variable) } else { variables.remove(variable) }
    }

    /// A run that depends on an unknown result has ended.
    mutating func ended(_ rule: String) { if uses[rule]?.hasCycle == true { cycles.insert(rule) } }
}
