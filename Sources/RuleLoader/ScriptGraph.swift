import Rules

/// Which scripts each script and each rule calls.
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
        order = Dependencies(calls).order
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

extension Step {
    /// The lists of steps inside this step. One of them is run; the list of a `repeat` is run several times.
    var inner: [[Step]] {
        switch action {
        case .cycle(let entries, _): entries
        case .repeat(let step): [step.steps]
        case .choose(let branches, let otherwise, _): branches.map(\.steps) + [otherwise]
        case .publish, .process, .http, .delay, .wait, .set, .script, .enable, .log, .stop: []
        }
    }

    /// Calls `body` with this step and all steps inside it.
    func forEach(_ body: (Step) -> Void) {
        body(self)
        for steps in inner { for step in steps { step.forEach(body) } }
    }
}
