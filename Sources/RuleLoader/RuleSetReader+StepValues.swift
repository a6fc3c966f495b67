import Expressions
import Rules
import YAMLFiles

/// Steps that wait (`delay`, `wait`) and steps that change variables or rules (`set`, `enable`, `disable`).
extension RuleSetReader {
    // MARK: delay and wait

    mutating func readDelay(_ node: YAMLNode, in scope: Scope) -> StepAction? {
        guard node.holdsTemplate else {
            guard checker.duration(node, key: "delay", .zero...RuleSetReader.maximumDelay) != nil else { return nil }
            return .delay(Template(literal: node.scalar ?? ""))
        }
        guard let template = template(node, key: "delay", in: scope, expecting: .anything) else { return nil }
        // A template with text around an expression, or with an expression of type string, is parsed as a duration at
        // run time.
        if let type = template.onlyExpression?.type, type.kind != .scalar(.duration), type.kind != .scalar(.string) {
            _ = self.template(node, key: "delay", in: scope, expecting: .type(.duration))
            return nil
        }
        return .delay(template)
    }

    /// Reads the value of `wait`, without the `else` beside it.
    mutating func readUntil(
        _ node: YAMLNode, _ key: YAMLNode.Key?, hasTimeoutBeside: Bool, in scope: Scope
    ) -> (until: Expression, timeout: Duration)? {
        if case .scalar(let text, _) = node.content {
            checker.noMapping(
                "E203", at: node, "\"wait\" must be a mapping, not \"\(checker.shown(text))\"",
                hint: text.first?.isNumber == true
                    ? Hint(
                        "write delay: \(checker.shown(text))",
                        checker.changes(of: key, into: "delay"))
                    : "write wait: {until: …, timeout: 10s}")
            return nil
        }
        guard let fields = checker.fields(node, hasTimeoutBeside ? .waitWithoutTimeout : .wait, owner: "\"wait\"")
        else { return nil }
        let until = fields.node("until").flatMap { expression($0, key: "until", in: scope, expecting: .condition) }
        guard let until, let timeout = fields.duration("timeout") else { return nil }
        return (until, timeout)
    }

    // MARK: set, enable and disable

    mutating func readSet(_ node: YAMLNode, in scope: Scope) -> StepAction? {
        guard case .mapping(let entries) = node.content else {
            if !node.isInvalid {
                checker.noMapping(
                    "E203", at: node, "\"set\" must be a mapping of variable to value", hint: "write set: {name: value}"
                )
            }
            return nil
        }
        guard !entries.isEmpty else {
            checker.error(
                "E202", from: node.start, to: node.start.advanced(by: 1), alias: node.alias,
                "\"set\" has no variable", hint: "write set: {name: value}")
            return nil
        }
        var assignments: [Assignment] = []
        for entry in entries {
            guard checker.reportsMissingSpace(entry) == nil, let declared = variable(entry.key, in: scope),
                !checker.reportsNull(entry)
            else { continue }
            let value = assigned(
                entry.value, key: entry.key.text, declared.type, in: scope,
                values: ruleSet.variables[declared.slot].values)
            if let value { assignments.append(Assignment(variable: declared.slot, value: value)) }
        }
        return assignments.count == entries.count ? .set(assignments) : nil
    }

    private mutating func variable(_ key: YAMLNode.Key, in scope: Scope) -> Scope.Declared? {
        if let declared = scope.variables[key.text] { return declared }
        guard !scope.mayBeInvalid(key.text, of: .variables) else { return nil }
        let near = checker.nearest(to: key.text, among: scope.names(of: .variables))
        checker.error(
            "E304", at: key, "unknown variable \"\(checker.shown(key.text))\"",
            hint: near.map { .meant($0) } ?? "variables are declared under variables:")
        return nil
    }

