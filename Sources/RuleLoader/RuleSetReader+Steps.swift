import Diagnostics
import Expressions
import Rules
import YAMLFiles

/// The position of the steps that are being read, and the names they may use there.
struct StepContext {
    enum Owner {
        case rule(String)
        case script(String)
    }

    var owner: Owner
    /// The names that expressions may use: among them results saved so far, the inputs of a script, `error` inside
    /// `on_error`, and `repeat` inside a `repeat`.
    var scope: Scope
    /// The path of the list of steps: `actions`, `all_off.actions`, `actions[2].choose[0].then`.
    var path: String
    /// The slot of the next `save_as`.
    var resultCount = 0
    /// True if all triggers of the rule are `hold` or `down`, which `repeat: while: held` requires. `nil` in a script,
    /// where it depends on the caller.
    var allowsRepeatWhileHeld: Bool?
    /// An event of the rule other than `hold` and `down`, for the message when `allowsRepeatWhileHeld` is false.
    var otherEvent: String?
    /// Slots of results by name. Two branches may save a result under the same name.
    var slots: [String: Int] = [:]
    /// True if every path through the steps so far stops.
    var isStopped = false
    /// Scripts that must not be called here, because the calls would form a cycle, which is already reported.
    var forbiddenScripts: Set<Int> = []
}

extension RuleSetReader {
    static let maximumSteps = 100
    static let maximumStepsOfRule = 1000
    static let maximumDelay = Duration.seconds(7 * 86_400)

    /// Reads one step or a list of at least one (E213). Faulty steps are reported and left out.
    ///
    /// Scripts that are called must have been read before, because their `ScriptEffect` applies to their callers.
    mutating func readSteps(_ node: YAMLNode, key: String, _ context: inout StepContext) -> [Step] {
        context.isStopped = false
        let steps = readList(node, key: key, &context)
        let count = stepCount(of: steps)
        guard count <= RuleSetReader.maximumStepsOfRule else {
            checker.error(
                "E205", at: node,
                "\(count) steps, with those of the scripts they call, are more than \(RuleSetReader.maximumStepsOfRule)"
            )
            return []
        }
        if LiteralDelays(of: steps, scripts: scriptDelays).total > RuleSetReader.maximumDelay {
            checker.error("E205", at: node, "one run may wait at most 7d in its delays")
        }
        return steps
    }

    /// Reads a list of steps: the outermost, or one inside another step.
    mutating func readList(_ node: YAMLNode, key: String, _ context: inout StepContext) -> [Step] {
        let nodes = checker.oneOrMany(node, emptyCode: "E213", empty: "\"\(key)\" needs at least one step")
        guard nodes.count <= RuleSetReader.maximumSteps else {
            checker.error(
                "E205", at: nodes[RuleSetReader.maximumSteps],
                "a list may have at most \(RuleSetReader.maximumSteps) steps, not \(nodes.count)")
            return []
        }
        var steps: [Step] = []
        steps.reserveCapacity(nodes.count)
        let path = context.path
        var reportsUnreachable = true
        for (index, node) in nodes.enumerated() {
            if context.isStopped, reportsUnreachable {
                let (start, end) = checker.firstKey(of: node)
                checker.error(
                    "E510", from: start, to: end, alias: node.alias,
                    "this step can never run: the one before it always stops")
                reportsUnreachable = false
            }
            if let step = step(node, index, &context) { steps.append(step) }
            context.path = path
        }
        return steps
    }

    // MARK: One step

    private static let actionKeys = Set(StepKind.allCases.map(\.rawValue))

