import ButtonModel
import Expressions
import Rules
import YAMLFiles

/// The trigger `state`, and the keys beside it.
extension RuleSetReader {
    mutating func readStateTrigger(_ fields: CheckedMapping) -> Trigger? {
        guard let node = fields.node("state") else { return nil }
        var states: [DeclaredState] = []
        let nodes = checker.oneOrMany(node, empty: "an empty list of states never changes")
        for node in nodes {
            guard let name = checker.plainText(node, key: "state", wanted: "the name of a state") else { continue }
            guard let state = ruleSet.states.first(where: { $0.name == name }) else {
                let near = checker.nearest(to: name, among: ruleSet.states.map(\.name))
                checker.error(
                    "E305", at: node, "unknown state \"\(checker.shown(name))\"",
                    hint: hintForComparedState(name, fields) ?? near.map { .meant($0) } ?? "declare it under states:")
                continue
            }
            states.append(state)
        }
        var duration = Duration.zero
        if let node = fields.node("for") {
            guard let read = checker.duration(node, key: "for", .zero...StateTrigger.longestDuration) else {
                return nil
            }
            duration = read
        }
        guard let from = readValues("from", of: states, in: fields), let to = readValues("to", of: states, in: fields),
            !states.isEmpty, states.count == nodes.count
        else { return nil }
        reportSameValue(from, to, in: fields)
        var trigger = StateTrigger(states.map(\.name), from: from.values, to: to.values, for: duration)
        trigger.fromExpressions = from.expressions
        trigger.toExpressions = to.expressions
        return Trigger(origin: .states(trigger), id: fields.string("id"), location: location(of: fields.node))
    }

    /// What to write instead of `states.door` or `door == true`, where the name of a state is wanted; `nil` for another text.
    private func hintForComparedState(_ text: String, _ fields: CheckedMapping) -> Hint? {
        let path = text.hasPrefix("states.") ? text.dropFirst("states.".count) : text[...]
        let name = path.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        guard ruleSet.states.contains(where: { $0.name == name }) else { return nil }
        let rest = path.dropFirst(name.count).drop { $0 == " " }
        if rest.isEmpty { return .write(String(name)) }
        guard rest.hasPrefix("==") else { return nil }
        let value = rest.dropFirst(2).drop { $0 == " " }
        // For a list of states there is no change, because `to` would then apply to all of them.
        var changes: [Hint.Change] = []
        if let node = fields.node("state"), node.scalar != nil, let key = fields.key("state"), checker.reportsExactly {
            let separator = checker.entrySeparator(before: key.start)
            changes = checker.changes(of: key, with: node, into: "state: \(name)\(separator)to: \(value)")
        }
        return Hint("write state: \(name), and to: \(checker.shown(String(value)))", changes)
    }

    /// Reports a trigger whose `from` and `to` allow only one value, because a change has two different ones.
    private mutating func reportSameValue(_ from: Wanted, _ to: Wanted, in fields: CheckedMapping) {
        guard from.expressions.isEmpty, to.expressions.isEmpty, !from.values.isEmpty, !to.values.isEmpty,
            Set(from.values + to.values).count == 1, let node = fields.node("to")
        else { return }
        checker.error(
            "E212", at: node, "no change matches, because \"from\" and \"to\" have the same value",
            hint: "leave out one of them, or give them different values")
    }

    /// The values and expressions of `from` or `to`.
    private typealias Wanted = (values: [Value], expressions: [Expression])

    /// The values of `from` or `to`, which must have the type of the states, and expressions with `old` and `new`; `nil` if one
    /// is faulty.
    private mutating func readValues(_ key: String, of states: [DeclaredState], in fields: CheckedMapping) -> Wanted? {
        guard let node = fields.node(key) else { return fields.isWritten(key) ? nil : ([], []) }
        guard let type = states.first?.type else { return nil }
        if let other = states.first(where: { $0.type != type }) {
            checker.error(
                "E210", at: node,
                "\"\(key)\" needs states of one type, and \(states[0].name) is \(type), but \(other.name) \(other.type)"
            )
            return nil
        }
        let nodes = checker.oneOrMany(node, empty: "an empty list of values never matches")
        let scope = changeScope(type, of: states)
        var wanted: Wanted = ([], [])
        for node in nodes {
            if isChangeExpression(node, type, scope) {
                guard let expression = expression(node, key: key, in: scope, expecting: .condition) else { return nil }
                wanted.expressions.append(expression)
            } else if let hint = hintForExpression(node, key, of: states) ?? hintForComparison(node, key, type) {
                checker.error(
                    "E204", at: node,
                    "\"\(checker.shown(node.scalar ?? ""))\" is neither a value nor a comparison of old and new",
                    hint: hint)
                return nil
            } else if let value = value(node, key: key, type, code: "E204") {
                guard !isNoCount(value, of: states) else {
                    checker.error(
                        "E205", at: node,
                        "\"\(key)\" must be from 0 to \(DeclaredState.maximumMatches) for a count, "
                            + "not \(checker.shown(node.scalar ?? ""))")
                    return nil
                }
                wanted.values.append(value)
            } else {
                return nil
            }
        }
        return nodes.isEmpty ? nil : wanted
    }

