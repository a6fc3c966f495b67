package import Expressions

/// A `state` trigger: it fires when the value of a state changes between two known values.
package struct StateTrigger: Hashable, Sendable {
    /// The longest `for`.
    package static let longestDuration = Duration.seconds(7 * 24 * 3600)
    /// The value of `trigger.event`.
    package static let eventName = "state"

    /// Names of declared states.
    package var states: [String]
    /// The values before and after the change, of the states' type; if empty, any.
    package var from, to: [Value]
    /// How long the new value must last before it fires.
    package var duration: Duration

    package init(_ states: [String], from: [Value] = [], to: [Value] = [], for duration: Duration = .zero) {
        self.states = states
        self.from = from
        self.to = to
        self.duration = duration
    }

    /// True if a count that began with `first` goes on while the state has this value.
    func goesOn(_ value: Value, since first: Value) -> Bool { to.isEmpty ? value == first : to.contains(value) }
}

/// The use of a state by a `state` trigger, found once for each set.
struct StateUse: Hashable, Sendable {
    var match: RuleIndex.Match
    var trigger: StateTrigger

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
