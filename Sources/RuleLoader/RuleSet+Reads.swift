import Expressions
import Rules

extension RuleSet {
    /// The indices of the buttons that expressions read.
    var readButtons: Set<Int> {
        var buttons: Set<Int> = []
        let note = { (slots: Set<Slot>) in
            for case .button(let button, _) in slots { buttons.insert(button) }
        }
        for rule in rules {
            for condition in rule.conditions { condition.forEachRead(note) }
            for step in rule.steps + rule.onError { step.forEach { $0.action.forEachRead(note) } }
        }
        for script in scripts {
            for step in script.steps { step.forEach { $0.action.forEachRead(note) } }
        }
        return buttons
    }
}

extension Condition {
    fileprivate func forEachRead(_ body: (Set<Slot>) -> Void) {
        if case .expression(let expression) = test { body(expression.reads) }
    }
}

extension StepAction {
    /// Calls `body` with the slots that the step's own expressions read, without the steps inside it.
    fileprivate func forEachRead(_ body: (Set<Slot>) -> Void) {
        switch self {
        case .publish(let step):
            body(step.topicName.reads)
            step.payload.forEachRead(body)
        case .process(let step):
            for argument in step.arguments { body(argument.reads) }
            for variable in step.environment { body(variable.value.reads) }
            body(step.standardInput.reads)
        case .http(let step):
            body(step.url.reads)
            for header in step.headers { body(header.value.reads) }
            step.body.forEachRead(body)
        case .delay(let template), .log(_, let template), .stop(let template): body(template.reads)
        case .wait(let condition, _): body(condition.reads)
        case .set(let assignments): for assignment in assignments { assignment.value.forEachRead(body) }
        case .choose(let branches, _, _):
            for branch in branches { for condition in branch.conditions { condition.forEachRead(body) } }
        case .script(_, let inputs): for input in inputs { input?.forEachRead(body) }
        case .cycle, .repeat, .enable: break
        }
    }
}

extension Content {
    fileprivate func forEachRead(_ body: (Set<Slot>) -> Void) {
        switch self {
        case .nothing: break
        case .text(let template): body(template.reads)
        case .json(let json): json.forEachRead(body)
        }
    }
}

extension JSONTemplate {
    fileprivate func forEachRead(_ body: (Set<Slot>) -> Void) {
        switch self {
        case .value: break
        case .template(let template): body(template.reads)
        case .array(let elements): for element in elements { element.forEachRead(body) }
        case .object(let members): for member in members { member.value.forEachRead(body) }
        }
    }
}

extension ValueTemplate {
    fileprivate func forEachRead(_ body: (Set<Slot>) -> Void) {
        if case .template(let template) = self { body(template.reads) }
    }
}
