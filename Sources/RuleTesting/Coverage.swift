package import Rules

/// Test coverage: collects the rules, branches and steps that tests reach, and lists those that they do not reach.
package struct Coverage: Sendable {
    package struct Gap: Hashable, Sendable {
        /// The rule, branch or step that was not reached: `rule hall_click`, `hall_click › actions[0].choose[1]`,
        /// `script all_off.actions[0].publish`.
        package var text: String
        package var location: SourceLocation
    }

    private var rules: Set<String> = []
    /// The locations of the steps that were reached, as text, by rule, because rules may share a step.
    private var steps: [String: Set<String>] = [:]

    init() {}

    mutating func started(_ rule: String) { rules.insert(rule) }

    mutating func note(_ trace: RunTrace) {
        rules.insert(trace.rule)
        steps[trace.rule, default: []].formUnion(trace.lines.lazy.map(\.location.description))
        steps[trace.rule, default: []].formUnion(trace.omittedLocations)
    }

    mutating func note(_ other: Coverage) {
        rules.formUnion(other.rules)
        steps.merge(other.steps) { $0.union($1) }
    }

    func gaps(in set: RuleSet) -> [Gap] {
        var gaps: [Gap] = []
        for rule in set.rules {
            if rules.contains(rule.id) {
                add(rule.steps + rule.onError, "\(rule.id) › ", steps[rule.id] ?? [], &gaps)
            } else {
                gaps.append(Gap(text: "rule \(rule.id)", location: rule.location))
            }
        }
        let all = steps.values.reduce(into: Set<String>()) { $0.formUnion($1) }
        for script in set.scripts { add(script.steps, "script ", all, &gaps) }
        return gaps
    }

    /// Adds the gaps in a list of steps. The content of a step or branch that was not reached is omitted.
    private func add(_ list: [Step], _ owner: String, _ reached: Set<String>, _ gaps: inout [Gap]) {
        for step in list where step.isEnabled {
            guard reached.contains(step.location.description) else {
                gaps.append(Gap(text: owner + step.path, location: step.location))
                continue
            }
            func enter(_ steps: [Step], _ name: String, _ location: SourceLocation?) {
                guard let first = steps.first else { return }
                if reached.contains(first.location.description) {
                    add(steps, owner, reached, &gaps)
                } else {
                    gaps.append(Gap(text: "\(owner)\(step.path)\(name)", location: location ?? first.location))
                }
            }
            switch step.action {
            case .cycle(let entries, _):
                for (index, entry) in entries.enumerated() { enter(entry, "[\(index)]", nil) }
            case .repeat(let loop): enter(loop.steps, "", nil)
            case .choose(let branches, let otherwise, let isIf):
                for (index, branch) in branches.enumerated() {
                    enter(branch.steps, isIf ? ".then" : "[\(index)]", branch.location)
                }
                enter(otherwise, isIf ? ".else" : ".default", nil)
            case .wait(_, _, let otherwise): enter(otherwise ?? [], ".else", nil)
            case .waitFor(let wait):
                enter(wait.then, ".then", nil)
                enter(wait.otherwise, ".else", nil)
            case .perform, .delay, .set, .script, .enable, .cancel, .log, .stop: break
            }
        }
    }
}
