import Expressions
import Rules
import YAMLFiles

/// Steps that contain other steps: `if`, `choose`, `cycle`, `repeat`, and `wait` with `else`.
extension RuleSetReader {
    /// Reads the steps of a branch and the results that are saved at its end, which are `nil` when it always stops.
    mutating func readBranch(
        _ node: YAMLNode, key: String, path: String, from context: inout StepContext,
        _ change: (inout StepContext) -> Void = { _ in }
    ) -> (steps: [Step], results: [String: Scope.Saved]?) {
        var inner = context
        inner.path = path
        inner.isStopped = false
        change(&inner)
        let steps = readList(node, key: key, &inner)
        context.slots = inner.slots
        context.resultCount = inner.resultCount
        return (steps, inner.isStopped ? nil : inner.scope.results)
    }

    /// Combines the results of branches into those that the following steps may use.
    ///
    /// - Parameter branchResults: the results at the end of each branch; `nil` for a branch that always stops.
    func join(_ branchResults: [[String: Scope.Saved]?], _ context: inout StepContext) {
        let open = branchResults.compactMap { $0 }
        guard !open.isEmpty else {
            context.isStopped = !branchResults.isEmpty
            return
        }
        context.scope.results = RuleSetReader.results(of: open)
    }

    mutating func branches(if node: YAMLNode, _ fields: CheckedMapping, _ context: inout StepContext) -> StepAction? {
        let conditions = readConditions(node, key: "if", in: context.scope)
        let path = context.path
        guard let thenNode = fields.node("then") else {
            if !fields.isWritten("then") { checker.missing("then", in: fields, owner: "\"if\"") }
            return nil
        }
        let then = readBranch(thenNode, key: "then", path: "\(path).then", from: &context)
        var otherwise: (steps: [Step], results: [String: Scope.Saved]?) = ([], context.scope.results)
        if let node = fields.node("else") {
            otherwise = readBranch(node, key: "else", path: "\(path).else", from: &context)
        }
        join([then.results, otherwise.results], &context)
        let branch = Branch(conditions: conditions, steps: then.steps, location: location(of: node))
        return .choose([branch], otherwise: otherwise.steps, isIf: true)
    }

    mutating func branches(choose node: YAMLNode, _ fields: CheckedMapping, _ context: inout StepContext) -> StepAction?
    {
        guard case .sequence(let nodes) = node.content else {
            if !node.isInvalid {
                checker.error(
                    "E203", at: node, "\"choose\" must be a list of branches",
                    hint: Hint("write - if: … and then: … for each", checker.wrapping(node, in: "[", "]")))
            }
            return nil
        }
        let path = context.path
        var branches: [Branch] = []
        var branchResults: [[String: Scope.Saved]?] = []
        for (index, node) in checker.oneOrMany(node, empty: "\"choose\" needs at least one branch").enumerated() {
            guard let fields = checker.fields(node, .branch) else { continue }
            let conditions = fields.node("if").map { self.readConditions($0, key: "if", in: context.scope) }
            guard let thenNode = fields.node("then") else { continue }
            let then = readBranch(thenNode, key: "then", path: "\(path)[\(index)].then", from: &context)
            branchResults.append(then.results)
            guard let conditions else { continue }
            branches.append(Branch(conditions: conditions, steps: then.steps, location: location(of: node)))
        }
        var otherwise: (steps: [Step], results: [String: Scope.Saved]?) = ([], context.scope.results)
        if let node = fields.node("default") {
            otherwise = readBranch(node, key: "default", path: "\(path).default", from: &context)
        }
        join(branchResults + [otherwise.results], &context)
        return branches.count == nodes.count && !branches.isEmpty
            ? .choose(branches, otherwise: otherwise.steps, isIf: false) : nil
    }

