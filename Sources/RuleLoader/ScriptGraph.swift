import Rules

/// Which scripts call which, and which rules call them.
struct ScriptGraph {
    /// By place in `RuleSet.scripts`: what its steps call, each once, in order.
    private(set) var calls: [[Int]] = []
    /// By place in `RuleSet.rules`.
    private(set) var calledByRules: [[Int]] = []
    /// Each script after those it calls.
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
    /// The steps inside of this one, by list: of each only one is run, but for the body of a `repeat`.
    var inner: [[Step]] {
        switch action {
        case .cycle(let entries, _): entries
        case .repeat(let step): [step.steps]
        case .choose(let branches, let otherwise, _): branches.map(\.steps) + [otherwise]
        case .publish, .process, .http, .delay, .wait, .set, .script, .enable, .log, .stop: []
        }
    }

    /// This one, and all inside of it.
    func forEach(_ body: (Step) -> Void) {
        body(self)
        for steps in inner { for step in steps { step.forEach(body) } }
    }
}
