import Expressions
import Rules
import YAMLFiles

extension RuleSetReader {
    /// Reads a rule into `set.rules[index]`, or only to report its faults if `index` is `nil`.
    mutating func readRule(_ node: YAMLNode, index: Int?) {
        guard !node.isNull else {
            checker.error(
                "E114", from: node.start, to: node.start.advanced(by: 1), "this rule is empty", hint: "remove the dash")
            return
        }
        guard let fields = checker.fields(node, .rule, owner: .init("rule", named: RuleSetReader.id(of: node)?.scalar))
        else { return }
        var triggers: [Trigger] = []
        var held = HeldTriggers()
        if let node = fields.node("triggers") {
            for node in checker.oneOrMany(node, empty: "an empty list of triggers never matches") {
                if let trigger = readTrigger(node, rule: index) {
                    held.add(trigger)
                    triggers.append(trigger)
                } else {
                    held.isCertain = false
                }
            }
        }
        if held.isCertain { rejectKeysOfPresses(triggers, fields) }
        let conditions = fields.node("conditions").map { self.readConditions($0, key: "conditions", in: scope) } ?? []
        let id = fields.string("id") ?? ""
        var context = StepContext(
            owner: .rule(id), scope: scope, path: "actions", allowsRepeatWhileHeld: held.allowsRepeat)
        context.otherEvent = held.other
        let steps = fields.node("actions").map { self.readSteps($0, key: "actions", &context) } ?? []
        var onError: [Step] = []
        if let node = fields.node("on_error") {
            // The actions may have failed at any step, so no result is certain to exist.
            for name in context.scope.results.keys { context.scope.results[name] = .notOnEveryPath }
            context.scope.absent[.error] = nil
            context.path = "on_error"
            context.isStopped = false
            onError = self.readSteps(node, key: "on_error", &context)
        }
        let limits = readLimits(fields)
        guard let index else { return }
        var rule = Rule(
            id: ruleSet.rules[index].id, triggers: triggers, steps: steps, location: ruleSet.rules[index].location)
        rule.alias = fields.string("alias")
        rule.isEnabled = fields.boolean("enabled") ?? true
        rule.conditions = conditions
        rule.mode = limits.mode
        rule.maximumRuns = limits.maximum
        rule.scope = fields.string("scope").flatMap(Rule.LimitScope.init(rawValue:)) ?? .rule
        rule.queued = fields.node("queued").flatMap { readQueuedPolicy($0) }
        rule.cooldown = fields.duration("cooldown") ?? defaults.cooldown
        rule.rateLimit = limits.rate
        rule.isFallback = fields.boolean("fallback") ?? false
        rule.onError = onError
        rule.onRestart = fields.string("on_restart").flatMap(Rule.AfterRestart.init(rawValue:)) ?? .drop
        rule.isDryRun = fields.boolean("dry_run") ?? false
        rule.resultCount = context.resultCount
        ruleSet.rules[index] = rule
    }

    private mutating func readLimits(_ fields: CheckedMapping) -> (mode: Rule.Mode, maximum: Int, rate: Rule.Rate) {
        let rate = fields.node("rate_limit").flatMap { self.rate($0, key: "rate_limit") } ?? defaults.rateLimit
        let written = fields.string("mode").flatMap(Rule.Mode.init(rawValue:))
        let mode = written ?? defaults.mode
        switch mode {
        case .queued, .parallel: return (mode, fields.integer("max") ?? 10, rate)
        case .single, .restart: break
        }
        let isClear = written != nil || !fields.isWritten("mode") && !defaults.hasWrongMode
        if isClear, fields.integer("max") != nil, let key = fields.last(of: ["mode", "max"]) {
            checker.error(
                "E210", at: key, "\"max\" is not allowed with mode: \(mode.rawValue)",
                hint: Hint(
                    "write mode: queued or mode: parallel",
                    ["mode: queued", "mode: parallel"].flatMap { entry in
                        fields.node("mode") == nil
                            ? checker.insertion(of: entry, before: key.start)
                            : checker.changes(ofEntry: "mode", in: fields, into: entry)
                    }))
        }
        return (mode, 1, rate)
    }
}

/// Checks that all triggers of a rule fire while a button is held, as `repeat: while: held` requires.
struct HeldTriggers {
    /// The first trigger that is neither `hold` nor `down`. Chords do not count as held: they have several buttons.
    private(set) var other: String?
    /// False if a trigger could not be read.
    var isCertain = true

    var allowsRepeat: Bool { other == nil || !isCertain }

    mutating func add(_ trigger: Trigger) {
        guard other == nil else { return }
        switch trigger.origin {
        case .chord: other = "a chord"
        case .times: other = "at"
        case .states: other = "state"
        case .buttons(_, let events, _):
            for event in events where other == nil {
                switch event {
                case .down, .hold: break
                case .up, .pattern, .holdRelease, .swipe, .rotate, .connected, .disconnected, .batteryLow:
                    other = event.notation
                }
            }
        }
    }
}
