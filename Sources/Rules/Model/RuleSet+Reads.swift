import Expressions

/// Enumerates the slots that the expressions of a set read, so that unused values are not computed.
extension RuleSet {
    /// Calls `body` with each slot that a condition or a step of a rule or a script reads, possibly several times.
    func forEachRead(_ body: (Slot) -> Void) {
        for rule in rules {
            for condition in rule.conditions { condition.forEachRead(body) }
            rule.steps.forEachRead(body)
            rule.onError.forEachRead(body)
        }
        for script in scripts { script.steps.forEachRead(body) }
    }
}

/// The slots that a time window reads.
private let timeAndSun: [Slot] = [.now(.hour), .sun(.isUp)]

extension Expression {
    fileprivate func forEachRead(_ body: (Slot) -> Void) {
        reads.forEach(body)
        if hasTimeWindow { timeAndSun.forEach(body) }
    }
}

extension Condition {
    fileprivate func forEachRead(_ body: (Slot) -> Void) {
        switch test {
        case .expression(let expression): expression.forEachRead(body)
        case .time: timeAndSun.forEach(body)
        }
    }
}

extension Template {
    fileprivate func forEachRead(_ body: (Slot) -> Void) {
        for case .expression(let expression, _) in parts { expression.forEachRead(body) }
    }
}

extension ValueTemplate {
    fileprivate func forEachRead(_ body: (Slot) -> Void) {
        if case .template(let template) = self { template.forEachRead(body) }
    }
}

extension JSONTemplate {
    fileprivate func forEachRead(_ body: (Slot) -> Void) {
        switch self {
        case .value: break
        case .template(let template): template.forEachRead(body)
        case .array(let entries): for entry in entries { entry.forEachRead(body) }
        case .object(let members): for member in members { member.value.forEachRead(body) }
        }
    }
}

extension Content {
    fileprivate func forEachRead(_ body: (Slot) -> Void) {
        switch self {
        case .nothing: break
        case .text(let template): template.forEachRead(body)
        case .json(let template): template.forEachRead(body)
        }
    }
}

extension [Step] {
    fileprivate func forEachRead(_ body: (Slot) -> Void) { for step in self { step.forEachRead(body) } }
}

extension Step {
    fileprivate func forEachRead(_ body: (Slot) -> Void) {
        switch action {
        case .publish(let publish):
            publish.topicName.forEachRead(body)
            publish.payload.forEachRead(body)
        case .process(let process):
            for argument in process.arguments { argument.forEachRead(body) }
            for variable in process.environment { variable.value.forEachRead(body) }
            process.standardInput.forEachRead(body)
        case .http(let http):
            http.url.forEachRead(body)
            for header in http.headers { header.value.forEachRead(body) }
            http.body.forEachRead(body)
        case .delay(let template), .log(_, let template), .stop(let template): template.forEachRead(body)
        case .wait(let expression, _): expression.forEachRead(body)
        case .set(let assignments): for assignment in assignments { assignment.value.forEachRead(body) }
        case .cycle(let entries, _): for entry in entries { entry.forEachRead(body) }
        case .repeat(let step): step.steps.forEachRead(body)
        case .choose(let branches, let otherwise, _):
            for branch in branches {
                for condition in branch.conditions { condition.forEachRead(body) }
                branch.steps.forEachRead(body)
            }
            otherwise.forEachRead(body)
        case .script(_, let values): for value in values { value?.forEachRead(body) }
        case .enable: break
        }
    }
}