    /// Reads a literal or a template as the value of a variable.
    private mutating func assigned(
        _ node: YAMLNode, key: String, _ type: ExpressionType, in scope: Scope, values: [Value]
    ) -> ValueTemplate? {
        if node.holdsTemplate {
            return template(node, key: key, in: scope, expecting: .type(type)).map(ValueTemplate.template)
        }
        guard case .scalar(let wanted) = type.kind, let written = value(node, key: key) else { return nil }
        guard let value = RuleSetReader.value(written, as: wanted) else {
            checker.error(
                "E203", at: node, "\"\(key)\" is \(wanted.withArticle), not \(written.withArticle)",
                hint: RuleSetReader.conversionHint(node, written, to: wanted))
            return nil
        }
        return isAmong(values, value, node, key: key) ? .value(value) : nil
    }

    /// Checks that a value is one of the permitted values of a variable, and reports E204 if not.
    mutating func isAmong(_ values: [Value], _ value: Value, _ node: YAMLNode, key: String) -> Bool {
        guard !values.isEmpty, !values.contains(where: value.isEqual) else { return true }
        let words = values.compactMap(\.text)
        let written = node.scalar ?? ""
        checker.error(
            "E204", at: node, "\"\(key)\" must be \(Checker.list(words)), not \"\(checker.shown(written))\"",
            hint: checker.nearest(to: written, among: words).map { .meantWord($0) })
        return false
    }

    /// How to write a literal value as one of the wanted type; `nil` for a value that a tag gives, such as `!secret`, because what
    /// is written stands for another text.
    static func conversionHint(
        _ node: YAMLNode, _ written: Value, to wanted: ExpressionType.Scalar
    ) -> Hint? {
        guard node.tag == nil else { return nil }
        return switch (written, wanted) {
        case (.string(let text), .integer) where YAMLNumber.isInteger(text),
            (.string(let text), .number) where YAMLNumber.isDecimal(text),
            (.string(let text), .boolean) where text == "true" || text == "false":
            Hint("remove the quotes", replacing: text)
        case (.boolean, .string), (.integer, .string), (.number, .string):
            Hint("put it in quotes: \"\(node.scalar ?? "")\"", replacing: "\"\(node.scalar ?? "")\"")
        case (.unknown, _), (.boolean, _), (.integer, _), (.number, _), (.string, _), (.duration, _), (.list, _): nil
        }
    }

    /// Converts a value to a type; an integer becomes a number. `nil` when the value is of another type.
    static func value(_ value: Value, as type: ExpressionType.Scalar) -> Value? {
        switch (value, type) {
        case (.boolean, .boolean), (.integer, .integer), (.number, .number), (.string, .string): value
        case (.integer(let integer), .number): .number(Double(integer))
        case (.unknown, _), (.boolean, _), (.integer, _), (.number, _), (.string, _), (.duration, _), (.list, _): nil
        }
    }

    /// Reads one or many ids of rules, as indices in `RuleSet.rules`.
    mutating func readRules(_ node: YAMLNode, key: String) -> [Int]? {
        let nodes = checker.oneOrMany(node, empty: "an empty list of rules changes nothing")
        var rules: [Int] = []
        for node in nodes {
            guard let id = checker.plainText(node, key: key, wanted: "the id of a rule") else { continue }
            if let rule = scope.rules[id] {
                rules.append(rule)
            } else if !scope.mayBeInvalid(id, of: .rules) {
                let near = checker.nearest(to: id, among: scope.names(of: .rules))
                checker.error(
                    "E311", at: node, "unknown rule \"\(checker.shown(id))\"",
                    hint: near.map { .meant($0) })
            }
        }
        return rules.count == nodes.count && !rules.isEmpty ? rules : nil
    }
}

extension ExpressionType.Scalar {
    /// The type as messages name it: `a boolean`, `an integer`, `text`.
    var withArticle: String {
        switch self {
        case .boolean, .number, .duration: "a \(rawValue)"
        case .integer: "an integer"
        case .string: "text"
        }
    }
}

extension Value {
    /// The type of a literal as messages name it.
    var withArticle: String {
        switch self {
        case .boolean: "a boolean"
        case .integer, .number: "a number"
        case .string: "text"
        case .duration: "a duration"
        case .list: "a list"
        case .unknown: "null"
        }
    }
}
