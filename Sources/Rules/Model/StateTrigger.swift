package import Expressions

/// A `state` trigger: it fires when the value of a state changes between two known values.
package struct StateTrigger: Hashable, Sendable {
    /// The longest `for`.
    package static let longestDuration = Duration.seconds(7 * 24 * 3600)
    /// The value of `trigger.event`.
    package static let eventName = "state"

    /// Names of declared states.
    package var states: [String]
    /// The values before and after the change that fit, of the states' type. If there are neither values nor expressions,
    /// any value fits.
    package var from, to: [Value]
    /// Conditions that read the values before and after the change as `old` and `new`. A change fits if one of them is true,
    /// or if one of the values of `from` and `to` fits.
    package var fromExpressions: [Expression] = []
    package var toExpressions: [Expression] = []
    /// How long the new value must last before it fires.
    package var duration: Duration

    package init(_ states: [String], from: [Value] = [], to: [Value] = [], for duration: Duration = .zero) {
        self.states = states
        self.from = from
        self.to = to
        self.duration = duration
    }

    /// True if any value after the change fits.
    var takesAny: Bool { to.isEmpty && toExpressions.isEmpty }
    var hasExpressions: Bool { !fromExpressions.isEmpty || !toExpressions.isEmpty }

    /// True if the value before the change fits.
    ///
    /// - Parameter context: its `old` and `new` are the values of the change.
    func comes(from old: Value, in context: EvaluationContext) -> Bool {
        from.isEmpty && fromExpressions.isEmpty || from.contains(old)
            || fromExpressions.contains { $0.holds(in: context) }
    }

    /// True if the value after the change fits.
    ///
    /// - Parameter context: its `old` and `new` are the values of the change.
    func goes(to new: Value, in context: EvaluationContext) -> Bool {
        takesAny || to.contains(new) || toExpressions.contains { $0.holds(in: context) }
    }

    /// True if a count that began with `first` goes on while the state has this value.
    ///
    /// - Parameter context: its `new` is this value.
    func goesOn(_ value: Value, since first: Value, in context: EvaluationContext) -> Bool {
        takesAny ? value == first : goes(to: value, in: context)
    }
}

extension Expression {
    /// An expression that cannot be evaluated, because it reads an unknown value, does not hold.
    fileprivate func holds(in context: EvaluationContext) -> Bool { (try? isTrue(in: context)) ?? false }
}

/// The use of a state by a `state` trigger, found once for each set.
struct StateUse: Hashable, Sendable {
    var match: RuleIndex.Match
    var trigger: StateTrigger

    /// The indices of the states for which `wait_for` steps wait.
    static func awaited(in set: RuleSet, _ names: RuleEngine.Names) -> Set<Int> {
        var found: Set<Int> = []
        func search(_ steps: [Step]) {
            for step in steps {
                if case .waitFor(let wait) = step.action {
                    for case .states(let use) in wait.triggers.map(\.origin) {
                        found.formUnion(use.states.compactMap { names.states[$0] })
                    }
                }
                for steps in step.inner { search(steps) }
            }
        }
        for rule in set.rules {
            search(rule.steps)
            search(rule.onError)
        }
        for script in set.scripts { search(script.steps) }
        return found
    }

    /// The uses of each state, by its index in `RuleSet.states`, in the order of the file.
    static func all(in set: RuleSet, _ names: RuleEngine.Names) -> [Int: [StateUse]] {
        var found: [Int: [StateUse]] = [:]
        for (rule, declared) in set.rules.enumerated() {
            for (index, trigger) in declared.triggers.enumerated() {
                guard case .states(let use) = trigger.origin else { continue }
                for name in use.states {
                    guard let state = names.states[name] else { continue }
                    found[state, default: []].append(
                        StateUse(match: RuleIndex.Match(rule: rule, trigger: index), trigger: use))
                }
            }
        }
        return found
    }
}
