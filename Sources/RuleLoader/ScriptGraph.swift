import Rules

/// The call graph of a set: which scripts each script and each rule calls.
struct ScriptGraph {
    /// By index in `RuleSet.scripts`: the scripts that this script calls, each once, in the order of its steps.
    private(set) var calls: [[Int]] = []
    /// By index in `RuleSet.rules`: the scripts that this rule calls.
    private(set) var calledByRules: [[Int]] = []
    /// Each script after the scripts it calls.
    private(set) var order: [Int] = []

    init(_ set: RuleSet) {
        calls = set.scripts.map { ScriptGraph.calls(of: [$0.steps]) }
        calledByRules = set.rules.map { ScriptGraph.calls(of: [$0.steps, $0.onError]) }
        order = DependencyOrder(calls).order
    }

    private static func calls(of lists: [[Step]]) -> [Int] {
        var calls: [Int] = []
        for steps in lists {
            for step in steps {
                step.forEach { step in
                    if case .script(let script, _) = step.action, !calls.contains(script) { calls.append(script) }
                }
            }
        }
        return calls
    }
}