    private mutating func step(_ node: YAMLNode, _ index: Int, _ context: inout StepContext) -> Step? {
        if case .scalar(let text, _) = node.content {
            guard !checker.reportsMissingSpace(node, keys: RuleSetReader.actionKeys.contains) else { return nil }
            checker.error(
                "E213", at: node, "a step must be a mapping, not the text \"\(checker.shown(text))\"",
                hint: RuleSetReader.actionKeys.contains(text)
                    ? "write \(text): with its value" : "write publish:, run:, shell: or another action")
            return nil
        }
        if case .sequence = node.content {
            checker.error(
                "E203", at: node, "a step must be a mapping, not a list",
                hint: "only an entry of a cycle may be a list of steps")
            return nil
        }
        guard let fields = checker.fields(node, .step) else { return nil }
        let key = checker.action(
            of: RuleSetReader.actionKeys, in: fields, "a step", hint: RuleSetReader.missingAction(fields))
        guard let key, let kind = StepKind(rawValue: key.text) else { return nil }
        guard checkCompanions(of: key, in: fields), let value = fields.node(key.text) else { return nil }
        var common = CommonKeys(
            alias: fields.string("alias"), isEnabled: fields.boolean("enabled") ?? true,
            continuesOnError: fields.boolean("continue_on_error") ?? false)
        let isComplete = readLimits(fields, key, kind, &common)
        // A disabled step saves no result and does not stop the run.
        let before = context.scope.results
        let wasStopped = context.isStopped
        let path = context.path + "[" + String(index) + "]." + key.text
        context.path = path
        // The branches of a `wait_for` may read its result, the steps inside other steps may not.
        let awaited = kind == .waitFor ? saved(fields, key, kind, isEnabled: common.isEnabled, &context) : nil
        let action = action(kind, key, value, fields, &context)
        if !common.isEnabled {
            context.isStopped = wasStopped
            context.scope.results = RuleSetReader.results(of: [before, context.scope.results])
        }
        let slot = kind == .waitFor ? awaited : saved(fields, key, kind, isEnabled: common.isEnabled, &context)
        guard let action, isComplete else { return nil }
        return Step(
            action, alias: common.alias, isEnabled: common.isEnabled, timeout: common.timeout, retry: common.retry,
            continuesOnError: common.continuesOnError, savesAs: slot, path: path,
            location: SourceLocation(file: checker.source.name, line: key.start.line, column: key.start.column))
    }

    private static func missingAction(_ fields: CheckedMapping) -> Hint {
        StepKind.companions.first { fields.has($0.key) }
            .map { Hint(StepKind.place(ofCompanion: $0.key, $0.kinds)) }
            ?? "add publish:, run:, shell: or another action"
    }

    private mutating func checkCompanions(of key: YAMLNode.Key, in fields: CheckedMapping) -> Bool {
        var isGood = true
        for companion in StepKind.companions
        where !companion.kinds.contains(where: { $0.rawValue == key.text }) {
            guard let written = fields.key(companion.key) else { continue }
            let hint: Hint =
                switch (key.text, companion.key) {
                case ("choose", "else"):
                    Hint("use default: for the steps that run if no branch does", replacing: "default")
                case ("choose", "then"): "each entry of choose has its own if: and then:"
                case ("if", "default"): .forKey("use else:")
                default: Hint(StepKind.place(ofCompanion: companion.key, companion.kinds))
                }
            checker.error("E201", at: written, "unknown key \"\(companion.key)\" beside \"\(key.text)\"", hint: hint)
            isGood = false
        }
        return isGood
    }

    private mutating func action(
        _ kind: StepKind, _ key: YAMLNode.Key, _ node: YAMLNode, _ fields: CheckedMapping, _ context: inout StepContext
    ) -> StepAction? {
        guard !inputs.forbiddenSteps.contains(kind) else { return forbidden(key) }
        return kind.language.read(&self, node, fields, &context)
    }

    private mutating func forbidden(_ key: YAMLNode.Key) -> StepAction? {
        checker.error(
            "E204", at: key, "\"\(key.text)\" is forbidden here", hint: "actions.\(key.text) is false in tryck.yaml")
        return nil
    }

    // MARK: Common keys

