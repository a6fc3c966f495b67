/// A `wait_for` step: it waits for an event of a button, a time of day or a change of a state.
package struct WaitForStep: Hashable, Sendable {
    /// The longest time to wait.
    package static let maximumTimeout = Duration.seconds(86_400)

    /// Any of them ends the wait.
    package var triggers: [Trigger]
    package var timeout: Duration
    /// True if neither rules nor other runs see the press that ends the wait. Times and changes of states are seen by all.
    package var claims: Bool
    /// The steps after the event.
    package var then: [Step]
    /// The steps if the time is over before.
    package var otherwise: [Step]

    package init(
        _ triggers: [Trigger], timeout: Duration, claims: Bool = false, then: [Step] = [], otherwise: [Step] = []
    ) {
        self.triggers = triggers
        self.timeout = timeout
        self.claims = claims
        self.then = then
        self.otherwise = otherwise
    }
}

/// Finds the triggers of the `wait_for` steps in rules, including those in the scripts that a rule calls.
struct AwaitedTriggers {
    private let scripts: [Script]
    /// The triggers in each script, as far as they are known. A script that is being searched has none yet.
    private var ofScripts: [[Trigger]?]

    init(_ set: RuleSet) {
        scripts = set.scripts
        ofScripts = Array(repeating: nil, count: set.scripts.count)
    }

    mutating func triggers(of rule: Rule) -> [Trigger] {
        var found: [Trigger] = []
        search(rule.steps, &found)
        search(rule.onError, &found)
        return found
    }

    private mutating func search(_ steps: [Step], _ found: inout [Trigger]) {
        for step in steps {
            switch step.action {
            case .perform, .delay, .set, .enable, .cancel, .log, .stop: break
            case .waitFor(let wait):
                found += wait.triggers
                search(wait.then, &found)
                search(wait.otherwise, &found)
            case .script(let index, _): found += triggers(ofScript: index)
            case .wait, .cycle, .repeat, .choose: for steps in step.inner { search(steps, &found) }
            }
        }
    }

    private mutating func triggers(ofScript index: Int) -> [Trigger] {
        guard scripts.indices.contains(index) else { return [] }
        if let known = ofScripts[index] { return known }
        ofScripts[index] = []
        var found: [Trigger] = []
        search(scripts[index].steps, &found)
        ofScripts[index] = found
        return found
    }
}
