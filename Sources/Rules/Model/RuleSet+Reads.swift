package import Expressions

/// Enumerates the slots that the expressions of a set read, so that unused values are not computed.
extension RuleSet {
    /// Calls `body` with each slot that a trigger, a condition or a step of a rule or a script reads, possibly several times.
    package func forEachRead(_ body: (ValueReference) -> Void) {
        for rule in rules {
            for condition in rule.conditions { condition.forEachRead(body) }
            rule.triggers.forEachRead(body)
            rule.steps.forEachRead(body)
            rule.onError.forEachRead(body)
        }
        for script in scripts { script.steps.forEachRead(body) }
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