    private struct CommonKeys {
        var alias: String?
        var isEnabled: Bool
        var continuesOnError: Bool
        var timeout: Duration?
        var retry: Retry?
    }

    /// What to write instead of `timeout` beside a step that has its limit inside.
    private func hintForLimit(of kind: StepKind, _ fields: CheckedMapping, _ action: YAMLNode.Key) -> Hint? {
        guard let limit = kind.language.innerLimit else { return nil }
        guard let key = fields.key("timeout"), let node = fields.node("timeout"), let inner = fields.node(action.text)
        else { return Hint(limit.hint) }
        return Hint(limit.hint, checker.movingIn(key, node, into: inner, as: limit.key))
    }

    private mutating func readLimits(
        _ fields: CheckedMapping, _ action: YAMLNode.Key, _ kind: StepKind, _ common: inout CommonKeys
    ) -> Bool {
        guard let timeLimit = kind.timeLimit else {
            var isGood = true
            for key in kind == .waitFor ? ["retry"] : ["timeout", "retry"] {
                guard fields.has(key), let written = fields.last(of: [key, action.text]) else { continue }
                let allowed = StepKind.listed { $0.timeLimit != nil || key == "timeout" && $0 == .waitFor }
                checker.error(
                    "E210", at: written, "\"\(key)\" is allowed only with \(allowed), not with \"\(action.text)\"",
                    hint: key == "timeout" ? hintForLimit(of: kind, fields, action) : nil)
                isGood = false
            }
            return isGood
        }
        common.timeout = fields.duration("timeout") ?? defaults.timeout ?? timeLimit
        guard let node = fields.node("retry") else { return true }
        if let written = node.scalar {
            checker.noMapping(
                "E203", at: node, "\"retry\" must be a mapping",
                hint: .write("retry", "{count: \(written)}", shown: "{count: \(checker.shown(written))}")
            )
            return false
        }
        guard let retry = checker.fields(node, .retry, owner: "\"retry\""), let count = retry.integer("count") else {
            return false
        }
        common.retry = Retry(
            count: count, delay: retry.duration("delay") ?? .seconds(1), backOff: retry.number("backoff") ?? 2)
        return true
    }

    /// Returns the slot of `save_as` and declares the result for the steps that follow.
    private mutating func saved(
        _ fields: CheckedMapping, _ action: YAMLNode.Key, _ kind: StepKind, isEnabled: Bool,
        _ context: inout StepContext
    ) -> Int? {
        guard fields.has("save_as"), let second = fields.last(of: ["save_as", action.text]) else { return nil }
        guard kind.hasResult else {
            checker.error(
                "E210", at: second,
                "\"save_as\" is allowed only with \(StepKind.listed(\.hasResult)), not with \"\(action.text)\"")
            return nil
        }
        guard let name = fields.string("save_as"), let node = fields.node("save_as") else { return nil }
        if context.scope.results[name] != nil {
            checker.error(
                "E303", at: node, "an earlier step of the same run is saved as \"\(name)\"",
                hint: "give one of them another name")
            return nil
        }
        let slot = context.slots[name] ?? context.resultCount
        if context.slots.updateValue(slot, forKey: name) == nil { context.resultCount += 1 }
        let isAwaited = kind == .waitFor
        context.scope.results[name] =
            isEnabled ? isAwaited ? .awaited(slot: slot) : .always(slot: slot) : .notOnEveryPath
        return slot
    }

    /// The results that the steps after several branches may use. A result is `.notOnEveryPath` unless all branches
    /// save it in the same way.
    static func results(of branches: [[String: Scope.Saved]]) -> [String: Scope.Saved] {
        guard var results = branches.first else { return [:] }
        for branch in branches.dropFirst() where branch != results {
            for (name, saved) in branch where results[name] != saved { results[name] = .notOnEveryPath }
            for name in results.keys where branch[name] == nil { results[name] = .notOnEveryPath }
        }
        return results
    }
}
