package import Expressions

/// Enumerates the slots that the expressions of a set read, so that unused values are not computed.
extension RuleSet {
    /// Calls `body` with each slot that a trigger, a condition or a step of a rule or a script reads, possibly several times.
    package func forEachRead(_ body: (ValueReference) -> Void) {
        for rule in rules { rule.forEachRead(body) }
        for script in scripts { script.steps.forEachRead(body) }
    }

    /// The names of the variables and states that a rule reads, itself or in a script that it runs. A trigger with `state:` reads
    /// that state.
    package func names(readBy rule: Rule) -> (variables: Set<String>, states: Set<String>) {
        var names: (variables: Set<String>, states: Set<String>) = ([], [])
        func note(_ reference: ValueReference) {
            if case .variable(let index) = reference { names.variables.insert(variables[index].name) }
            if case .state(let index) = reference { names.states.insert(states[index].name) }
        }
        for case .states(let trigger) in rule.triggers.map(\.origin) { names.states.formUnion(trigger.states) }
        rule.forEachRead(note)
        forEachStep(in: rule.steps + rule.onError) { step in
            if case .script(let index, _) = step.action { scripts[index].steps.forEachRead(note) }
        }
        return names
    }

    /// Calls `body` with each step, the steps inside it, and the steps of the scripts that they run, each script once.
    package func forEachStep(in steps: [Step], _ body: (Step) -> Void) {
        var seen: Set<Int> = []
        func look(at steps: [Step]) {
            for step in steps {
                step.forEach { step in
                    body(step)
                    if case .script(let index, _) = step.action, seen.insert(index).inserted {
                        look(at: scripts[index].steps)
                    }
                }
            }
        }
        look(at: steps)
    }
}

extension Rule {
    fileprivate func forEachRead(_ body: (ValueReference) -> Void) {
        for condition in conditions { condition.forEachRead(body) }
        triggers.forEachRead(body)
        steps.forEachRead(body)
        onError.forEachRead(body)
    }
}

/// The slots that a time window reads.
private let timeAndSun: [ValueReference] = [.now(.hour), .sun(.isUp)]

extension Expression {
    fileprivate func forEachRead(_ body: (ValueReference) -> Void) {
        reads.forEach(body)
        if hasTimeWindow { timeAndSun.forEach(body) }
    }
}

extension Condition {
    fileprivate func forEachRead(_ body: (ValueReference) -> Void) {
        switch test {
        case .expression(let expression): expression.forEachRead(body)
        case .time: timeAndSun.forEach(body)
        }
    }
}

extension Template {
    fileprivate func forEachRead(_ body: (ValueReference) -> Void) {
        for case .expression(let expression, _) in parts { expression.forEachRead(body) }
    }
}

extension ValueTemplate {
    fileprivate func forEachRead(_ body: (ValueReference) -> Void) {
        if case .template(let template) = self { template.forEachRead(body) }
    }
}

extension [Trigger] {
    fileprivate func forEachRead(_ body: (ValueReference) -> Void) {
        for case .states(let trigger) in map(\.origin) {
            for expression in trigger.fromExpressions + trigger.toExpressions { expression.forEachRead(body) }
        }
    }
}

extension [Step] {
    fileprivate func forEachRead(_ body: (ValueReference) -> Void) { for step in self { step.forEachRead(body) } }
}

extension Step {
    fileprivate func forEachRead(_ body: (ValueReference) -> Void) {
        switch action {
        case .perform(let action): action.forEachTemplate { $0.forEachRead(body) }
        case .delay(let template), .log(_, let template), .stop(let template): template.forEachRead(body)
        case .wait(let expression, _, _): expression.forEachRead(body)
        case .set(let assignments): for assignment in assignments { assignment.value.forEachRead(body) }
        case .choose(let branches, _, _):
            for branch in branches { for condition in branch.conditions { condition.forEachRead(body) } }
        case .script(_, let values): for value in values { value?.forEachRead(body) }
        case .waitFor(let wait): wait.triggers.forEachRead(body)
        case .cycle, .repeat, .enable, .cancel: break
        }
        for steps in inner { steps.forEachRead(body) }
    }
}