    /// Reads a `wait` with the `else` beside it. The steps after it may use only results that were saved before it, because
    /// `else` need not run.
    mutating func readWait(_ node: YAMLNode, _ fields: CheckedMapping, _ context: inout StepContext) -> StepAction? {
        let condition = readUntil(
            node, fields.key("wait"), hasTimeoutBeside: fields.has("timeout"), in: context.scope)
        var otherwise: [Step]?
        if let node = fields.node("else") {
            let before: [String: Scope.Saved]? = context.scope.results
            let branch = readBranch(node, key: "else", path: "\(context.path).else", from: &context)
            join([before, branch.results], &context)
            otherwise = branch.steps
        }
        return condition.map { .wait(until: $0.until, timeout: $0.timeout, otherwise: otherwise) }
    }

    mutating func readCycle(_ node: YAMLNode, _ context: inout StepContext) -> StepAction? {
        if case .sequence = node.content {
            checker.error(
                "E203", at: node, "\"cycle\" must be a mapping, not a list",
                hint: Hint("write cycle: {steps: […]}", checker.wrapping(node, in: "{steps: ", "}")))
            return nil
        }
        guard let fields = checker.fields(node, .cycle, owner: "\"cycle\""), let steps = fields.node("steps") else {
            return nil
        }
        guard case .sequence(let nodes) = steps.content else {
            if !steps.isInvalid {
                checker.error("E203", at: steps, "\"steps\" must be a list of at least two entries")
            }
            return nil
        }
        guard (2...32).contains(nodes.count) else {
            checker.error("E205", at: steps, "\"cycle\" has 2 to 32 entries, not \(nodes.count)")
            return nil
        }
        let path = context.path
        var entries: [[Step]] = []
        var branchResults: [[String: Scope.Saved]?] = []
        for (index, node) in nodes.enumerated() {
            guard !checker.reportsNullEntry(node) else { continue }
            let entry = readBranch(node, key: "steps", path: "\(path)[\(index)]", from: &context)
            entries.append(entry.steps)
            branchResults.append(entry.results)
        }
        join(branchResults, &context)
        return .cycle(entries, resetAfter: fields.duration("reset_after"))
    }

    mutating func repetition(_ node: YAMLNode, _ context: inout StepContext) -> StepAction? {
        guard let fields = checker.fields(node, .repeat, owner: "\"repeat\"") else { return nil }
        let extent = extent(of: fields)
        if case .whileHeld = extent, context.allowsRepeatWhileHeld == false, let key = fields.key("while") {
            checker.error(
                "E505", at: key, "repeat while held needs a rule triggered only by hold or down",
                hint: context.otherEvent.map { "this rule also has \($0)" })
        }
        guard let actions = fields.node("actions") else { return nil }
        let body = readBranch(actions, key: "actions", path: "\(context.path).actions", from: &context) {
            $0.scope.absent[.repeat] = nil
        }
        switch extent {
        case .count: join([body.results], &context)
        // `while: held` may repeat nothing: after a queued press the button is no longer held.
        case .whileHeld, nil: join([context.scope.results, body.results], &context)
        }
        guard let extent, let every = fields.duration("every") else { return nil }
        return .repeat(
            RepeatStep(extent: extent, every: every, limit: fields.duration("limit") ?? .seconds(15), steps: body.steps)
        )
    }

    private mutating func extent(of fields: CheckedMapping) -> RepeatStep.Extent? {
        switch (fields.key("while"), fields.key("count")) {
        case (let held?, let count?):
            checker.error(
                "E210", at: held.start < count.start ? count : held, "give either \"while\" or \"count\", not both")
            return nil
        case (nil, nil):
            guard !fields.isWritten("while"), !fields.isWritten("count") else { return nil }
            checker.missing("while", in: fields, owner: "\"repeat\"", or: " and no \"count\"")
            return nil
        case (_?, nil): return fields.string("while").map { _ in .whileHeld }
        case (nil, _?): return fields.integer("count").map(RepeatStep.Extent.count)
        }
    }
}
