extension Compiler {
    /// Checks a name with its fields, such as `trigger.button`, `states.lux` or `buttons.kitchen.held`, and reports
    /// unknown names.
    mutating func name(_ syntax: Syntax) -> Checked? {
        var path: [(name: String, range: Range<Int>)] = []
        var base = syntax
        while case .field(let inner, let name, let range) = base {
            path.append((name, range))
            base = inner
        }
        path.reverse()
        guard case .name(let rootName, let rootRange) = base else {
            if let field = path.first, let checked = check(base) {
                report("E402", at: field.range, "\(checked.type) has no field \"\(field.name)\"")
            }
            return nil
        }
        if let type = scope.change, let value = ChangeValue(rawValue: rootName) {
            if let field = path.first {
                report(
                    "E402", at: field.range, "\"\(rootName)\" is a value and has no field \"\(field.name)\"")
                return nil
            }
            reads.insert(.change(value))
            return checked(.read(.change(value)), type, syntax)
        }
        guard let root = Root(rawValue: rootName) else {
            unknownRoot(rootName, rootRange, isAlone: path.isEmpty)
            return nil
        }
        if let reason = scope.absent[root] {
            if root == .sun {
                report("E512", at: rootRange, "sun \(reason)")
            } else {
                report("E402", at: rootRange, "there is no \"\(rootName)\" here", hint: Hint(reason))
            }
            return nil
        }
        guard let first = path.first else {
            report(
                "E402", at: rootRange, "\"\(rootName)\" is not a value",
                hint: .example("write ", scope.example(of: root)))
            return nil
        }
        guard let (slot, type, length) = resolve(root, first, path.dropFirst().first, rootRange) else { return nil }
        if path.count > length {
            let known = path[..<length].map { ".\($0.name)" }.joined()
            report(
                "E402", at: path[length].range,
                "\(rootName)\(known) is a value and has no field \"\(path[length].name)\"")
            return nil
        }
        reads.insert(slot)
        return checked(.read(slot), type, syntax)
    }

    private typealias Part = (name: String, range: Range<Int>)

    /// The slot that a name refers to, its type, and the number of path components that it uses after the root.
    private mutating func resolve(
        _ root: Root, _ first: Part, _ second: Part?, _ rootRange: Range<Int>
    ) -> (ValueReference, ExpressionType, Int)? {
        switch root {
        case .trigger: return field(first, of: "trigger", TriggerField.self) { .trigger($0) }
        case .error: return field(first, of: "error", ErrorField.self) { .error($0) }
        case .now: return field(first, of: "now", NowField.self) { .now($0) }
        case .sun: return field(first, of: "sun", SunField.self) { .sun($0) }
        case .broker: return field(first, of: "broker", BrokerField.self) { .broker($0) }
        case .repeat: return field(first, of: "repeat", RepeatField.self) { .repeat($0) }
        case .states:
            guard let declared = scope.states[first.name] else { return unknown(first, of: root) }
            return (.state(declared.slot), declared.type, 1)
        case .variables:
            guard let declared = scope.variables[first.name] else { return unknown(first, of: root) }
            return (.variable(declared.slot), declared.type, 1)
        case .inputs:
            guard let declared = scope.inputs[first.name] else { return unknown(first, of: root) }
            return (.input(declared.slot), declared.type, 1)
        case .buttons:
            guard let index = scope.buttons[first.name] else { return unknown(first, of: root) }
            return field(second, after: first, root, rootRange, ButtonField.self) { .button(index, $0) }
        case .rules:
            guard let index = scope.rules[first.name] else { return unknown(first, of: root) }
            return field(second, after: first, root, rootRange, RuleField.self) { .rule(index, $0) }
        case .results:
            switch scope.results[first.name] {
            case .always(let index):
                guard !reportsOtherStep(second, of: first, isAwaited: false) else { return nil }
                return field(second, after: first, root, rootRange, ResultField.self) { .result(index, $0) }
            case .awaited(let index):
                guard !reportsOtherStep(second, of: first, isAwaited: true) else { return nil }
                return field(second, after: first, root, rootRange, ResultField.self) { .result(index, $0) }
            case .notOnEveryPath:
                report("E402", at: first.range, "not every path to this step saves \"\(first.name)\"")
                return nil
            case nil: return unknown(first, of: root)
            }
        }
    }

