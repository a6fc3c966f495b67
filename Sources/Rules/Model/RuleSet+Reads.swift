package import Expressions

/// Enumerates the slots that the expressions of a set read, so that unused values are not computed.
extension RuleSet {
    /// Calls `body` with each slot that a trigger, a condition or a step of a rule or a script reads, possibly several times.
    package func forEachRead(_ body: (ValueReference) -> Void) {
        for rule in rules { rule.forEachRead(body) }
        for script in scripts { script.steps.forEachRead(body) }
    }

    /// The names of the variables that a rule reads, itself or in a script that it runs.
    package func variables(readBy rule: Rule) -> Set<String> {
        var names: Set<String> = []
        func note(_ reference: ValueReference) {
            if case .variable(let index) = reference { names.insert(variables[index].name) }
        }
        rule.forEachRead(note)
        for script in scripts(runBy: rule) { script.steps.forEachRead(note) }
        return names
    }

    /// True if a rule has a `cycle` step, itself or in a script that it runs.
    package func hasCycle(_ rule: Rule) -> Bool {
        func isCycle(_ step: Step) -> Bool {
            step.action.kind == .cycle || step.inner.joined().contains(where: isCycle)
        }
        return (rule.steps + rule.onError).contains(where: isCycle)
            || scripts(runBy: rule).contains { $0.steps.contains(where: isCycle) }
    }

    /// The scripts that a rule runs, also by way of other scripts.
    private func scripts(runBy rule: Rule) -> [Script] {
        var found: Set<Int> = []
        func look(at steps: [Step]) {
            for step in steps {
                if case .script(let index, _) = step.action, found.insert(index).inserted {
                    look(at: scripts[index].steps)
                }
                for inner in step.inner { look(at: inner) }
            }
        }
        look(at: rule.steps + rule.onError)
        return found.map { scripts[$0] }
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
