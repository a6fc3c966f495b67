import Expressions
import Rules
import YAMLFiles

extension RuleSetReader {
    mutating func readVariables(_ node: YAMLNode) {
        forEachDeclared(
            node, key: "variables", \.variableNames, as: "variable", root: .variables, example: "guest: false"
        ) { reader, entry, name in
            guard let variable = reader.readVariable(entry, named: name) else { return false }
            reader.ruleSet.variables.append(variable)
            reader.contents.variables.append((variable.name, entry.value))
            return true
        }
    }

    private mutating func readVariable(_ entry: YAMLNode.Entry, named name: String?) -> DeclaredVariable? {
        let node = entry.value
        let text = entry.key.text
        guard case .mapping = node.content else {
            if case .sequence = node.content {
                checker.error(
                    "E203", at: node, "\"\(checker.shown(text))\" must be a value or a mapping, not a list",
                    hint: "write {initial: …, values: […]}")
                return nil
            }
            guard let initial = value(node, key: text), let name, let type = initial.scalar else { return nil }
            declare(name, type, [], at: entry.key, remedy: remedy(for: initial, node))
            return DeclaredVariable(name: name, type: type, initial: initial, location: location(of: entry.key))
        }
        guard let fields = checker.fields(node, .variable, owner: .init("variable", named: text)) else { return nil }
        var initial: Value?
        var type = fields.string("type").flatMap(ExpressionType.Scalar.init(rawValue:))
        if let node = fields.node("initial") {
            if let type {
                initial = value(node, key: "initial", type)
            } else if !fields.isWritten("type") {
                initial = value(node, key: "initial")
                type = initial?.scalar
            }
        }
        guard let type else { return nil }
        let values = readValues(fields, type)
        let areRangesRight = checkRange(fields, type, initial)
        let reset = fields.node("reset").flatMap { clock($0, key: "reset", in: scope) }
        guard let initial, let values, areRangesRight else { return nil }
        if !values.isEmpty, !values.contains(where: { $0.isEqual(to: initial) }), let node = fields.node("initial") {
            let list = Checker.list(
                values.prefix(20).map { value in
                    let text = value.text ?? ""
                    return checker.confidential.contains(text) ? "***" : checker.shown(text)
                })
            let written = initial.text ?? ""
            checker.error(
                "E204", at: node, "\"initial\" must be \(list), not \"\(checker.shown(written, of: node))\"",
                hint: checker.nearest(to: written, among: values.compactMap(\.text)).map { .meantWord($0) })
            return nil
        }
        guard let name, !fields.isWritten("persist") || fields.boolean("persist") != nil else { return nil }
        let remedy = fields.isWritten("type") ? nil : fields.node("initial").flatMap { self.remedy(for: initial, $0) }
        declare(name, type, values, at: entry.key, remedy: remedy)
        return DeclaredVariable(
            name: name, type: type, initial: initial, values: values, minimum: fields.number("min"),
            maximum: fields.number("max"), isPersisted: fields.boolean("persist") ?? true,
            reset: reset, location: location(of: entry.key))
    }

    private mutating func declare(
        _ name: String, _ type: ExpressionType.Scalar, _ values: [Value], at key: YAMLNode.Key, remedy: Scope.Remedy?
    ) {
        scope.variables[name] = Scope.Declared(
            slot: ruleSet.variables.count, type: ExpressionType(type), values: values, location: text(of: key),
            remedy: remedy)
    }

    /// The remedy for an `initial` such as `"0"`, which would be a number without its quotes.
    private func remedy(for initial: Value, _ node: YAMLNode) -> Scope.Remedy? {
        guard case .string(let text) = initial, node.tag == nil, YAMLNumber.isDecimal(text) else { return nil }
        return .removeQuotes
    }

    /// Reads the values that a variable is limited to: empty when the key is absent, `nil` when it is faulty.
    private mutating func readValues(_ fields: CheckedMapping, _ type: ExpressionType.Scalar) -> [Value]? {
        guard fields.isWritten("values") else { return [] }
        guard let node = fields.node("values") else { return nil }
        guard case .sequence(let nodes) = node.content else {
            if !node.isInvalid {
                checker.error(
                    "E203", at: node, "\"values\" must be a list",
                    hint: Hint(
                        checker.written(node).map { "write [\(checker.shown($0))]" } ?? "write [a, b]",
                        node.scalar == nil ? [] : checker.wrapping(node, in: "[", "]")))
            }
            return nil
        }
        let entries = checker.oneOrMany(node, empty: "an empty list of values allows none")
        let values = entries.compactMap { value($0, key: "values", type) }
        return values.count == nodes.count && !nodes.isEmpty ? values : nil
    }

    /// Checks `min` and `max`, and that `initial` lies between them. Returns false after a report.
    private mutating func checkRange(_ fields: CheckedMapping, _ type: ExpressionType.Scalar, _ initial: Value?) -> Bool
    {
        let written = ["min", "max"].compactMap { fields.key($0) }
        guard !written.isEmpty else { return true }
        guard type == .integer || type == .number else {
            let isSpeltAsText = if case .string(let text)? = initial { YAMLNumber.isDecimal(text) } else { false }
            for key in written {
                checker.error(
                    "E210", at: key, "\"\(key.text)\" is allowed only with numbers; this is a \(type.rawValue)",
                    hint: isSpeltAsText
                        ? Hint(
                            "remove the quotes from initial",
                            checker.changes(
                                ofEntry: "initial", in: fields,
                                into: "initial: \(fields.node("initial")?.scalar ?? "")")) : nil)
            }
            return false
        }
        let minimum = fields.number("min")
        let maximum = fields.number("max")
        guard written.allSatisfy({ fields.number($0.text) != nil }) else { return false }
        if let minimum, let maximum, minimum > maximum, let key = fields.last(of: ["min", "max"]) {
            checker.error("E205", at: key, "\"max\" is less than \"min\"")
            return false
        }
        guard let initial, let number = initial.double, let node = fields.node("initial"),
            number < minimum ?? number || number > maximum ?? number
        else { return true }
        let low = minimum.flatMap { Value.number($0).text }
        let high = maximum.flatMap { Value.number($0).text }
        let bounds =
            switch (low, high) {
            case (let low?, let high?): "between \(low) and \(high)"
            case (let low?, nil): "at least \(low)"
            case (nil, let high): "at most \(high ?? "")"
            }
        checker.error("E205", at: node, "\"initial\" must be \(bounds), not \(initial.text ?? "")")
        return false
    }
}

extension Value {
    /// The type of a variable with this value; `nil` when no variable can hold it.
    fileprivate var scalar: ExpressionType.Scalar? {
        switch self {
        case .boolean: .boolean
        case .integer: .integer
        case .number: .number
        case .string: .string
        case .duration: .duration
        case .unknown, .list: nil
        }
    }

    fileprivate var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .unknown, .boolean, .string, .duration, .list: nil
        }
    }
}