    /// Reports a field of a result that belongs to steps of another kind, and returns whether it is one.
    private mutating func reportsOtherStep(_ part: Part?, of result: Part, isAwaited: Bool) -> Bool {
        guard let part, let field = ResultField(rawValue: part.name), field != .duration, field.isOfWaitFor != isAwaited
        else { return false }
        report(
            "E402", at: part.range, "results.\(result.name) has no field \"\(part.name)\"",
            hint: field.isOfWaitFor
                ? "only wait_for has it" : "wait_for does not have it; read happened, event, button or id")
        return true
    }

    private mutating func field<Field: NamedField>(
        _ part: Part, of owner: String, _: Field.Type, length: Int = 1, _ slot: (Field) -> ValueReference
    ) -> (ValueReference, ExpressionType, Int)? {
        guard let field = Field(rawValue: part.name) else {
            let meant = owner == Root.trigger.rawValue ? ForeignNames.fieldOfTrigger[part.name] : nil
            report(
                "E402", at: part.range, "\(owner) has no field \"\(part.name)\"",
                hint: meant.map { Hint("write trigger.\($0)", replacing: $0) }
                    ?? Suggestions.nearest(to: part.name, among: Field.allCases.map(\.rawValue)).map { .meant($0) })
            return nil
        }
        return (slot(field), field.row.type, length)
    }

    private mutating func field<Field: NamedField>(
        _ part: Part?, after declared: Part, _ root: Root, _ rootRange: Range<Int>, _ fields: Field.Type,
        _ slot: (Field) -> ValueReference
    ) -> (ValueReference, ExpressionType, Int)? {
        let owner = "\(root.rawValue).\(declared.name)"
        guard let part else {
            let range = rootRange.lowerBound..<declared.range.upperBound
            let example = Field.allCases.first.map { Hint.write("\(owner).\($0.rawValue)") }
            report("E402", at: range, "\"\(owner)\" is not a value", hint: example)
            return nil
        }
        return field(part, of: owner, fields, length: 2, slot)
    }

    private mutating func unknown(_ part: Part, of root: Root) -> (ValueReference, ExpressionType, Int)? {
        guard !scope.mayBeInvalid(part.name, of: root) else { return nil }
        let hint = Suggestions.nearest(to: part.name, among: scope.names(of: root)).map { Hint.meant($0) }
        switch root {
        case .results:
            report(
                "E402", at: part.range, "no step before this one saves \"\(part.name)\"",
                hint: hint)
        case .inputs:
            report("E402", at: part.range, "this script has no input \"\(part.name)\"", hint: hint)
        case .trigger, .states, .variables, .buttons, .rules, .error, .now, .sun, .broker, .repeat:
            report(
                root.codeOfUnknownName, at: part.range, "unknown \(root.noun) \"\(part.name)\"", hint: hint)
        }
        return nil
    }

    /// Reports a name that is not a root: a misspelt root, a declared name without its root, a name for a value in
    /// another language, or text without quotes.
    private mutating func unknownRoot(_ name: String, _ range: Range<Int>, isAlone: Bool) {
        let message = "unknown name \(name)"
        if let hint = ForeignNames.hint(forName: name) {
            return report("E402", at: range, message, hint: hint)
        }
        let root = Suggestions.nearest(to: name, among: Root.allCases.map(\.rawValue))
        guard isAlone else {
            return report("E402", at: range, message, hint: root.map { .meant($0) })
        }
        if let function = Function(rawValue: name) {
            return report("E402", at: range, "\(name) is a function", hint: "write \(function.usage)")
        }
        for root in [Root.variables, .states, .inputs] where scope.names(of: root).contains(name) {
            return report(
                "E402", at: range, message,
                hint: Hint(
                    "write \(root.rawValue).\(name), or '\(name)' for text",
                    replacing: "\(root.rawValue).\(name)", "'\(name)'"))
        }
        if let value = ChangeValue(rawValue: name), scope.absent[.trigger] == nil {
            let written = "\(Root.trigger.rawValue).\(value.rawValue)"
            return report(
                "E402", at: range, message,
                hint: Hint("write \(written), or '\(name)' for text", replacing: written, "'\(name)'"))
        }
        report("E402", at: range, message, hint: Hint("write '\(name)' for text", replacing: "'\(name)'"))
    }
}
