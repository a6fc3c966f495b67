package import Rules

/// Which rules, branches and steps no test came to.
package enum Coverage {
    package struct Gap: Hashable, Sendable {
        /// `rule hall_click`, `hall_click › actions[0].choose[1]`.
        package var text: String
        package var place: Place
    }

    static func unreached(in set: RuleSet, reached: Set<String>) -> [Gap] {
        var gaps: [Gap] = []
        for rule in set.rules {
            guard reached.contains(rule.place.description) else {
                gaps.append(Gap(text: "rule \(rule.id)", place: rule.place))
                continue
            }
            add(rule.steps + rule.onError, of: rule.id, &gaps, reached)
        }
        for script in set.scripts { add(script.steps, of: nil, &gaps, reached) }
        return gaps
    }

    /// What lies inside a step that was not reached is not told of.
    private static func add(_ steps: [Step], of rule: String?, _ gaps: inout [Gap], _ reached: Set<String>) {
        for step in steps where step.isEnabled {
            guard reached.contains(step.place.description) else {
                gaps.append(Gap(text: (rule.map { "\($0) › " } ?? "script ") + step.path, place: step.place))
                continue
            }
            switch step.action {
            case .cycle(let entries, _): for entry in entries { add(entry, of: rule, &gaps, reached) }
            case .repeat(let loop): add(loop.steps, of: rule, &gaps, reached)
            case .choose(let branches, let otherwise, _):
                for branch in branches { add(branch.steps, of: rule, &gaps, reached) }
                add(otherwise, of: rule, &gaps, reached)
            case .publish, .process, .http, .delay, .wait, .set, .script, .enable, .log, .stop: break
            }
        }
    }
}
