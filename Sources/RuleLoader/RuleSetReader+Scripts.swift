import Diagnostics
import Expressions
import Rules
import YAMLFiles

extension RuleSetReader {
    /// Reads the steps of all scripts, each after the scripts it calls, when all names are declared. `ruleSet.scripts`
    /// already has their names, inputs and positions.
    mutating func readScriptSteps(_ nodes: [(script: Int, document: Int, node: YAMLNode)]) {
        var calls = [[ScriptCall]](repeating: [], count: ruleSet.scripts.count)
        var unread: [Int: (document: Int, node: YAMLNode)] = [:]
        for (script, document, node) in nodes {
            unread[script] = (document, node)
            if let actions = node["actions"] { collectCalls(in: actions, &calls[script]) }
        }
        let dependencies = DependencyOrder(calls.map { $0.map(\.script) })
        var forbidden: [Int: Set<Int>] = [:]
        for circle in dependencies.cycles {
            guard let called = circle.last, let caller = circle.dropLast().last,
                let call = calls[caller].first(where: { $0.script == called })
            else { continue }
            currentDocument = unread[caller]?.document ?? currentDocument
            report(circle, at: call.node)
            forbidden[caller, default: []].insert(called)
        }
        scriptEffects = Array(repeating: ScriptEffect(), count: ruleSet.scripts.count)
        scriptDelays = Array(repeating: LiteralDelays(of: []), count: ruleSet.scripts.count)
        for script in dependencies.order {
            guard let (document, node) = unread[script] else { continue }
            currentDocument = document
            readSteps(of: script, node, forbidden: forbidden[script] ?? [])
        }
    }

    private struct ScriptCall {
        var script: Int
        var node: YAMLNode
    }

    private mutating func readSteps(of index: Int, _ node: YAMLNode, forbidden: Set<Int>) {
        let name = ruleSet.scripts[index].name
        guard let actions = node["actions"], !actions.isNull else { return }
        var context = StepContext(owner: .script(name), scope: scope, path: "\(name).actions")
        context.forbiddenScripts = forbidden
        context.scope.absent[.inputs] = nil
        for (slot, input) in ruleSet.scripts[index].inputs.enumerated() {
            context.scope.inputs[input.name] = .init(slot: slot, type: ExpressionType(input.type))
        }
        for name in wrongInputs[index] ?? [] { context.scope.markInvalid(name, of: .inputs) }
        ruleSet.scripts[index].steps = readSteps(actions, key: "actions", &context)
        ruleSet.scripts[index].resultCount = context.resultCount
        scriptEffects[index] = effect(of: ruleSet.scripts[index].steps)
        scriptDelays[index] = LiteralDelays(of: ruleSet.scripts[index].steps, scripts: scriptDelays)
    }

    /// Collects the calls of scripts in steps, in the order of the file.
    private func collectCalls(in node: YAMLNode, _ calls: inout [ScriptCall]) {
        switch node.content {
        case .invalid, .scalar: break
        case .sequence(let nodes):
            for node in nodes { collectCalls(in: node, &calls) }
        case .mapping(let entries):
            for entry in entries {
                switch entry.key.text {
                case "script":
                    if let script = entry.value.scalar.flatMap({ scripts[$0] }) {
                        calls.append(.init(script: script, node: entry.value))
                    }
                case "then", "else", "choose", "default", "cycle", "repeat", "steps", "actions":
                    collectCalls(in: entry.value, &calls)
                default: break
                }
            }
        }
    }

    private mutating func report(_ circle: [Int], at node: YAMLNode) {
        let names = circle.map { ruleSet.scripts[$0].name }
        checker.error(
            "E307", at: node,
            names.count == 2
                ? "script \"\(names[0])\" calls itself"
                : "scripts call each other: \(names.joined(separator: " → "))",
            hint: "take one of the calls out; for repeating steps there is repeat:")
    }

    // MARK: Calls

