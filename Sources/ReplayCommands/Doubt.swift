import MQTTTopics
import Rules

/// Which rules of a replay depend on the results of programs and web requests that are unknown, or on values of states and
/// variables that a recording does not contain because they are secret.
///
/// A run depends on such a result once its program or request has ended. A variable that it sets afterwards does as well,
/// and so does each run that reads the variable, until a run that depends on nothing unknown sets it. No line says that a
/// variable was set to the value that it had, so when a run ends, the `set` steps of its rule behind the first program or
/// request count as well. A `cycle` step behind it goes on from an unknown place, so all later runs of the rule depend on
/// the result.
struct Doubt: Sendable {
    private struct Use {
        var read: Set<String>
        var readStates: Set<String>
        /// The variables that every completed run has set.
        var alwaysSet: Set<String>
        /// The changes that a run can make at any time, and those that it can make after its first program or web request.
        var changes, changesAfterJob: Changes
    }

    fileprivate struct Changes {
        /// The variables that are set.
        var variables: Set<String> = []
        /// True if a `cycle` step moves on.
        var hasCycle = false
    }

    /// The names that each rule reads and sets, by the id of the rule.
    private var uses: [String: Use] = [:]
    /// The variables whose values depend on an unknown result.
    private var variables: Set<String> = []
    /// The rules whose `cycle` steps are at an unknown place.
    private var cycles: Set<String> = []
    /// The states whose value has a placeholder.
    private var states: Set<String> = []
    /// The topics of all states.
    private var topics: [(filter: TopicFilter, state: String)] = []

    /// The rules that are loaded from now on.
    mutating func load(_ set: RuleSet) {
        uses = [:]
        topics = set.states.map { (TopicFilter($0.topicName), $0.name) }
        for rule in set.rules {
            let names = set.names(readBy: rule)
            let firstJob = rule.steps.firstIndex { step in set.contains(step) { $0.action.isJob } }
            uses[rule.id] = Use(
                read: names.variables, readStates: names.states,
                alwaysSet: Set(rule.steps.flatMap { set.variables(setBy: $0) }),
                changes: set.changes(of: rule.steps + rule.onError),
                changesAfterJob: set.changes(
                    of: (firstJob.map { Array(rule.steps[$0...]) } ?? []) + rule.onError, isAfterJob: true))
        }
    }

    /// The variables and cycles have known values again.
    mutating func clear() { (variables, cycles) = ([], []) }

    /// A process begins.
    ///
    /// - Parameter hidden: the variables whose value has a placeholder.
    mutating func begin(hidden: Set<String>) {
        variables.formUnion(hidden)
        states = []
    }

    /// A message was received.
    ///
    /// - Parameter isHidden: true if its payload has a placeholder.
    /// - Returns: the states that read it.
    @discardableResult
    mutating func received(_ topicName: String, isHidden: Bool) -> [String] {
        guard isHidden || !states.isEmpty else { return [] }
        let readers = topics.filter { $0.filter.matches(topicName) }.map(\.state)
        if isHidden { states.formUnion(readers) } else { states.subtract(readers) }
        return readers
    }

    /// True if what a rule does now depends on an unknown result of an earlier run.
    func concerns(_ rule: String) -> Bool {
        guard !variables.isEmpty || !cycles.isEmpty || !states.isEmpty else { return false }
        guard let use = uses[rule] else { return cycles.contains(rule) }
        return cycles.contains(rule) || !use.read.isDisjoint(with: variables)
            || !use.readStates.isDisjoint(with: states)
    }

    /// - Parameter isUncertain: true if the run that has set the variable depends on an unknown result.
    mutating func set(_ variable: String, isUncertain: Bool) {
        if isUncertain { variables.insert(variable) } else { variables.remove(variable) }
    }

    /// A run has ended.
    ///
    /// - Parameters:
    ///   - isUncertain: true if the run depends on an unknown result.
    ///   - hasRead: true if it does so because it has read a variable, or began with a cycle, in doubt.
    ///   - isComplete: true if it has come to its last step.
    mutating func ended(_ rule: String, isUncertain: Bool, hasRead: Bool, isComplete: Bool) {
        guard let use = uses[rule] else { return }
        if isUncertain {
            let changes = hasRead ? use.changes : use.changesAfterJob
            variables.formUnion(changes.variables)
            if changes.hasCycle { cycles.insert(rule) }
        } else if isComplete {
            variables.subtract(use.alwaysSet)
        }
    }
}

extension RuleSet {
    fileprivate func contains(_ step: Step, where isWanted: (Step) -> Bool) -> Bool {
        var isFound = false
        forEachStep(in: [step]) { if isWanted($0) { isFound = true } }
        return isFound
    }

    /// - Parameter isAfterJob: true if the first step has the first program or web request. If that step is a cycle, its turn has
    ///   come before the result.
    fileprivate func changes(of steps: [Step], isAfterJob: Bool = false) -> Doubt.Changes {
        var changes = Doubt.Changes()
        forEachStep(in: steps) { step in
            changes.variables.formUnion(variables(setBy: step))
            if step.action.kind == .cycle, !(isAfterJob && step == steps.first) { changes.hasCycle = true }
        }
        return changes
    }

    /// The names of the variables that a step sets, without the steps inside it.
    fileprivate func variables(setBy step: Step) -> [String] {
        guard case .set(let assignments) = step.action else { return [] }
        return assignments.map { variables[$0.variable].name }
    }
}

extension StepAction {
    /// True for a program or a web request.
    fileprivate var isJob: Bool {
        switch self {
        case .perform(let action): action.isExternal
        case .delay, .wait, .waitFor, .set, .cycle, .repeat, .choose, .script, .enable, .cancel,
            .log, .stop:
            false
        }
    }
}
