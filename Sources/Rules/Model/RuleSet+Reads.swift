package import Expressions

/// What the expressions of a set read, so that nothing is kept ready that nobody asks for.
extension RuleSet {
    /// Every slot some rule's conditions or steps read, or some script's.
    package var reads: Set<Slot> {
        var reads: Set<Slot> = []
        for rule in rules {
            for condition in rule.conditions { condition.addReads(to: &reads) }
            rule.steps.addReads(to: &reads)
            rule.onError.addReads(to: &reads)
        }
        for script in scripts { script.steps.addReads(to: &reads) }
        return reads
    }
}

extension Condition {
    fileprivate func addReads(to reads: inout Set<Slot>) {
        if case .expression(let expression) = test { reads.formUnion(expression.reads) }
    }
}

extension Template {
    fileprivate func addReads(to reads: inout Set<Slot>) {
        for case .expression(let expression, _) in parts { reads.formUnion(expression.reads) }
    }
}

extension ValueTemplate {
    fileprivate func addReads(to reads: inout Set<Slot>) {
        if case .template(let template) = self { template.addReads(to: &reads) }
    }
}

extension JSONTemplate {
    fileprivate func addReads(to reads: inout Set<Slot>) {
        switch self {
        case .value: break
        case .template(let template): template.addReads(to: &reads)
        case .array(let entries): for entry in entries { entry.addReads(to: &reads) }
        case .object(let members): for member in members { member.value.addReads(to: &reads) }
        }
    }
}

extension Content {
    fileprivate func addReads(to reads: inout Set<Slot>) {
        switch self {
        case .nothing: break
        case .text(let template): template.addReads(to: &reads)
        case .json(let template): template.addReads(to: &reads)
        }
    }
}

extension [Step] {
    fileprivate func addReads(to reads: inout Set<Slot>) { for step in self { step.addReads(to: &reads) } }
}

extension Step {
    fileprivate func addReads(to reads: inout Set<Slot>) {
        switch action {
        case .publish(let publish):
            publish.topicName.addReads(to: &reads)
            publish.payload.addReads(to: &reads)
        case .process(let process):
            for argument in process.arguments { argument.addReads(to: &reads) }
            for variable in process.environment { variable.value.addReads(to: &reads) }
            process.standardInput.addReads(to: &reads)
        case .http(let http):
            http.url.addReads(to: &reads)
            for header in http.headers { header.value.addReads(to: &reads) }
            http.body.addReads(to: &reads)
        case .delay(let template), .log(_, let template), .stop(let template): template.addReads(to: &reads)
        case .wait(let expression, _): reads.formUnion(expression.reads)
        case .set(let assignments): for assignment in assignments { assignment.value.addReads(to: &reads) }
        case .cycle(let entries, _): for entry in entries { entry.addReads(to: &reads) }
        case .repeat(let step): step.steps.addReads(to: &reads)
        case .choose(let branches, let otherwise, _):
            for branch in branches {
                for condition in branch.conditions { condition.addReads(to: &reads) }
                branch.steps.addReads(to: &reads)
            }
            otherwise.addReads(to: &reads)
        case .script(_, let values): for value in values { value?.addReads(to: &reads) }
        case .enable: break
        }
    }
}
