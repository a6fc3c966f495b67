import ButtonModel
import Diagnostics
import Expressions
import JSON
import RuleLoader
import Rules
import YAMLFiles

extension LanguageServer {
    mutating func hover(_ parameters: JSONValue) throws(ResponseError) -> JSONValue {
        let (path, document) = try document(parameters)
        let position = document.lines.sourcePosition(of: try position(parameters), client.encoding)
        let file = SourceFile(name: path, text: document.octets)
        guard let outline = outlines.outline(of: file).outline else { return .null }
        if document.kind == .configuration {
            guard let setting = outline.setting(at: position) else { return .null }
            return hover(setting.key.markdown, setting.start, setting.end, document.lines)
        }
        if let name = outline.name(at: position) {
            return hover(description(of: name, path), name.start, name.end, document.lines)
        }
        guard let (element, start, end) = outline.element(at: position) else { return .null }
        switch element {
        case .key(let key), .value(let key):
            let triggers = outline.clickTriggers.filter { trigger in
                trigger.start <= position && position <= trigger.end || trigger.triggers == start
            }
            let text = ([key.markdown] + waits(of: triggers, path)).joined(separator: "\n\n")
            return hover(text, start, end, document.lines)
        case .expression(let key, let text):
            let type = lastCompleteSet(of: path)?.readable.flatMap { $0.scope.type(of: text) }
            let sentence = type.map { "*Type of this expression:* \($0)" }
            return hover(
                [key.markdown, sentence].compactMap(\.self).joined(separator: "\n\n"), start, end, document.lines)
        case .word(let word):
            return description(of: word).map { hover($0, start, end, document.lines) } ?? .null
        }
    }

    private func hover(
        _ text: String, _ start: SourcePosition, _ end: SourcePosition, _ lines: TextLines
    ) -> JSONValue {
        return [
            "contents": markup(text, isMarkdown: client.hasMarkdownInHovers),
            "range": range(start, end, lines),
        ]
    }

    /// A text in Markdown as the editor wishes to have it.
    func markup(_ text: String, isMarkdown: Bool) -> JSONValue {
        let shown = isMarkdown ? text : text.filter { $0 != "*" && $0 != "`" }
        return ["kind": isMarkdown ? "markdown" : "plaintext", "value": .string(shown)]
    }

    /// How long a click waits at each button of some triggers, in sentences. There are none if the set always had errors.
    private mutating func waits(of triggers: [FileOutline.ClickTrigger], _ path: String) -> [String] {
        guard !triggers.isEmpty, let set = lastValidSet(of: path) else { return [] }
        var names: [String] = []
        for name in triggers.flatMap({ set.buttonNames(of: $0.buttons) }) where !names.contains(name) {
            names.append(name)
        }
        return names.compactMap { name in
            sets.timing(of: name, path).map { "A click of `\(name)` \(LanguageServer.wait($0))." }
        }
    }

    private func description(of word: ExpressionWord) -> String? {
        switch word.kind {
        case .root(let root): "**\(root.rawValue)**: \(root.summary)"
        case .field(let field, let root):
            "**\(root.path(of: field))**: \(field.summary)\n\n*Type:* \(field.type)"
        case .function(let function): "**\(function.usage)**: \(function.description.summary)"
        case .declared: nil
        }
    }

    /// The description of a name, from the last check of its set.
    private mutating func description(of name: NameInFile, _ path: String) -> String {
        let checked = lastCompleteSet(of: path)
        let title = "**\(name.name)**: "
        switch name.kind {
        case .secret: return title + "a secret of secrets.yaml"
        case .result: return title + "the result of a step, saved with `save_as`"
        case .button: return title + (button(name.name, path) ?? "a button or a group")
        case .state:
            guard let state = checked?.readable?.states.first(where: { $0.name == name.name }) else {
                return title + "a state"
            }
            let text = "a state of type \(state.type.rawValue)"
            // A topic that is written in no file is the value of a secret.
            guard topics(path).contains(state.topicName) else { return title + text }
            return title + text + ", from the topic `\(state.topicName)`"
                + (state.pointer.isEmpty ? "" : " at `\(state.pointer)`")
        case .variable:
            guard let variable = checked?.readable?.variables.first(where: { $0.name == name.name }) else {
                return title + "a variable"
            }
            let values = variable.values.compactMap(\.text)
            return title + "a variable of type \(variable.type.rawValue), at first `\(variable.initial.text ?? "")`"
                + (values.isEmpty ? "" : "\n\n*Values:* " + values.map { "`\($0)`" }.joined(separator: ", "))
        case .script:
            guard let script = checked?.readable?.scripts.first(where: { $0.name == name.name }) else {
                return title + "a script"
            }
            let inputs = script.inputs.map { "`\($0.name)` (\($0.type.rawValue))" }
            return title + "a script" + (inputs.isEmpty ? "" : " with the inputs " + inputs.joined(separator: ", "))
        case .input:
            let script = checked?.readable?.scripts.first { $0.name == name.owner }
            guard let input = script?.inputs.first(where: { $0.name == name.name }) else {
                return title + "an input of a script"
            }
            return title + "an input of type \(input.type.rawValue) of the script `\(name.owner ?? "")`"
        case .rule:
            guard let rule = checked?.readable?.rules.first(where: { $0.id == name.name }) else {
                return title + "a rule"
            }
            return title + "a rule" + (rule.alias.map { ": \($0)" } ?? "")
        }
    }

    private mutating func button(_ name: String, _ path: String) -> String? {
        guard let set = lastCompleteSet(of: path)?.readable else { return nil }
        if let members = set.groups[name] {
            return "a group of " + members.map { "`\(set.buttons[$0].name)`" }.joined(separator: ", ")
        }
        guard let button = set.buttons.first(where: { $0.name == name }) else { return nil }
        var text = "a button of model \(button.model.rawValue)"
        guard let timing = sets.timing(of: name, path) else { return text }
        text += "\n\nA click " + LanguageServer.wait(timing) + "."
        return text
    }
}

extension Root {
    /// A field with what is written before it. `NAME` stands for the name of a button or a rule.
    fileprivate func path(of field: FieldDescription) -> String {
        if case .declaredWithFields = shape { "\(rawValue).NAME.\(field.name)" } else { "\(rawValue).\(field.name)" }
    }
}

extension RuleSet {
    /// The names of the set, without those that only some places have, such as inputs and results.
    fileprivate var scope: Scope {
        var scope = Scope()
        scope.absent[.sun] = nil
        for (slot, state) in states.enumerated() {
            let isOptional = state.defaultValue == nil && state.combination != .count
            scope.states[state.name] = .init(slot: slot, type: .init(.scalar(state.type), isOptional: isOptional))
        }
        for (slot, variable) in variables.enumerated() {
            scope.variables[variable.name] = .init(slot: slot, type: .init(variable.type), values: variable.values)
        }
        for (slot, button) in buttons.enumerated() { scope.buttons[button.name] = slot }
        for (slot, rule) in rules.enumerated() { scope.rules[rule.id] = slot }
        return scope
    }
}

extension Scope {
    /// The type of an expression; `nil` if it has mistakes, or a name that this scope does not have.
    fileprivate func type(of text: String) -> ExpressionType? {
        try? Expression(compiling: text, in: self, expecting: .anything).type
    }
}