    /// True if all states are counts, and no count has this value.
    private func isNoCount(_ value: Value, of states: [DeclaredState]) -> Bool {
        guard case .integer(let count) = value, states.allSatisfy({ $0.combination == .count }) else { return false }
        return !(0...Int64(DeclaredState.maximumMatches)).contains(count)
    }

    /// The scope of expressions in `from` and `to`: `old` and `new`, states and variables. When they are evaluated, the state
    /// has its new value already.
    private func changeScope(_ type: ExpressionType.Scalar, of states: [DeclaredState]) -> Scope {
        var scope = scope
        scope.change = ExpressionType(type)
        scope.changedState = states.first?.name
        for root in Root.allCases where root != .states && root != .variables {
            scope.absent[root] = "from and to compare old and new, states and variables"
        }
        return scope
    }

    /// What to write instead of an expression without `old` and `new`, such as `states.lux > 3`; `nil` if a text does not look
    /// like one, because it names no state and no variable.
    private func hintForExpression(_ node: YAMLNode, _ key: String, of states: [DeclaredState]) -> Hint? {
        guard let text = node.scalar, node.tag == nil else { return nil }
        let words = text.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == ".") }
        let isExpression = words.contains { word in
            word.hasPrefix("states.") && scope.states[String(word.dropFirst("states.".count))] != nil
                || word.hasPrefix("variables.") && scope.variables[String(word.dropFirst("variables.".count))] != nil
        }
        guard isExpression else { return nil }
        for state in states where text.hasPrefix("states.\(state.name) ") {
            let rest = text.dropFirst("states.\(state.name)".count)
            return key == "from"
                ? Hint("write old\(rest): old is the value of \(state.name) before the change", replacing: "old\(rest)")
                : Hint("write new\(rest): new is the value of \(state.name) after the change", replacing: "new\(rest)")
        }
        return "compare old or new here, and write other expressions under conditions:"
    }

    /// What to write instead of a comparison without its left side, such as `> 100`, for a state that is a number.
    private func hintForComparison(_ node: YAMLNode, _ key: String, _ type: ExpressionType.Scalar) -> Hint? {
        guard let text = node.scalar, node.tag == nil, type == .number || type == .integer,
            let sign = ["<=", ">=", "==", "!=", "<", ">"].first(where: text.hasPrefix)
        else { return nil }
        let comparison = "\(key == "from" ? "old" : "new") \(sign) \(text.dropFirst(sign.count).drop { $0 == " " })"
        return Hint("write \(checker.shown(comparison))", replacing: comparison)
    }

    /// True if a text is an expression with `old` or `new`, and not a value.
    ///
    /// For a state of type `string`, any text can be a value, for example `new-york`. The text is an expression if it compiles as a
    /// condition that reads `old` or `new`, or if it compares one of them. So `new > 100` is an expression although it does not
    /// compile for a text: the user has probably forgotten the `type` of the state, and the error says so. `new = night` is an
    /// expression as well, because `==` is meant. A text with a tag such as `!literal` is always a value.
    private func isChangeExpression(_ node: YAMLNode, _ type: ExpressionType.Scalar, _ scope: Scope) -> Bool {
        guard let text = node.scalar, node.tag == nil else { return false }
        let words = text.split { !($0.isLetter || $0.isNumber || $0 == "_") }
        guard ChangeValue.allCases.contains(where: { words.contains(Substring($0.rawValue)) }) else { return false }
        guard type == .string, !ExpressionText.comparesChange(text), !isAssignment(text) else { return true }
        let compiled = try? Expression(compiling: text, in: scope, expecting: .condition)
        return compiled?.reads.contains { if case .change = $0 { true } else { false } } ?? false
    }

    /// True for `new = night`: `old` or `new`, and then a single equals sign.
    private func isAssignment(_ text: String) -> Bool {
        guard let value = ChangeValue.allCases.first(where: { text.hasPrefix($0.rawValue) }) else { return false }
        let rest = text.dropFirst(value.rawValue.count).drop { $0 == " " }
        return rest.first == "=" && rest.dropFirst().first != "="
    }
}