    mutating func readCall(_ node: YAMLNode, _ fields: CheckedMapping, _ context: inout StepContext) -> StepAction? {
        guard let name = checker.plainText(node, key: "script", wanted: "the name of a script") else { return nil }
        guard let index = scripts[name] else {
            reportUnknownScript(name, node, fields.key("script"))
            return nil
        }
        let script = ruleSet.scripts[index]
        let arguments = arguments(fields, of: script, at: node, in: context.scope)
        guard !context.forbiddenScripts.contains(index) else { return nil }
        if context.allowsRepeatWhileHeld == false, scriptEffects[index].repeatsWhileHeld {
            checker.error(
                "E505", at: node,
                "script \"\(name)\" repeats while held, which needs a rule triggered only by hold or down",
                hint: context.otherEvent.map { "this rule also has \($0)" })
        }
        if scriptEffects[index].alwaysStops { context.isStopped = true }
        return arguments.map { .script(index, with: $0) }
    }

    private mutating func reportUnknownScript(_ name: String, _ node: YAMLNode, _ key: YAMLNode.Key?) {
        guard scriptNames.isUnknown(name) else { return }
        let near = checker.nearest(to: name, among: scripts.keys.sorted())
        let isCommand = name.contains { $0 == " " || $0 == "/" || $0 == "\n" }
        checker.error(
            "E306", at: node, "unknown script \"\(checker.shown(name))\"",
            hint: isCommand
                ? Hint("for a command write shell:", checker.changes(of: key, into: "shell"))
                : near.map { .meant($0) }
                    ?? Hint(
                        "scripts are declared under scripts:; for a command write shell:",
                        checker.changes(of: key, into: "shell"))
        )
    }

    /// Reads the arguments of a call, one for each input of the script: `nil` for an input that is left at its default.
    /// Returns `nil` when an argument is faulty or missing.
    private mutating func arguments(
        _ fields: CheckedMapping, of script: Script, at node: YAMLNode, in scope: Scope
    ) -> [ValueTemplate?]? {
        var arguments = [ValueTemplate?](repeating: nil, count: script.inputs.count)
        var given: Set<String> = []
        var isGood = true
        if let with = fields.node("with") {
            guard case .mapping(let entries) = with.content else {
                if !with.isInvalid {
                    checker.noMapping(
                        "E203", at: with, "\"with\" must be a mapping of input to value",
                        hint: "write with: {\(script.inputs.first?.name ?? "name"): value}")
                }
                return nil
            }
            for entry in entries {
                if let meant = checker.reportsMissingSpace(entry) {
                    given.insert(meant)
                    isGood = false
                    continue
                }
                guard let slot = script.inputs.firstIndex(where: { $0.name == entry.key.text }) else {
                    guard scripts[script.name].flatMap({ wrongInputs[$0] })?.contains(entry.key.text) != true else {
                        isGood = false
                        continue
                    }
                    let near = checker.nearest(to: entry.key.text, among: script.inputs.map(\.name))
                    if let near { given.insert(near) }
                    checker.error(
                        "E201", at: entry.key,
                        "script \"\(script.name)\" has no input \"\(checker.shown(entry.key.text))\"",
                        hint: near.map { .meant($0) })
                    isGood = false
                    continue
                }
                given.insert(entry.key.text)
                guard !checker.reportsNull(entry),
                    let value = argument(entry.value, for: script.inputs[slot], in: scope)
                else {
                    isGood = false
                    continue
                }
                arguments[slot] = value
            }
        } else if fields.isWritten("with") {
            return nil
        }
        for input in script.inputs where input.defaultValue == nil && !given.contains(input.name) {
            let with = fields.node("with")
            let range = with.map { checker.firstKey(of: $0) } ?? (node.start, node.end)
            checker.error(
                "E202", from: range.0, to: range.1, alias: with.map(\.alias) ?? node.alias,
                "script \"\(script.name)\" needs the input \"\(input.name)\"",
                hint: "add \(with == nil ? "with: {\(input.name): …}" : "\(input.name): to it")")
            isGood = false
        }
        return isGood ? arguments : nil
    }

    private mutating func argument(
        _ node: YAMLNode, for input: Script.Input, in scope: Scope
    ) -> ValueTemplate? {
        if node.holdsTemplate {
            let type = ExpressionType(input.type)
            return template(node, key: input.name, in: scope, expecting: .type(type)).map(ValueTemplate.template)
        }
        guard let written = value(node, key: input.name) else { return nil }
        guard let value = RuleSetReader.value(written, as: input.type) else {
            checker.error(
                "E404", at: node,
                "input \"\(input.name)\" is \(input.type.withArticle), not \(written.withArticle)",
                hint: RuleSetReader.conversionHint(node, written, to: input.type))
            return nil
        }
        return .value(value)
    }
}
