import ButtonModel
import Expressions
import Rules
import YAMLFiles

/// The step `wait_for`, and the keys beside it.
extension RuleSetReader {
    mutating func readWaitFor(_ node: YAMLNode, _ fields: CheckedMapping, _ context: inout StepContext) -> StepAction? {
        let rule: Int? =
            switch context.owner {
            case .rule(let id): scope.rules[id]
            case .script: nil
            }
        let nodes = checker.oneOrMany(node, empty: "an empty list of triggers never matches")
        var triggers: [Trigger] = []
        for node in nodes {
            if let trigger = readTrigger(node, rule: rule, isAwaited: true) { triggers.append(trigger) }
        }
        if !triggers.isEmpty, triggers.count == nodes.count, !triggers.contains(where: \.isOfButton),
            let key = fields.key("claim")
        {
            checker.error("E210", at: key, "\"claim\" is allowed only with a button or a chord")
        }
        // A timeout in the trigger is reported already, and so is the value of another step.
        let hasTimeoutInside = nodes.contains { $0["timeout"] != nil || RuleSetReader.isOtherWait($0) }
        let timeout = hasTimeoutInside && !fields.isWritten("timeout") ? nil : readTimeout(fields)
        let results: [String: Scope.Saved]? = context.scope.results
        if let timeout { checkDurations(of: nodes, triggers, within: timeout) }
        let path = context.path
        var then: (steps: [Step], results: [String: Scope.Saved]?) = ([], results)
        if let node = fields.node("then") {
            then = readBranch(node, key: "then", path: "\(path).then", from: &context)
        }
        var otherwise: (steps: [Step], results: [String: Scope.Saved]?) = ([], results)
        if let node = fields.node("else") {
            otherwise = readBranch(node, key: "else", path: "\(path).else", from: &context)
        }
        join([then.results, otherwise.results], &context)
        guard let timeout, !triggers.isEmpty, triggers.count == nodes.count else { return nil }
        return .waitFor(
            WaitForStep(
                triggers, timeout: timeout, claims: fields.boolean("claim") ?? false, then: then.steps,
                otherwise: otherwise.steps))
    }

    /// Reports a trigger whose `for` does not fit into the timeout, because the step would never continue by it.
    private mutating func checkDurations(of nodes: [YAMLNode], _ triggers: [Trigger], within timeout: Duration) {
        guard nodes.count == triggers.count else { return }
        for (node, trigger) in zip(nodes, triggers) {
            guard case .states(let trigger) = trigger.origin, trigger.duration >= timeout, let duration = node["for"]
            else { continue }
            checker.error(
                "E205", at: duration, "\"for\" must be shorter than the timeout of \(text(of: timeout))",
                hint: "write a timeout above \(text(of: trigger.duration))")
        }
    }

    private func text(of duration: Duration) -> String { DurationText.text(milliseconds: duration.milliseconds) }

    /// Reads the required `timeout`.
    private mutating func readTimeout(_ fields: CheckedMapping) -> Duration? {
        guard let node = fields.node("timeout") else {
            if !fields.isWritten("timeout") { checker.missing("timeout", in: fields, owner: "\"wait_for\"") }
            return nil
        }
        guard let timeout = fields.duration("timeout") else { return nil }
        guard timeout > .zero, timeout <= WaitForStep.maximumTimeout else {
            checker.error("E205", at: node, "\"timeout\" of wait_for must be from 1ms to 24h")
            return nil
        }
        return timeout
    }
}
